"""The settings of a repository: config.toml read by pydantic into frozen values."""
