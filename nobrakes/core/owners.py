"""Whom an agent's run serves: a bead, by an attempt; a session, by a turn; or the machine itself.

1. An owner is a word: `bead:<id>` or `session:<number>`. Breakers are kept by owner and provider, and a session says
   by it whose conversation it is; `person:<name>` owns a session that a person began.
2. `part:<name>` is a part of the daemon that works for the repository as a whole.
"""

BEAD, SESSION, PERSON, PART = "bead", "session", "person", "part"


def of_bead(bead: str) -> str:
    """The owner that is this bead."""
    return f"{BEAD}:{bead}"


def of_session(session: int) -> str:
    """The owner that is this session."""
    return f"{SESSION}:{session}"


def of_person(name: str) -> str:
    """The owner that is this person."""
    return f"{PERSON}:{name}"


def of_part(name: str) -> str:
    """The owner that is this part of the daemon, as people are told of it."""
    return f"{PART}:{name}"


def bead_of(owner: str) -> str | None:
    """The bead that is this owner; None: it is none."""
    kind, _, name = owner.partition(":")
    return name if kind == BEAD else None


def called(owner: str) -> str:
    """What people call this owner."""
    kind, _, name = owner.partition(":")
    return f"session {name}" if kind == SESSION else name


def is_part(owner: str) -> bool:
    """Whether it is a part of the daemon."""
    return owner.startswith(f"{PART}:")
