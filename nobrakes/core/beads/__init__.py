"""A bead's life: what it is, what moves it, its attempts, and how they end.."""
