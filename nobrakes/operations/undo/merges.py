"""Merges as the event log tells them: which commits brought a bead to main."""

from ...core.beads.bead import Bead, Status
from ...core.beads.events import MERGES, Event, Kind
from ...core.beads.taking_back import Merged
from ...ports import Store

MOST = 1000
"""Merges of one bead, and takings back, that are looked through."""


def merge_of(store: Store, event: Event, bead: Bead) -> Merged:
    """The merge that the event tells of; its commit is empty where nobody knows it any more."""
    commit = str(event.data.get("commit") or event.data.get("merged_commit") or bead.merged_commit or "")
    base = str(event.data.get("base") or "")
    if not base and event.attempt is not None:
        data = store.attempt(event.attempt).data
        # what people merged stands on another base than it was proven on: all that lies between is not the bead's
        base = str(data.get("since" if data.get("merged_as") else "base", ""))
    return Merged(bead.id, commit, base, event.seq)


def standing(store: Store, bead: Bead) -> tuple[Merged, ...]:
    """The bead's merges that nobody took back, newest first: also those from before it was opened again. A done bead
    whose merge no event tells of (the database was rebuilt) is known by its commit alone.
    """
    if not bead.merged_commit:
        return ()
    found: dict[str, Merged] = {}
    told: set[str] = set()
    undone: set[int] = set()
    reverted: set[str] = set()
    for event in store.latest_events((*MERGES, Kind.REVERTED), None, MOST, bead.id):
        if event.kind is Kind.REVERTED:
            undone.update(int(seq) for seq in event.data.get("undone", ()))
            reverted.add(str(event.data.get("commit") or ""))
            continue
        merge = merge_of(store, event, bead)
        told.add(merge.commit)
        if merge.commit and merge.commit not in reverted and event.seq not in undone:
            found.setdefault(merge.commit, merge)
    if bead.status is Status.DONE and bead.merged_commit not in told | reverted:
        found[bead.merged_commit] = Merged(bead.id, bead.merged_commit)
    return tuple(found.values())
