"""Decides. Pure functions over frozen values: no I/O, no clock, no randomness, standard library only."""
