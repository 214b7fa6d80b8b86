"""A project's sprints, done: core.projects.sprints decides."""
