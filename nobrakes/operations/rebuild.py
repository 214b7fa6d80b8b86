"""The database, made anew from what git keeps: the snapshot, the `Bead:` trailers on main, refs/nobrakes/*.

1. The new database is complete before it takes the old one's place, and the old one is kept beside it.
2. A bead that the snapshot calls open and main has merged is done. Everything else waits where the snapshot says.
3. Attempts, events and escalations are only in the database: they are not rebuilt. Branches of interrupted work are
   under refs/nobrakes/archive and stay there.
"""

import os
from dataclasses import dataclass, replace

from ..core.bead import CLOSED, Bead, Status
from ..core.graph import deadlocks
from ..interop import beads as interop
from ..places import Places
from ..ports import Git
from .planwork import node_of

ACTOR = "nobrakes"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was made. `problems` are what of the snapshot could not be taken over; `old` is where the old one is."""

    beads: int
    merged: tuple[str, ...]
    problems: tuple[str, ...]
    old: str | None


def rebuild(places: Places, git: Git | None) -> Rebuilt:
    """Make the database anew. No daemon may run. Without `git` (or main) nothing is learnt from the trailers."""
    from ..store.opening import create_store

    text = ""
    if os.path.lexists(places.snapshot):
        with open(places.snapshot, encoding="utf-8") as file:
            text = file.read()
    found = interop.parse(text, os.path.basename(places.snapshot))
    merged = git.merged() if git is not None else {}
    beads = [_landed(bead, merged) for bead in found.beads]
    problems = list(found.problems)
    dependencies = list(found.dependencies)
    for circle in deadlocks([node_of(bead) for bead in beads], dependencies):
        problems.append(f"{circle.cut.bead} waited for {circle.cut.needs} in a circle: left out")
        if circle.cut in dependencies:
            dependencies.remove(circle.cut)
        else:
            beads = [replace(b, epic=None) if b.id == circle.cut.bead else b for b in beads]
    fresh = f"{places.database}.new"
    for ending in ("", "-wal", "-shm"):
        if os.path.lexists(fresh + ending):
            os.unlink(fresh + ending)  # what an interrupted rebuild left; nobody else makes it
    store = create_store(fresh)
    try:
        store.put(beads, dependencies, ACTOR)
    finally:
        store.close()
    old = _keep_old(places)
    os.replace(fresh, places.database)
    learnt = tuple(b.id for b, was in zip(beads, found.beads, strict=True) if b.status is not was.status)
    return Rebuilt(len(beads), learnt, tuple(problems), old)


def _landed(bead: Bead, merged: dict[str, str]) -> Bead:
    commit = merged.get(bead.id)
    if commit is None or bead.status in CLOSED:
        return bead
    return replace(bead, status=Status.DONE, merged_commit=commit, closed_at=bead.updated_at or None)


def _keep_old(places: Places) -> str | None:
    """Move the old database and its companions aside; the new name."""
    if not os.path.lexists(places.database):
        return None
    number = 1
    while os.path.lexists(f"{places.database}.old-{number}"):
        number += 1
    kept = f"{places.database}.old-{number}"
    for ending in ("-wal", "-shm", ""):
        if os.path.lexists(places.database + ending):
            os.replace(places.database + ending, kept + ending)
    return kept
