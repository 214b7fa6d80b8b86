"""What people may ask of nobrakes: the command line, the web and MCP share these functions."""
