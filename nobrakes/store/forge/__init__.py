"""Features of the Forge, their plans, reviews and items, on the database."""
