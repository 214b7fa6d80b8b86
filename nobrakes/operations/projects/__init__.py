"""Projects: a folder of repositories that one makes, confirms for a session, and looks at."""
