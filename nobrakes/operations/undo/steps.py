"""The steps that a person took, as the event log tells them: what can be taken back, newest first.

1. A step is one event of a person, or the events that one command made at one moment (a plan, an approval). What one
   yes of commit-strategy did is one step; its drafts or its changes alone are taken back by the number of one.
2. What an undo does is no step: its events carry the actor with `MARK`, and an UNDONE event names what was undone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.beads.events import Event, Kind
from ...core.public.actor import UNDO_MARK
from ...ports.store import Store

MARK = UNDO_MARK
US = "nobrakes"
"""The machine's own name: what it does by itself, such as the canary's note on a bead, is no person's step."""
PAGE = 1000
KINDS = frozenset(
    {
        Kind.PROPOSED,
        Kind.CHANGED,
        Kind.APPROVED,
        Kind.CHANGE_PROPOSED,
        Kind.CHANGE_DROPPED,
        Kind.CHANGE_APPROVED,
        Kind.STRATEGY_APPROVED,
        Kind.HELD,
        Kind.RELEASED,
        Kind.DEFERRED,
        Kind.DEPENDENCY_ADDED,
        Kind.DEPENDENCY_REMOVED,
        Kind.CANCELLED,
        Kind.DONE_BY_HAND,
        Kind.REOPENED,
        Kind.ARCHIVE_EXPIRED,
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


def _back(store: Store) -> Iterator[Event]:
    """What people did and took back, newest first, read as far as it is asked for."""
    before = None
    while True:
        page = store.latest_events((*sorted(KINDS), Kind.UNDONE), before, PAGE)
        yield from page
        if len(page) < PAGE:
            return
        before = page[-1].seq


def steps_back(store: Store) -> Iterator[UndoStep]:
    """The steps that were not taken back yet, newest first. An undo is written after its step, so it is met before."""
    undone: set[int] = set()
    group: list[Event] = []
    for event in _back(store):
        if event.kind is Kind.UNDONE:
            undone.update(int(seq) for seq in event.data.get("undone", ()))
        is_yes = event.kind is Kind.STRATEGY_APPROVED
        if event.kind not in KINDS or (event.bead is None and not is_yes):
            continue
        if event.actor == US or event.actor.endswith(MARK):
            continue
        if group and not _together(event, group):
            yield from _step(group, undone)
            group = []
        group.append(event)
    yield from _step(group, undone)


def _step(group: list[Event], undone: set[int]) -> Iterator[UndoStep]:
    """The step of these events, newest first; nothing when there are none, or one of them was taken back.

    Of a yes of commit-strategy it is what was not taken back yet.
    """
    if group and group[0].kind is Kind.STRATEGY_APPROVED and group[0].seq not in undone:
        rest = [event for event in group if event.seq not in undone]
        if len(rest) > 1:
            yield UndoStep(rest[0].seq, rest[0].kind, rest[0].actor, rest[0].at, tuple(reversed(rest)))
    elif group and not any(event.seq in undone for event in group):
        newest = group[0]
        yield UndoStep(newest.seq, newest.kind, newest.actor, newest.at, tuple(reversed(group)))


def _together(before: Event, group: list[Event]) -> bool:
    if group[0].kind is Kind.STRATEGY_APPROVED:
        return before.seq >= int(group[0].data["first"])
    event = group[-1]
    same = (before.kind, before.actor) == (event.kind, event.actor) and before.seq + 1 == event.seq
    if event.kind is Kind.CHANGE_PROPOSED:
        return same and _proposed_at(before) == _proposed_at(event)
    return same and before.at == event.at


def _proposed_at(event: Event) -> float | None:
    """When the command began that proposed it."""
    parts = event.data.get("parts", {}).values()
    return max((float(part["is"]["at"]) for part in parts if part.get("is")), default=None)


def event_of(store: Store, seq: int) -> Event | None:
    """The event with this number."""
    found = store.events(seq - 1, 1)
    return found[0] if found and found[0].seq == seq else None
