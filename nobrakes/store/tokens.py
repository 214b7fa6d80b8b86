"""Tokens: "<attempt>.<fence>.<secret>". Imports nothing, since hot commands read them."""


def attempt_of(token: str) -> int | None:
    """The attempt that a token names, whether or not it is genuine."""
    first = token.split(".", 1)[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 19 else None
