"""Sessions in the store: conversations, their turns, and what is said in them."""
