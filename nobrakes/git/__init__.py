"""The repository, and the only place that runs git."""
