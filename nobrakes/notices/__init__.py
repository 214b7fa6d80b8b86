"""Notices: which people get, in which words, and through which channel."""
