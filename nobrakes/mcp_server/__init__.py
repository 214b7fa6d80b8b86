"""The MCP server: the operations of an agent, and of a person's own session, over stdin and stdout."""
