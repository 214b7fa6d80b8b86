"""What every server here has in common: where it listens, and what one connection may take."""
