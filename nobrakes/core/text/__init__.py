"""Untrusted text made safe to show, and secrets blacked out of it."""
