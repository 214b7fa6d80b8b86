"""Since when what is known of a bead counts: its last merge. What was said of it before is of another life."""

from ..core.beads.events import MERGES
from ..ports import Store


def last_merge(store: Store, bead: str) -> int:
    """The number of the event by which the bead was merged last; 0: it never was."""
    merges = store.latest_events(MERGES, None, 1, bead)
    return merges[0].seq if merges else 0
