"""Sessions of agents: reading the output files that they leave. The file itself is the record; nobody copies it."""
