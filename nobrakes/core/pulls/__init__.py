"""Pull requests: what is known of one, what follows from what its code host says, and its text. Pure."""
