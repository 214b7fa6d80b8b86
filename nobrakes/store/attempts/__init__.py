"""Claims of beads, and the lock of an agent's session."""
