"""Notifiers: how people are told. One file per way, one dict that lists them (registry)."""
