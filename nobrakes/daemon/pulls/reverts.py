"""What a merged request that takes another one back means for that one's bead: it is open again, and held.

A feature's rollback says itself what becomes of its beads (daemon.forge.rollbacks).
"""

from ...core.beads.bead import BeadType, Role, Status
from ...core.beads.events import Event, Kind
from ...core.beads.taking import submitted
from ...core.beads.taking_back import Merged, is_built, of_attempts
from ...core.forge import data_keys as keys
from ...core.public.actor import UNDO_MARK
from ...ports import Store

_PAGE = 1000


def settle(store: Store, bead: str, commit: str) -> None:
    """`bead` was merged as `commit`. Done again it does nothing; its caller has a transaction."""
    attempts = store.attempts(bead)
    last = submitted(attempts)
    if last is None or (last.role is not Role.PERSON and not is_built(attempts)):
        return  # an agent's work takes nothing back, whatever was handed in before it
    merges = of_attempts(attempts)
    if not merges or any((one.data.get(keys.ROLLBACK) or {}).get("bead") == bead for one in store.features()):
        return
    by = next(one.name for one in reversed(store.attempts(bead)) if one.data.get("takes_back"))
    for merge in (one for named in merges for one in (named, *_with(store, named))):
        was = store.bead(merge.bead)
        stands = was.merged_commit == merge.commit if was.status is Status.DONE else was.status is Status.LANDED
        if not stands:
            continue
        undone = {"undone": [merge.seq]} if merge.seq else {}
        why = f"its merge {merge.commit[:12]} was taken back by {by}: `nobrakes release {was.id}` has it done again"
        data = {"commit": merge.commit, "revert": commit, **undone}
        store.record(Event(Kind.REVERTED, was.id, actor=f"{by}{UNDO_MARK}", data=data))
        store.record(Event(Kind.HELD, was.id, actor=f"{by}{UNDO_MARK}", data={"reason": why}))


def _with(store: Store, merge: Merged) -> list[Merged]:
    """The beads that came to main with the merged request of an epic."""
    if store.bead(merge.bead).type is not BeadType.EPIC:
        return []
    found: list[Merged] = []
    before = None
    while page := store.latest_events((Kind.FOUND_MERGED,), before, _PAGE):
        found += [
            Merged(str(one.bead), _came_as(store, one), seq=one.seq)
            for one in page
            if one.data.get("with") == merge.bead and one.data.get("whole") == merge.commit
        ]
        before = page[-1].seq
    return found


def _came_as(store: Store, found: Event) -> str:
    """The commit by which the bead is on main: its own one where people merged the epic as its commits, and that was
    found by its trailer since. Work that was merged later is other work.
    """
    bead = str(found.bead)
    later = [one for one in store.latest_events((Kind.MERGED,), None, 1, bead) if one.seq > found.seq]
    return str(found.data["merged_commit"]) if later else store.bead(bead).merged_commit or ""
