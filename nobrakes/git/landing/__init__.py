"""Moving main, here or at a remote, and bringing each checkout of main along."""
