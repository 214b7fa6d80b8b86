"""What an agent may ask and say, and how that reaches the store."""
