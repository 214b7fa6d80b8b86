"""How a repository is set up, and how its settings are changed."""
