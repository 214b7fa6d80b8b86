"""Recovery of the database from the tracked snapshot and beads.since.jsonl.

1. Lines of the file stand in the order of what they say: the file is locked before the database is read.
2. What is appended is there whole or not at all.
"""

import contextlib
import json
import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..beads import lifecycle
from ..beads.graph import node_of
from ..beads.model import CLOSED, Attempt, Bead, BeadType, Status, fences, last_attempt
from ..beads.readiness import deadlocks
from ..decisions.model import STOPS_BEAD, Escalation
from ..errors import DaemonRunning, GitFailed, NoMain, StoreBroken
from ..events.kinds import Position
from ..files import poke, private_folder
from ..git.port import EPICS, Git
from ..host.locks import DaemonLock, holder
from ..host.proctable import end_all
from ..paths import FOLDER, Paths
from ..records import frozen
from ..review.verify import Merge, is_younger, merges
from ..text.cleaning import count
from . import beads_jsonl
from .beads_jsonl import dump
from .log import shorten
from .reader import Imported, Restored, Since, evidence_attempt, graph, moment, read, records

if TYPE_CHECKING:
    from ..store import Store


# Right after each transaction that changed the plan, the process that made it appends to beads.since.jsonl, in one
# write, all that came after the file's last mark, whoever made it; the file is locked before the database is read. When
# it cannot be written that is told, and nothing is undone. A snapshot that main has makes the file short again. A file
# that names what the database does not know is later than it: that is brought back, and it is never put aside.
# The tracked snapshot. Where the file still is the text whose digest the store remembers, only beads that changed since
# are read; anything else rebuilds the whole text. It is the same either way, byte by byte.
WRITTEN = "snapshot_written"
FEW = 8
"""With fewer changed lines than one in so many, the others are reused."""


@frozen
class Snapshot:
    """The text, and its mark once it is written."""

    text: bytes
    mark: str


def snapshot(store: "Store", paths: Paths) -> Snapshot:
    """The graph as text."""
    known = json.loads(store.setting(WRITTEN) or "{}")
    old = _written_before(paths, known)
    # first of all: what changes after it is read again the next time
    seq, now, touched = store.touched(known["seq"], known["at"]) if old is not None else store.touched(None, None)
    lines = None if old is None else old.split(b"\n")[:-1]
    if lines is None or len(touched) * FEW > len(lines):
        text = dump(store.alike())
    else:
        # the lines, with those of the touched beads rebuilt in their places
        for line in dump(store.alike(touched)).split(b"\n")[:-1]:
            place = bisect_left(lines, _id(line), key=_id)
            same = place < len(lines) and _id(lines[place]) == _id(line)
            lines[place : place + same] = [line]
        text = b"".join(line + b"\n" for line in lines)
    return Snapshot(text, json.dumps({"by": _writer(), "digest": sha256(text).hexdigest(), "seq": seq, "at": now}))


def remember(store: "Store", written: Snapshot) -> None:
    store.set_setting(WRITTEN, written.mark)


def _written_before(paths: Paths, known: dict[str, str]) -> bytes | None:
    """Our last text, if it is unchanged and current."""
    if known.get("by") != _writer():
        return None
    try:
        with open(paths.snapshot, "rb") as file:
            text = file.read()
    except OSError:
        return None
    return text if sha256(text).hexdigest() == known["digest"] else None


def _writer() -> str:
    own = os.stat(beads_jsonl.__file__)
    return f"{__version__} {own.st_mtime_ns} {own.st_size}"


_BEGIN = len(b'{"id":"')


def _id(line: bytes) -> str:
    return line[_BEGIN : line.index(b'"', _BEGIN)].decode()


# What a database is rebuilt from. Of two records of a bead the one that was updated later counts; of two that are
# equally old, the later of this order: the database's own, the file as it lies there, the snapshot that was committed
# last, main's, what was written since. Of main's merges those count that the evidence here names; in a clone, which has
# none, one that is younger than its bead. A merge whose bead no record knows is a done bead all the same.
SNAPSHOT_PIN = "snapshot"
"""The ref (below refs/nobrakes/) of the latest snapshot's commit."""

Record = dict[str, Any]


@frozen
class Sources:
    """The found data. `later`: beads newer than the snapshot. `merged`: bead -> merge on main; `attempts`: in the
    evidence; `differing`: beads that differ in the given database; `alone`: done beads known only from evidence."""

    graph: Imported
    since: Since
    refs: Mapping[str, str]
    merged: Mapping[str, str]
    later: int
    differing: frozenset[str] = frozenset()
    attempts: Sequence[Attempt] = ()
    alone: Sequence[str] = ()


