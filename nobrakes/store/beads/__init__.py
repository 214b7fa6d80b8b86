"""Beads and their dependencies, and the columns that are kept in step with them."""
