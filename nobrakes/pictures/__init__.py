"""The graph as pictures: laid out, and drawn in four forms."""
