"""What people ask of the daemon: start, stop, pause, limits, and what is going on."""
