"""What people ask of decisions: the desk, one decision with its evidence, and what stands in the way."""
