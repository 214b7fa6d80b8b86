"""The review: its journal, its state machine, what a validation means for it, and the queue in which reviews meet."""
