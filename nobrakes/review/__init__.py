"""The Reviewer: its state machine, the merge queue, evidence, flakes, and main's own checks."""
