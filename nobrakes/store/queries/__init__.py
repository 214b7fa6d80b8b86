"""What people and reports ask rarely, in SQLModel's terms. Importing it takes half a second, so nothing else does."""
