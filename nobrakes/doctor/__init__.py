"""What is broken, and what mends it."""
