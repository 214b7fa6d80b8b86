"""Projects: their names, their documents, and where coding tools may run. Pure."""
