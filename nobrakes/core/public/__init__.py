"""The language that every surface speaks: events with names and payloads, their schema, who acts. Pure values."""
