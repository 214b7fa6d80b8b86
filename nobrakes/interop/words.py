"""What Beads calls things, and what they are here. One table for each kind of word.

1. A word that is not in its table is reported by the reader and never guessed.
2. `OPEN_WORDS` say that work is wanted; whether it goes live is decided by whoever reads the records.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from ..core.beads.bead import Bead, BeadType, DependencyType, Status

CLOSED_WORDS = frozenset({"closed", "done", "completed", "resolved"})
OPEN_WORDS = frozenset({"open", "in_progress", "hooked", "review", "in_review"})
SET_ASIDE_WORDS = frozenset({"blocked", "deferred", "pinned"})
"""Somebody set these aside by hand: they come in held, with the word as the reason."""
TOMBSTONE = "tombstone"

DEPENDENCY_WORDS: Mapping[str, DependencyType] = {
    **{kind.value: kind for kind in DependencyType},
    "blocked-by": DependencyType.BLOCKS,
    "conditional-blocks": DependencyType.BLOCKS,
    "waits-for": DependencyType.BLOCKS,
    "parent_child": DependencyType.PARENT_CHILD,
    "discovered_from": DependencyType.DISCOVERED_FROM,
    "relates-to": DependencyType.RELATED,
    "relates_to": DependencyType.RELATED,
}
EXACT_DEPENDENCY_WORDS = frozenset(kind.value for kind in DependencyType) | {"relates-to"}

TYPE_WORDS: Mapping[BeadType, str] = {
    BeadType.FIX: "bug",
    BeadType.DOCS: "task",
    BeadType.TEST: "task",
    BeadType.REFACTOR: "task",
    BeadType.REPAIR: "bug",
}
"""Types that Beads has no word for, or another one; the others are the same."""

STATUS_WORDS: Mapping[Status, str] = {
    Status.DRAFT: "deferred",
    Status.OPEN: "open",
    Status.NEEDS_TESTS: "open",
    Status.WRITING_TESTS: "in_progress",
    Status.NEEDS_DOER: "open",
    Status.DOING: "in_progress",
    Status.NEEDS_REVIEW: "in_progress",
    Status.REVIEWING: "in_progress",
    Status.LANDED: "in_progress",
    Status.DONE: "closed",
    Status.ESCALATED: "blocked",
    Status.CANCELLED: "closed",
}
"""Drafts go out as deferred, so that no other tool takes up what nobody approved."""


def status_word(bead: Bead) -> str:
    """The bead's status in Beads' words."""
    word = STATUS_WORDS[bead.status]
    return "deferred" if word == "open" and bead.held is not None else word


def moment(text: object) -> float:
    """Seconds since 1970 of an ISO 8601 time, also with nanoseconds; without a zone it is UTC. ValueError, also for a
    time that could not be written again.
    """
    if not isinstance(text, str):
        raise ValueError("it is not a text")
    found = text.strip().replace(" ", "T", 1)
    if "." in found:
        head, _, rest = found.partition(".")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        found = f"{head}.{digits[:6].ljust(6, '0')}{rest[len(digits) :]}"
    when = datetime.fromisoformat(found)
    seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    written(seconds)
    return seconds


@lru_cache(256)  # beads that came in together have the same times
def written(moment: float) -> str:
    """A time as ISO 8601 in UTC, with microseconds where there are any."""
    return datetime.fromtimestamp(round(moment, 6), UTC).isoformat().replace("+00:00", "Z")
