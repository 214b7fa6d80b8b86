"""Commands that were given under a key, and what each hands out."""
