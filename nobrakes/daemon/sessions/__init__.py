"""Turns of sessions from their launch to their end."""
