"""The daemon's work on features in each turn."""
