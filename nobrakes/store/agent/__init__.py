"""What agents read and write of their own bead."""
