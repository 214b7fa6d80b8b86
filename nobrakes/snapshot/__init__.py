"""The tracked snapshot of the graph, and the database made again from it."""
