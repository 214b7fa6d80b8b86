"""Who may change what, and which files decide whether work is good."""
