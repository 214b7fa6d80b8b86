"""How a bead stands while it is worked on, by its events in the store: no more of them are read than say so."""

from collections.abc import Iterator

from ..core.beads.events import Event
from ..core.beads.work_status import BEGINS, WorkStatus, statuses
from ..ports.store import Store

PAGE = 1000


def events_between(store: Store, bead: str, first: int, last: int) -> Iterator[Event]:
    """A bead's events up to number `last`, from its last beginning at or before `first` on, oldest first."""
    began = store.latest_events(BEGINS, first + 1, 1, bead)
    after = began[0].seq - 1 if began else 0
    while after < last and (page := store.events(after, PAGE, bead)):
        after = page[-1].seq
        yield from (event for event in page if event.seq <= last)


def status_now(store: Store, bead: str) -> WorkStatus | None:
    """How the bead stands; None: nobody has begun on it."""
    last = store.position().seq
    found = statuses(events_between(store, bead, last, last))
    return found[max(found)] if found else None