def gather(paths: Paths, git: Git | None, own: str | None = None, landed: frozenset[str] = frozenset()) -> Sources:
    """Read everything. `own`: a database's records; `landed`: commits of merges that no evidence names yet. PlanError:
    the snapshot has conflict markers."""
    problems: list[str] = []
    here = records(own, "the database", problems) if own is not None else {}
    refs = git.kept() if git is not None else {}
    main = _main(git)
    found: dict[str, tuple[int, Record]] = dict(here)
    for text in (_text(paths.snapshot), _committed(git, refs.get(SNAPSHOT_PIN)), _committed(git, main)):
        told: list[str] = []
        _newer(found, records(text, os.path.basename(paths.snapshot), told))
        problems += [problem for problem in told if problem not in problems]
    since = read(_text(paths.since), os.path.basename(paths.since))
    before = {id_: raw for id_, (_, raw) in found.items()}
    _newer(found, {id_: (0, raw) for id_, raw in since.records.items()})
    changed = sum(1 for id_, (_, raw) in found.items() if raw is not before.get(id_) and raw != before.get(id_))
    made = graph(found, problems)
    told_by_git = _Merged()
    if git is not None and main is not None and own is None:
        told_by_git = _merged(paths, git, main, made.beads, landed)
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


@frozen
class _Merged:
    """Bead -> unreverted merge on main; and evidence beside it."""

    merged: Mapping[str, str] = field(default_factory=dict)
    attempts: Sequence[Attempt] = ()
    alone: Sequence[Bead] = ()  # that nothing else knows of


def _merged(paths: Paths, git: Git, main: str, beads: Iterable[Bead], landed: frozenset[str]) -> _Merged:
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
            attempts += [one for row in record.get("attempts", ()) if (one := evidence_attempt(bead, row)) is not None]
    told = {*recorded, *landed}
    merged = {
        merge.bead: merge.tip.commit
        for merge in standing
        if merge.bead in known and (merge.tip.commit in told or (is_clone and is_younger(merge, known[merge.bead])))
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
        notes="The text of this bead is lost. The bead's other facts come from the record of its merge.",
        created_at=at,
        updated_at=at,
    )
    return lifecycle.merged(known, merge.tip.commit)


def _facts(record: Record) -> Record:
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


# The rebuilt database is complete before it takes the old one's place, and the old one is kept beside it. A bead that
# the records call live and main has merged is done, unless that merge was taken back or built on again. Nobody works on
# anything: processes of an earlier daemon are ended, and work that was handed in goes back to a Doer, or to a Test
# Writer where the proven tests are gone. Events are not rebuilt; branches are under refs/nobrakes and stay there.
ACTOR = "nobrakes"
LOST_TOO = (
    "beads.since.jsonl was missing too: changes since the snapshot, questions, answers and settings are lost, "
    "and attempts are restored only from the records of merges"
)
WORKSPACES_TOO = (
    "the workspaces were missing too: work that agents had not handed in is lost, and their beads start again. If a "
    "sparse checkout removed the workspaces, type `git sparse-checkout add .nobrakes` and `nobrakes init`, and commit "
    "the .gitignore"
)
MAX_NAMED = 20
REBUILD_TIMEOUT_SECONDS = 20.0


@frozen
class Rebuilt:
    """`problems`: unusable data; `old`: the old database. `later`: beads changed since the snapshot. `open`:
    escalations. `ended`: ended runs. `attempts`: restored ones. `is_without`: the file of changes was missing too.
    `alone`: beads known only from evidence. `no_workspaces`: their folder was missing."""

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
    no_workspaces: bool = False


def rebuild(paths: Paths, git: Git | None) -> Rebuilt:
    """Rebuild the database; no `git`: without main and refs. DaemonRunning; StoreNewer: it would lose data."""
    from ..db.database import require_not_newer

    with DaemonLock(paths.lock):
        if os.path.isfile(paths.database):
            require_not_newer(paths.database)
        return rebuild_with_lock(paths, git)


def make_missing(paths: Paths, git: Git, say: Callable[[str], None]) -> None:
    """Create a missing database. StoreBroken: a daemon still uses a removed one."""
    deadline = time.monotonic() + REBUILD_TIMEOUT_SECONDS
    while not os.path.lexists(paths.database):
        try:
            with DaemonLock(paths.lock):
                if os.path.lexists(paths.database):
                    return
                made = rebuild_with_lock(paths, git)
        except DaemonRunning:
            poke(paths.wake, "person")  # a daemon that looks sees that its database is gone, and ends
            if time.monotonic() > deadline:
                raise StoreBroken(
                    f"the database is missing, but process {holder(paths.lock) or '?'} still uses it",
                    "Stop the daemon with `nobrakes daemon stop`; the next command then rebuilds the database.",
                ) from None
            time.sleep(0.05)
            continue
        say(f"the database was missing, so nobrakes rebuilt it; {'; '.join(told(made))}")
        return


