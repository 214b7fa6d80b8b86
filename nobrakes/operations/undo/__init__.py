"""Taking back what a person did, merges included."""
