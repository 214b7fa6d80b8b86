"""The host door: processes, clock, locks, file watching, and the terminal of this machine."""
