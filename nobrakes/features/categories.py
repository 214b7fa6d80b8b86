"""What findings about a plan may be about. It imports nothing: agents' own command line knows it."""

CATEGORIES = ("code_quality", "architecture", "security", "performance")
