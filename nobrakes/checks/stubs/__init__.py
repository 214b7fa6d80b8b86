"""Cheats that new tests have to catch."""
