"""Runs: processes that outlive the daemon, what they print, and how they ended."""
