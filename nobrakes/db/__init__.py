"""The database: one SQLite file, its schema, and how it is opened."""
