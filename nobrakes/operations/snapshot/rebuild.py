"""The database, made anew from what is kept outside of it: operations.snapshot.sources, the trailers on main,
refs/nobrakes/*.

1. The new database is complete before it takes the old one's place, and the old one is kept beside it. Whoever is
   killed before that has changed nothing that the next one needs.
2. A bead that the records call live and main has merged is done, unless that merge was taken back or built on again.
3. Nobody works on anything: processes that an earlier daemon left are ended, their clones stay. Work that was handed
   in goes back to a Doer, who goes on with its branch. A Doer needs the proven tests; where they are gone, a Test
   Writer begins again.
4. Ended attempts are known from the file of what changed, and those that led to a merge from its evidence. Events are
   only in the database: they are not rebuilt. Branches are under refs/nobrakes and stay there.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ...core.beads import lifecycle
from ...core.beads.bead import CLOSED, Bead, Status
from ...core.beads.escalations import STOPS_BEAD, Escalation
from ...core.beads.ref_numbers import fences, last_attempt
from ...core.errors import DaemonRunning, GitFailed, NoMain, StoreBroken
from ...core.graph.links import node_of
from ...core.graph.readiness import deadlocks
from ...host.files import private_folder
from ...host.locks import DaemonLock, holder
from ...host.runs.strays import end_all
from ...paths import Paths
from ...ports.git import EPICS, Git
from ...ports.store import Position, Restored
from . import log
from .sources import Sources, gather

ACTOR = "nobrakes"
LOST_TOO = (
    "beads.since.jsonl was gone too: what changed since the snapshot, questions, answers and settings are not back, "
    "and of attempts only what the evidence of a merge tells"
)
MOST_NAMED = 20
PATIENCE_SECONDS = 20.0
"""So long a command waits for another one that rebuilds, or for a daemon that ends."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was made. `problems` are what could not be taken over; `old` is where the old database is.

    `later`: the beads that had changed since their snapshot. `open`: escalations. `ended`: runs that were ended.
    `attempts`: those that are known again. `is_without`: the file of what changed was gone too. `alone`: of these
    beads only the evidence of their merges was left.
    """

    beads: int
    merged: tuple[str, ...]
    problems: tuple[str, ...]
    old: str | None
    later: int = 0
    open: int = 0
    ended: tuple[str, ...] = ()
    attempts: int = 0
    is_without: bool = False
    alone: tuple[str, ...] = ()


def rebuild(paths: Paths, git: Git | None) -> Rebuilt:
    """Make the database anew; without `git` nothing is learnt from main and refs. DaemonRunning: somebody works.

    StoreNewer: a newer nobrakes wrote it, and would lose what this one does not know.
    """
    from ...store.database import require_not_newer

    with DaemonLock(paths.lock):
        if os.path.isfile(paths.database):
            require_not_newer(paths.database)
        return _rebuild(paths, git)


def make_missing(paths: Paths, git: Git, say: Callable[[str], None]) -> None:
    """Make the database that is not there. StoreBroken: a daemon works with the one that was removed."""
    from ...host.watching import poke

    deadline = time.monotonic() + PATIENCE_SECONDS
    while not os.path.lexists(paths.database):
        try:
            with DaemonLock(paths.lock):
                if os.path.lexists(paths.database):
                    return
                made = _rebuild(paths, git)
        except DaemonRunning:
            poke(paths.wake, "person")  # a daemon that looks sees that its database is gone, and ends
            if time.monotonic() > deadline:
                raise StoreBroken(
                    f"the database is gone, and process {holder(paths.lock) or '?'} still works with it",
                    "End the daemon with `nobrakes daemon stop`; the next command then makes the database anew.",
                ) from None
            time.sleep(0.05)
            continue
        say(f"the database was missing and was made anew; {'; '.join(told(made))}")
        return


def told(made: Rebuilt) -> list[str]:
    """What was done, for a person."""
    merged = f"; {len(made.merged)} of them were merged since" if made.merged else ""
    lines = [f"{made.beads} beads were read from the snapshot{merged}"]
    if made.later:
        lines.append(f"{made.later} of them had changed since the snapshot")
    if made.open:
        lines.append(f"{made.open} open escalations are back")
    if made.attempts:
        lines.append(f"{made.attempts} attempts are back, with what they left")
    if made.alone:
        names = ", ".join(made.alone[:MOST_NAMED]) + (", …" if len(made.alone) > MOST_NAMED else "")
        lines.append(f"{len(made.alone)} done beads are known by the evidence of their merges alone: {names}")
    if made.is_without:
        lines.append(LOST_TOO)
    if made.ended:
        lines.append(f"what an earlier daemon left running was ended: {', '.join(made.ended)}")
    if made.old:
        lines.append(f"the old database is kept as {made.old}")
    return [*lines, *made.problems]


def _rebuild(paths: Paths, git: Git | None) -> Rebuilt:
    from ...store.opening import create_store

    for folder in (paths.runs, paths.wake, paths.workspaces, paths.scratch):
        private_folder(folder)
    ended = end_all(paths.wake)
    sources = gather(paths, git)
    is_without = bool(sources.refs) and not os.path.lexists(paths.since)  # a clone never had one
    found, landed, problems = restorable(sources, git)
    found = replace(found, attempts=last_attempt(os.listdir(paths.runs)))
    fresh = f"{paths.database}.new"
    for ending in ("", "-wal", "-shm"):
        if os.path.lexists(fresh + ending):
            os.unlink(fresh + ending)  # what an interrupted rebuild left; nobody else makes it
    store = create_store(fresh)
    try:
        store.restore(found, ACTOR)
        known = len({(one.bead, one.number) for one in found.ended})
        old = _keep_old(paths)
        # before the database is there: who is killed in between finds none, and rebuilds it from these lines
        log.shorten(store, paths, Position())
    finally:
        store.close()
    os.replace(fresh, paths.database)
    still = sum(1 for one in found.escalations if one.resolved_at is None)
    return Rebuilt(
        len(found.beads) - len(sources.alone),
        tuple(landed),
        tuple(problems),
        old,
        sources.later,
        still,
        tuple(ended),
        known,
        is_without,
        tuple(sources.alone),
    )


def restorable(sources: Sources, git: Git | None) -> tuple[Restored, list[str], list[str]]:
    """What a database is given of all that was found, the beads that are done by a merge on main, and the problems."""
    problems = [*sources.graph.problems, *sources.since.notes]
    tests = {name.removeprefix("tests/"): commit for name, commit in sources.refs.items() if name.startswith("tests/")}
    known = fences(sources.refs)
    escalations = _escalations(sources, problems)
    # one that was asked of a draft did not stop it, and remembers no place to return to
    asked = {e.bead for e in escalations if e.resolved_at is None and e.type in STOPS_BEAD and e.return_to is not None}
    landed, beads, on_epics = [], [], _on_epics(sources.refs, git)
    for was in sources.graph.beads:
        bead = was if was.id in asked else _landed(was, sources.merged)
        if bead.status is not was.status:
            landed.append(bead.id)
        elif bead.id not in asked and on_epics.get(bead.id) == bead.epic is not None and bead.status not in CLOSED:
            bead = lifecycle.landed(bead)
        kept = bead.branch_kept and git is not None and git.has_workspace(bead.id)
        bead = replace(bead, branch_kept=kept, fence=max(bead.fence, known.get(bead.id, 0)))
        beads.append(lifecycle.recovered(bead, has_tests=bead.id in tests, is_asked=bead.id in asked))
    dependencies = list(sources.graph.dependencies)
    for circle in deadlocks([node_of(bead) for bead in beads], dependencies):
        problems.append(f"{circle.cut.bead} waited for {circle.cut.needs} in a circle: left out")
        if circle.cut in dependencies:
            dependencies.remove(circle.cut)
        else:
            beads = [replace(b, epic=None) if b.id == circle.cut.bead else b for b in beads]
    proven = {b.id: tests[b.id] for b in beads if b.id in tests and Status.NEEDS_DOER in (b.status, b.return_to)}
    there = {bead.id for bead in beads}
    by_number = sorted(sources.attempts, key=lambda one: (one.bead, one.number))
    known_ = [*(one for _, one in sorted(sources.since.attempts.items())), *by_number]
    ended = [one for one in known_ if one.bead in there]
    found = Restored(beads, dependencies, escalations, sources.since.settings, proven, ended=ended)
    return found, landed, problems


def _on_epics(refs: Mapping[str, str], git: Git | None) -> dict[str, str]:
    """The beads that are on an epic's branch and not on main, with the epic."""
    found: dict[str, str] = {}
    if git is not None:
        for epic in (name.removeprefix(f"{EPICS}/") for name in refs if name.startswith(f"{EPICS}/")):
            with contextlib.suppress(GitFailed, NoMain):
                found |= dict.fromkeys(git.of_epic(epic).merged(git.main()), epic)
    return found


def _landed(bead: Bead, merged: Mapping[str, str]) -> Bead:
    commit = merged.get(bead.id)
    if commit is None or bead.status in CLOSED or commit == bead.merged_commit:
        return bead
    return lifecycle.merged(bead, commit)


def _escalations(sources: Sources, problems: list[str]) -> list[Escalation]:
    known = {bead.id for bead in sources.graph.beads}
    found = []
    for number, one in sorted(sources.since.escalations.items()):
        if one.bead is None or one.bead in known:
            found.append(one)
        else:
            problems.append(f"escalation {number} is about {one.bead}, which is not there: left out")
    return found


def _keep_old(paths: Paths) -> str | None:
    """Move the old database and its companions aside; the new name. A log left alone is no log of the next one."""
    endings = [ending for ending in ("-wal", "-shm", "") if os.path.lexists(paths.database + ending)]
    if not endings:
        return None
    number = 1
    while any(os.path.lexists(f"{paths.database}.old-{number}{ending}") for ending in ("", "-wal", "-shm")):
        number += 1
    kept = f"{paths.database}.old-{number}"
    for ending in endings:
        os.replace(paths.database + ending, kept + ending)
    return kept if "" in endings else None
