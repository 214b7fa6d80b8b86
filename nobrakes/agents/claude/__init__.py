"""Claude Code: how it is started, what its lines say, how its end is judged."""
