"""Plan files: read from any form, compared with the graph, applied."""
