"""The graph of beads: what waits for what, what is ready, and how urgent it is."""
