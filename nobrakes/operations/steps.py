"""The steps that a person took, as the event log tells them: what can be taken back, newest first.

1. A step is one event of a person, or the events that one command made at one moment (a plan, an approval).
2. What an undo does is no step: its events carry the actor with `MARK`, and an UNDONE event names what was undone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.events import Event, Kind
from ..ports import Store

MARK = " (undo)"
PAGE = 1000
KINDS = frozenset(
    {
        Kind.PROPOSED,
        Kind.CHANGED,
        Kind.APPROVED,
        Kind.HELD,
        Kind.RELEASED,
        Kind.DEFERRED,
        Kind.DEPENDENCY_ADDED,
        Kind.DEPENDENCY_REMOVED,
        Kind.CANCELLED,
        Kind.DONE_BY_HAND,
        Kind.REOPENED,
    }
)
"""What people do to beads and can take back. A merge is taken back only when its number is given."""


@dataclass(frozen=True, slots=True)
class UndoStep:
    """One step of a person. `events` are of one kind, `seq` is the last one's number."""

    seq: int
    kind: Kind
    actor: str
    at: float
    events: tuple[Event, ...]

    @property
    def beads(self) -> tuple[str, ...]:
        """The beads that it is about."""
        return tuple(event.bead for event in self.events if event.bead is not None)


def all_events(store: Store, bead: str | None = None) -> Iterator[Event]:
    """Every event, oldest first."""
    after = 0
    while True:
        page = store.events(after, PAGE, bead)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].seq


def steps(store: Store) -> list[UndoStep]:
    """The steps that were not taken back yet, oldest first."""
    groups: list[list[Event]] = []
    undone: set[int] = set()
    for event in all_events(store):
        if event.kind is Kind.UNDONE:
            undone.update(int(seq) for seq in event.data.get("undone", ()))
        if event.kind not in KINDS or event.bead is None or event.actor.endswith(MARK):
            continue
        if groups and _together(groups[-1][-1], event):
            groups[-1].append(event)
        else:
            groups.append([event])
    return [
        UndoStep(group[-1].seq, group[0].kind, group[0].actor, group[-1].at, tuple(group))
        for group in groups
        if not any(event.seq in undone for event in group)
    ]


def _together(before: Event, event: Event) -> bool:
    return (before.kind, before.at, before.actor) == (event.kind, event.at, event.actor) and before.seq + 1 == event.seq


def event_of(store: Store, seq: int) -> Event | None:
    """The event with this number."""
    found = store.events(seq - 1, 1)
    return found[0] if found and found[0].seq == seq else None
