"""Projects of a workspace, their documents and their sprints."""
