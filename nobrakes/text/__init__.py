"""Untrusted text made safe to show, and text laid out for people."""
