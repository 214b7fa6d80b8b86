"""The loop: look, decide, do."""
