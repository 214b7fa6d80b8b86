"""What Shapers and the reviewers of their plans say and are told, and what is done in their name."""
