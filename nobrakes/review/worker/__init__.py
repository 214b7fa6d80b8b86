"""What the daemon does for a review, step by step."""
