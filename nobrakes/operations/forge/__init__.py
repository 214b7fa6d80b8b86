"""Planning with a person: the Shaper's conversation, its proposals, and their approval."""
