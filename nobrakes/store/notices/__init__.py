"""The outbox: notices, and their deliveries through channels."""
