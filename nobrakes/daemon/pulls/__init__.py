"""Landing by pull requests: what is asked of the code host, beside the loop, and what a review makes of it."""
