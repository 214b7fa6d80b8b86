"""A client of the Agent Client Protocol, as a child process like any agent CLI: it starts the agent it speaks to."""
