"""Runs of the contract's checks: planned, started in a child, and judged."""
