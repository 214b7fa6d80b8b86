"""The graph to look at: what is running and next, the epics, every bead in its lane, and what a change would do."""
