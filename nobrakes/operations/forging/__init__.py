"""Features: from an idea to an approved plan, and to main; what people and Shapers do with them."""
