"""Features, done: what the Forge decides."""
