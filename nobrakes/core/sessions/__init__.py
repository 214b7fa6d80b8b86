"""Conversations with agents: what they are, what their next step is, what they are told."""
