"""What people and the Shaper ask of features."""
