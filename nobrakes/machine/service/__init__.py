"""Repositories registered, limits shared, and how both are shown."""
