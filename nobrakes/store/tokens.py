"""Tokens: "<attempt>.<fence>.<secret>" of an attempt, "s<turn>.<session>.<secret>" of a session's turn.

Imports nothing, since hot commands read them.
"""


def attempt_of(token: str) -> int | None:
    """The attempt that a token names, whether or not it is genuine."""
    first = token.split(".", 1)[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 19 else None


def turn_of(token: str) -> int | None:
    """The turn that a token names, whether or not it is genuine."""
    return attempt_of(token[1:]) if token[:1] == "s" else None
