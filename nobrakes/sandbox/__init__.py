"""How a workspace is closed off from the machine. One file per way: `wrap` an argv, `describe` the level."""
