"""Plan files: read, judged, compared with the graph, applied."""
