"""What a database is made anew from: the snapshot as it lies there and as git has it, and what changed since.

1. Of two records of a bead the one that was updated later counts; of two that are equally old, the later of this order:
   the database's own, the file as it lies there, the snapshot that was committed last, main's, what was written since.
2. The file that lies there may be of an old branch, or not there at all: main and refs/nobrakes/snapshot still have it.
3. Of main's merges those count that the evidence here names. What it does not name yet, a daemon finds at its start. A
   clone has neither evidence nor a file of changes: there a merge counts that is younger than its bead.
4. A merge whose bead no record knows is a done bead all the same, as far as its evidence tells.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead, BeadType
from ...core.errors import GitFailed, NoMain
from ...core.evidence.reconcile import Merge, is_younger, merges
from ...interop import beads as interop
from ...interop import since as later
from ...interop.ended import of_evidence
from ...interop.reader import graph, records
from ...interop.words import moment
from ...paths import FOLDER, Paths
from ...ports.git import Git

SNAPSHOT_PIN = "snapshot"
"""The ref (below refs/nobrakes/) that holds the commit with the latest snapshot."""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sources:
    """What was found. `later` counts the beads that are otherwise in what was written since than in a snapshot.

    `merged`: bead -> its merge on main; `attempts`: those that the evidence names; `differing`: the beads that are
    otherwise in the database that was given; `alone`: done beads that only the evidence of their merge knows.
    """

    graph: interop.Imported
    since: later.Since
    refs: Mapping[str, str]
    merged: Mapping[str, str]
    later: int
    differing: frozenset[str] = frozenset()
    attempts: Sequence[Attempt] = ()
    alone: Sequence[str] = ()


def gather(paths: Paths, git: Git | None, own: str | None = None) -> Sources:
    """Read it all. `own`: the records of a database. PlanError: the snapshot has git's conflict markers in it."""
    problems: list[str] = []
    here = records(own, "the database", problems) if own is not None else {}
    refs = git.kept() if git is not None else {}
    main = _main(git)
    found: dict[str, tuple[int, Record]] = dict(here)
    for text in (_text(paths.snapshot), _committed(git, refs.get(SNAPSHOT_PIN)), _committed(git, main)):
        told: list[str] = []
        _newer(found, records(text, os.path.basename(paths.snapshot), told))
        problems += [problem for problem in told if problem not in problems]
    since = later.read(_text(paths.since), os.path.basename(paths.since))
    before = {id_: raw for id_, (_, raw) in found.items()}
    _newer(found, {id_: (0, raw) for id_, raw in since.records.items()})
    changed = sum(1 for id_, (_, raw) in found.items() if raw is not before.get(id_) and raw != before.get(id_))
    made = graph(found, problems)
    told_by_git = _Merged()
    if git is not None and main is not None and own is None:
        told_by_git = _merged(paths, git, main, made.beads)
    made = replace(made, beads=(*made.beads, *told_by_git.alone))
    differing = {id_ for id_, (_, raw) in found.items() if id_ not in here or _facts(raw) != _facts(here[id_][1])}
    return Sources(
        made,
        since,
        refs,
        told_by_git.merged,
        changed,
        frozenset() if own is None else frozenset(differing),
        told_by_git.attempts,
        tuple(bead.id for bead in told_by_git.alone),
    )


@dataclass(frozen=True, slots=True)
class _Merged:
    """Bead -> its merge on main that nothing newer there takes back; and what the evidence tells beside it."""

    merged: Mapping[str, str] = field(default_factory=dict)
    attempts: Sequence[Attempt] = ()
    alone: Sequence[Bead] = ()  # that nothing else knows of


def _merged(paths: Paths, git: Git, main: str, beads: Iterable[Bead]) -> _Merged:
    known = {bead.id: bead for bead in beads}
    standing = [merge for merge in merges(git.line(main)) if merge.stands]
    recorded: dict[str, Record] = {}
    attempts: list[Attempt] = []
    is_clone = not os.path.lexists(paths.since)
    for entry in git.evidence() if standing else ():
        is_clone = False
        if not entry.problem():
            record = entry.record
            recorded.update((str(one["commit"]), record) for one in record["commits"])
            bead = str(record["bead"]["id"])
            attempts += [one for row in record.get("attempts", ()) if (one := of_evidence(bead, row)) is not None]
    merged = {
        merge.bead: merge.tip.commit
        for merge in standing
        if merge.bead in known and (merge.tip.commit in recorded or (is_clone and is_younger(merge, known[merge.bead])))
    }
    alone = {
        merge.bead: _known_by_evidence(merge, recorded[merge.tip.commit])
        for merge in standing
        if merge.bead not in known and merge.tip.commit in recorded
    }
    return _Merged(merged, attempts, tuple(alone.values()))


def _known_by_evidence(merge: Merge, record: Record) -> Bead:
    told, at = record["bead"], float(record["at"])
    known = Bead(
        merge.bead,
        str(told["title"]),
        BeadType(told["type"]),
        notes="What it asked for is lost. This is what the evidence of its merge tells.",
        created_at=at,
        updated_at=at,
    )
    return lifecycle.merged(known, merge.tip.commit)


def _facts(record: Record) -> Record:
    """A record without what tells only of the one who works."""
    return {key: value for key, value in record.items() if key not in ("assignee", "status")}


def _newer(found: dict[str, tuple[int, Record]], given: Mapping[str, tuple[int, Record]]) -> None:
    for id_, record in given.items():
        if id_ not in found or _updated(record[1]) >= _updated(found[id_][1]):
            found[id_] = record


def _updated(record: Record) -> float:
    try:
        return moment(record.get("updated_at"))
    except (ValueError, OverflowError, TypeError, AttributeError):
        return 0.0


def _main(git: Git | None) -> str | None:
    try:
        return git.main() if git is not None else None
    except NoMain:
        return None


def _committed(git: Git | None, commit: str | None) -> str:
    if git is None or commit is None:
        return ""
    try:
        found = git.read(commit, f"{FOLDER}/beads.jsonl", None)
    except GitFailed:
        return ""  # the commit is gone: main's and the file's own are left
    return "" if found is None else found.decode("utf-8", "replace")


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""
