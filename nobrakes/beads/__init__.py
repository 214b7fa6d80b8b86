"""Beads: their records, their life, what waits for what, and who works on them."""
