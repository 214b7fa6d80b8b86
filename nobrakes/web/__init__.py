"""The pages: a process of its own over operations, for a browser or a phone."""
