"""What the daemon does for features, turn by turn."""