def told(made: Rebuilt) -> list[str]:
    """What was done, for a person."""
    merged = f"; {count(len(made.merged), 'bead was', 'beads were')} merged after the snapshot" if made.merged else ""
    lines = [f"{count(made.beads, 'bead was', 'beads were')} read from the snapshot{merged}"]
    if made.later:
        lines.append(f"{count(made.later, 'bead')} had changed since the snapshot")
    if made.open:
        lines.append(count(made.open, "open escalation restored", "open escalations restored"))
    if made.attempts:
        left = "" if made.no_workspaces else ", with their workspaces"
        lines.append(count(made.attempts, "attempt restored", "attempts restored") + left)
    if made.alone:
        names = ", ".join(made.alone[:MAX_NAMED]) + (", …" if len(made.alone) > MAX_NAMED else "")
        known = count(len(made.alone), "done bead restored", "done beads restored")
        lines.append(f"{known} only from the records of their merges: {names}")
    if made.is_without:
        lines.append(LOST_TOO)
    if made.no_workspaces:
        lines.append(WORKSPACES_TOO)
    if made.ended:
        lines.append(f"nobrakes ended leftover processes of an earlier daemon: {', '.join(made.ended)}")
    if made.old:
        lines.append(f"the old database is saved as {made.old}")
    return [*lines, *made.problems]


def rebuild_with_lock(
    paths: Paths, git: Git | None, attempts: int = 0, pushed: frozenset[str] = frozenset()
) -> Rebuilt:
    """The caller holds the daemon's lock. `attempts`: the least number of the last attempt; `pushed`: commits of merges
    that no evidence names yet."""
    from ..store import create_store

    had_workspaces = os.path.lexists(paths.workspaces)
    for folder in (paths.runs, paths.wake, paths.workspaces, paths.scratch):
        private_folder(folder)
    ended = end_all(paths.wake)
    sources = gather(paths, git, landed=pushed)
    is_without = bool(sources.refs) and not os.path.lexists(paths.since)  # a clone never had one
    found, landed, problems = restorable(sources, git)
    found = replace(found, attempts=max(attempts, last_attempt(os.listdir(paths.runs))))
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
        shorten(store, paths, Position())
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
        bool(sources.refs) and not had_workspaces,
    )


def restorable(sources: Sources, git: Git | None) -> tuple[Restored, list[str], list[str]]:
    """A database's new content, beads done by a merge on main, and problems."""
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
        problems.append(f"{circle.cut.bead} waited for {circle.cut.needs} in a circle: this dependency was removed")
        if circle.cut in dependencies:
            dependencies.remove(circle.cut)
        else:
            beads = [replace(b, epic=None) if b.id == circle.cut.bead else b for b in beads]
    proven = {b.id: tests[b.id] for b in beads if b.id in tests and Status.NEEDS_DOER in (b.status, b.return_to)}
    there = {bead.id for bead in beads}
    by_number = sorted(sources.attempts, key=lambda one: (one.bead, one.number))
    known_ = [*(one for _, one in sorted(sources.since.attempts.items())), *by_number]
    ended = [one for one in known_ if one.bead in there]
    return Restored(beads, dependencies, escalations, sources.since.settings, proven, ended=ended), landed, problems


def _on_epics(refs: Mapping[str, str], git: Git | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if git is not None:
        for epic in (name.removeprefix(f"{EPICS}/") for name in refs if name.startswith(f"{EPICS}/")):
            with contextlib.suppress(GitFailed, NoMain):
                found |= dict.fromkeys(git.with_epic_branch(epic).merged(git.main()), epic)
    return found


def _landed(bead: Bead, merged: Mapping[str, str]) -> Bead:
    if (commit := merged.get(bead.id)) is None or bead.status in CLOSED or commit == bead.merged_commit:
        return bead
    return lifecycle.merged(bead, commit)


def _escalations(sources: Sources, problems: list[str]) -> list[Escalation]:
    known = {bead.id for bead in sources.graph.beads}
    found = []
    for number, one in sorted(sources.since.escalations.items()):
        if one.bead is None or one.bead in known:
            found.append(one)
        else:
            problems.append(f"escalation {number} is about {one.bead}, which does not exist, so nobrakes skipped it")
    return found


def _keep_old(paths: Paths) -> str | None:
    """Move the old database with its log, which must not join the next one; returns the new name."""
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


# A database that is older than the file beside it: a copy was put back, or a power cut took the last transactions.
# Whatever only the database has stays. A bead is brought back where its record outside is later, or as old and
# otherwise; escalations and settings are as the file has them. Merges are compared with main by the next start of a
# daemon.
def bring_back(store: "Store", paths: Paths, git: Git | None, beyond: Position) -> str:
    """Restore later data; returns the message. `beyond`: the file's last position. Raises PlanError."""
    sources = gather(paths, git, dump(store.alike()).decode())
    found, _, problems = restorable(sources, git)
    later = [bead for bead in found.beads if bead.id in sources.differing]
    told = store.bring_back(replace(found, beads=later), beyond.seq, ACTOR)
    beads, attempts, asked = (count(told[f"{noun}s"], noun) for noun in ("bead", "attempt", "escalation"))
    text = f"the database was older than the files next to it: {beads}, {attempts} and {asked} were restored"
    return "; ".join([text, *(f"{name} was restored" for name in told["settings"]), *problems])
