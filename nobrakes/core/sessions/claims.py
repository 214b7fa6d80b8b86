"""What the agent of a session claims of its progress, beside the commits that are there."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..beads.events import Event
from ..beads.progress import doubt
from ..text.cleaning import clean
from .session import Session

MOST_TEXT = 200
MOST_CLAIMS = 1000
"""Claims of all agents among which that of a session is looked for."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Where the agent says it is: `step` of `of` steps (None: it does not say).

    `doubt`: what speaks against it, from the commits; empty: nothing does.
    """

    text: str
    step: int | None
    of: int | None
    doubt: str


def claim_of(said: Iterable[Event], one: Session, commits: int | None) -> Claim | None:
    """The session's latest claim of those that agents `said`, newest first, against its commits (None: unknown)."""
    name = f"Session {one.id}"
    found = next((e for e in said if e.actor == name and e.attempt is None and e.at >= one.created_at), None)
    if found is None:
        return None
    told = found.data.get("data") or {}
    step, of = (value if isinstance(value := told.get(key), int) else None for key in ("step", "of"))
    return Claim(clean(str(found.data.get("text", "")))[:MOST_TEXT], step, of, doubt(step, commits))
