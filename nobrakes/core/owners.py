"""Whom an agent's run serves: a bead, by an attempt; a session, by a turn; or the machine itself.

1. An owner is a word: `bead:<id>` or `session:<number>`. Breakers are kept by owner and provider, and a session says
   by it whose conversation it is; `person:<name>` owns a session that a person began.
"""

BEAD, SESSION, PERSON = "bead", "session", "person"


def of_bead(bead: str) -> str:
    """The owner that is this bead."""
    return f"{BEAD}:{bead}"


def of_session(session: int) -> str:
    """The owner that is this session."""
    return f"{SESSION}:{session}"


def of_person(name: str) -> str:
    """The owner that is this person."""
    return f"{PERSON}:{name}"


def bead_of(owner: str) -> str | None:
    """The bead that is this owner; None: it is none."""
    kind, _, name = owner.partition(":")
    return name if kind == BEAD else None
