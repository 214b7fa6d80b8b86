"""The loop: look, decide, do. Deciding is core's; here it is done through the doors."""
