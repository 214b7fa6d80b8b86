"""What a public event says of its bead and its worker, asked of the store: each bead once for a page of events."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead
from ...core.beads.escalations import Escalation
from ...core.beads.work_status import WorkStatus, statuses
from ...core.public.events import PublicEvent, public
from ..work_status import events_between

if TYPE_CHECKING:
    from ...core.beads.events import Event
    from ...ports.store import Store

PAGE = 1000


class StoreFacts:
    """core.public.events.Facts on a store. Made after the page of events was read: it is never older than they are."""

    def __init__(self, store: "Store", events: "Sequence[Event]") -> None:
        self._store = store
        self._between: dict[str, tuple[int, int]] = {}
        for event in events:
            if event.bead is not None:
                self._between[event.bead] = (self._between.get(event.bead, (event.seq, 0))[0], event.seq)
        beads = self._between.keys()
        self._beads = {bead.id: bead for bead in store.beads(ids=sorted(beads))} if beads else {}
        self._attempts: dict[str, Sequence[Attempt]] = {}
        self._statuses: dict[str, dict[int, WorkStatus]] = {}
        self._escalations: dict[str, list[Escalation]] = {}
        for one in store.escalations_as_filed() if beads else ():
            if one.bead is not None:
                self._escalations.setdefault(one.bead, []).append(one)

    def bead(self, bead: str) -> Bead | None:
        """The bead; None where it is not known any more."""
        return self._beads.get(bead)

    def attempts(self, bead: str) -> Sequence[Attempt]:
        """Its attempts, oldest first."""
        if bead not in self._attempts:
            self._attempts[bead] = self._store.attempts(bead) if bead in self._beads else ()
        return self._attempts[bead]

    def escalations(self, bead: str) -> Sequence[Escalation]:
        """What was asked about it."""
        return self._escalations.get(bead, ())

    def status(self, event: "Event") -> WorkStatus | None:
        """How the event's bead stood after it. The event is one of the page."""
        bead = event.bead or ""
        if bead not in self._statuses:
            self._statuses[bead] = statuses(events_between(self._store, bead, *self._between[bead]))
        return self._statuses[bead].get(event.seq)


def public_events(store: "Store", after: int, bead: str | None = None) -> "Iterator[tuple[int, list[PublicEvent]]]":
    """Pages of what was said in public after this number, oldest first: (the last number read, what it came to)."""
    while events := store.events(after, PAGE, bead):
        facts = StoreFacts(store, events)
        after = events[-1].seq
        yield after, [said for event in events for said in public(event, facts)]
