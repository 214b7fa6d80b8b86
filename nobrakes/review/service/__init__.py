"""What people ask of reviews: evidence, merges, differences, and taking a merge back."""
