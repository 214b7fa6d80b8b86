"""The pages, a module each: ROUTES, and functions that answer them."""
