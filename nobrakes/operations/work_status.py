"""How a bead stands while it is worked on, by its events in the store."""

from collections.abc import Iterator

from ..core.beads.events import Event
from ..core.beads.work_status import WorkStatus, statuses
from ..ports import Store

PAGE = 1000


def events_of(store: Store, bead: str) -> Iterator[Event]:
    """All events of a bead, oldest first."""
    after = 0
    while page := store.events(after, PAGE, bead):
        after = page[-1].seq
        yield from page


def status_now(store: Store, bead: str) -> WorkStatus | None:
    """How the bead stands; None: nobody has begun on it."""
    found = statuses(events_of(store, bead))
    return found[max(found)] if found else None
