"""What happened: the kinds of events, what other programs read of them, and the log."""
