"""The names of chat agents' sessions: a word of the agent's own, and by HTTP its client's name before that.

1. Two clients that choose the same word have two sessions. No client's name has a ':', and no word of a session that
   has no client has what joins the two: so a name is of one client and one word alone.
"""

JOINED = ": "


def named(client: str, word: str) -> str:
    """The name of the session that this client (empty: none) calls by this word."""
    return f"{client}{JOINED}{word}" if client else word


def word_of(name: str) -> str:
    """The word by which its agent calls the session of this name."""
    return name.partition(JOINED)[2] or name
