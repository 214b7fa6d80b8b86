"""The review: its journal, its state machine, what a validation means for it, and which bead is reviewed next."""
