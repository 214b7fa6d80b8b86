"""What agents write at their door, and what they cost."""
