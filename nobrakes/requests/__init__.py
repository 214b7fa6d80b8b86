"""Pull requests: what is known of one, and what a code host says of it."""
