"""Merges as the event log tells them: which commits brought a bead to main."""

from ...core.beads.bead import Bead, Status
from ...core.beads.events import Event, Kind
from ...core.beads.taking_back import Merged
from ...ports import Store

MERGES = (Kind.MERGED, Kind.FOUND_MERGED)


def merge_of(store: Store, event: Event, bead: Bead) -> Merged:
    """The merge that the event tells of; its commit is empty where nobody knows it any more."""
    commit = str(event.data.get("commit") or event.data.get("merged_commit") or bead.merged_commit or "")
    base = str(event.data.get("base") or "")
    if not base and event.attempt is not None:
        base = str(store.attempt(event.attempt).data.get("base", ""))
    return Merged(bead.id, commit, base, event.seq)


def standing(store: Store, bead: Bead) -> Merged | None:
    """The merge that a done bead is done by; None: it was not merged, or its merge was taken back."""
    if bead.status is not Status.DONE or not bead.merged_commit:
        return None
    for event in store.latest_events(MERGES, None, 1, bead.id):
        found = merge_of(store, event, bead)
        if found.commit == bead.merged_commit:
            return found
    return Merged(bead.id, bead.merged_commit)
