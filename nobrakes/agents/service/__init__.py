"""What agents may ask: one table, its client, and both sides of the channel."""
