"""Setting a repository up: what kind of project it is, and its first config.toml."""
