"""Archived work: what is kept, and which refs a person may let go. Nothing is ever removed without being asked.

1. Only what is on main anyway may go: an archived ref whose commit is in the head that was merged, of a bead that is
   done by that very merge. Discarded tries, uncommitted work and what was reverted stay for ever.
2. Where the event log does not say what was merged (a rebuilt database), nothing may go.
3. What goes is written down with its commit first, so that it can be taken back while git still has it.
"""

from dataclasses import dataclass

from ..core.beads.bead import Bead, Status
from ..core.beads.events import Event, Kind
from ..core.errors import NotAllowed, UsageError
from ..ports.git import Git
from ..ports.store import Store

DAY = 86_400.0
_ARCHIVE = "refs/nobrakes/archive/"
_OWN = "refs/nobrakes/"


@dataclass(frozen=True, slots=True)
class Archived:
    """One archived ref. `days` since its bead was merged (None: it is not merged work); `goes`: it is old enough."""

    ref: str
    commit: str
    bead: str
    days: float | None = None
    goes: bool = False


def look(store: Store, git: Git, keep_days: float | None) -> list[Archived]:
    """What is archived, newest first. `keep_days` None: all of it is kept."""
    now = store.now()
    heads: dict[str, tuple[str, float] | None] = {}
    found = []
    for ref, commit in git.archived():
        bead = ref.removeprefix(_ARCHIVE).split("/")[0]
        if bead not in heads:
            heads[bead] = _merged_head(store, git, bead)
        head = heads[bead]
        days = (now - head[1]) / DAY if head is not None and git.contains(commit, head[0]) else None
        goes = keep_days is not None and days is not None and days >= keep_days
        found.append(Archived(ref, commit, bead, days, goes))
    return found


def _merged_head(store: Store, git: Git, name: str) -> tuple[str, float] | None:
    """(what was handed in, when it was merged) of a bead whose merge stands on main."""
    known: list[Bead] = store.beads(ids=[name])
    if not known or known[0].status is not Status.DONE or known[0].merged_commit is None:
        return None
    last = store.latest_events((Kind.MERGED, Kind.REVERTED), limit=1, bead=name)
    if not last or last[0].kind is not Kind.MERGED or last[0].data.get("merged_commit") != known[0].merged_commit:
        return None
    if not last[0].data.get("head") or not git.contains(known[0].merged_commit, git.main()):
        return None
    return str(last[0].data["head"]), last[0].at


def expire(store: Store, git: Git, keep_days: float | None, actor: str) -> list[Archived]:
    """Remove the refs that may go; those that went. UsageError: the settings keep everything."""
    if keep_days is None:
        raise UsageError(
            "retention.archive_days is not set, so everything is kept",
            "Set it in .nobrakes/config.toml to let go of it.",
        )
    going = [one for one in look(store, git, keep_days) if one.goes]
    for bead in dict.fromkeys(one.bead for one in going):
        refs = {one.ref: one.commit for one in going if one.bead == bead}
        store.record(Event(Kind.ARCHIVE_EXPIRED, bead, actor=actor, data={"refs": refs}))
        for ref in refs:
            git.pin(ref.removeprefix(_OWN), None)
    return going


def bring_back(git: Git, event: Event) -> None:
    """Set the refs again that an expiry removed; NotAllowed, and nothing is set, when git has collected a commit."""
    refs = {str(ref): str(commit) for ref, commit in event.data.get("refs", {}).items()}
    for ref, commit in refs.items():
        if not git.has(commit):
            raise NotAllowed(f"event {event.seq} cannot be taken back: git has collected {commit[:12]} of {ref}")
    for ref, commit in refs.items():
        git.pin(ref.removeprefix(_OWN), commit)
