"""Questions about the whole graph, and pictures of it. networkx is imported where it is used."""
