"""Role, bead and history made into a prompt."""
