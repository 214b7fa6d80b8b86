"""What the daemon does about pull requests."""
