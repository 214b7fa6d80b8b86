"""Channels: one function each."""
