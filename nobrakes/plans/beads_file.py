"""A file of Beads kept in step with the graph, both ways: `nobrakes sync beads`.

1. Each record is merged three-way (snapshot.record_merge): as at the last sync, as in the file, and with what changed
   here since. What nobody changed keeps its bytes, also other tools' keys, tombstones and memories.
2. New beads of the file become drafts, and changes of live ones wait for approval, as from a plan. A status counts now.
3. What no rule decides stays as it is on both sides, and is told each time.
4. A record that is missing from the file is not written again, and its bead stays. A missing or empty file is restored.
5. The database changes first, then the file, then the record of the sync, so that a killed sync is done again.
"""

import json
import os
import socket
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..beads.model import CLOSED, Bead, BeadRow, Dependency, DependencyType, Status
from ..beads.progress import KEPT
from ..beads.service import bead_commands
from ..db.rows import texts
from ..errors import NobrakesError, StoreBusy, UsageError
from ..files import write_atomic
from ..host.command import is_alive
from ..paths import Paths
from ..records import frozen
from ..snapshot import record_merge as merging
from ..snapshot.beads_jsonl import dump
from ..snapshot.reader import CLOSED_WORDS, DEPENDENCY_WORDS, HELD_WORDS, TOMBSTONE, Imported, graph, parse
from ..snapshot.record_merge import Change, Lines, Record, same, seconds
from . import nodes
from .service import PlanReport, apply_plan, told

if TYPE_CHECKING:
    from ..store import Store

_NAMES = ("issues.jsonl", "beads.jsonl", "bd.jsonl")
_FIELDS = {name: name for name in ("title", "description", "notes", "priority", "labels", "metadata")}
_FIELDS |= {"acceptance_criteria": "acceptance", "issue_type": "type", "estimated_minutes": "estimate"}
_TAKEN = frozenset(("", *_FIELDS, "status", "dependencies", "defer_until"))
_UNWRITTEN = frozenset(("id", "assignee", "created_at", "updated_at"))
_WORKED = frozenset(("in_progress", "hooked"))


@frozen
class BeadsSync:
    """Changes of the file and of the graph, conflicts with the file's value and the bead's; key "": a new bead."""

    file: str
    written: tuple[Change, ...]
    taken: tuple[Change, ...]
    conflicts: tuple[Change, ...]
    notes: tuple[str, ...]
    applied: bool
    plan: PlanReport | None = None


def file_of(paths: Paths, given: str) -> str:
    """The file to keep in step. UsageError: there is none."""
    usual = [os.path.join(paths.root, ".beads", name) for name in _NAMES]
    path = os.path.abspath(given) if given else next(filter(os.path.lexists, usual), usual[0])
    if not os.path.isdir(folder := os.path.dirname(path)) or (not given and os.path.islink(folder)):
        raise UsageError(f"{folder} is not a folder", "Type `bd init`, or name a file with --file.")
    return path


def sync(store: "Store", paths: Paths, path: str, actor: str, live: bool = False, dry_run: bool = False) -> BeadsSync:
    """`live`: as of apply_plan. Raises PlanError, StoreBusy."""
    with nullcontext() if dry_run else _exclusive(os.path.dirname(path)):
        text = "".join(nodes.lines(path)) if os.path.lexists(path) else ""
        base, seen = _last(paths.synced, path)
        theirs = merging.lines_of(text, nodes.shown(path)) if text.strip() else base
        views = _views(store.beads(), store.dependencies(), theirs)
        merged = merging.merge(base, theirs, ours := _ours(base, theirs, seen, views))
        written, taken, file = list[Change](), list[Change](), dict[str, Record]()
        for key, made in merged.lines.items():
            there, here = theirs.records.get(key), ours.records.get(key)
            if (there or here or {}).get("id") == key and not theirs.texts.get(key) == made[0] == ours.texts.get(key):
                written += _differing(key, there, json.loads(made[0]))
                file[key] = json.loads(made[-1])
                if key in views or file[key].get("status") != TOMBSTONE:
                    changed = _differing(key, here if key in views else None, file[key])
                    taken += [one for one in changed if one[1] in _TAKEN]
        gone = [id_ for id_ in views if id_ in base.texts and id_ not in merged.lines]
        notes = [f"{id_} is no longer in the file; here it stays: to cancel it, nobrakes cancel {id_}" for id_ in gone]
        found, named = parse("\n".join(made[-1] for made in merged.lines.values())), {id_ for id_, *_ in taken}
        problems = [text for text in found.problems if named.intersection(text.split(": ")) or ": skipped" in text]
        notes += [*theirs.twice, *problems]
        report = BeadsSync(path, tuple(written), tuple(taken), merged.conflicts, tuple(notes), not dry_run)
        if dry_run:
            return report
        if taken:
            plan = _take(store, taken, file, found, live, actor)
            report = replace(report, notes=(*notes, *plan.problems), plan=plan)
        if written or (merged.lines and not text.strip()):
            if os.path.lexists(path) and "".join(nodes.lines(path)) != text:
                raise StoreBusy(f"{path} changed meanwhile, and was not written", "Type the command again.")
            write_atomic(path, "\n".join([*(made[0] for made in merged.lines.values()), ""]).encode(), None)
        again = {id_ for id_, *_ in merged.conflicts}
        now = {id_: v for id_, v in _views(store.beads(), store.dependencies(), theirs).items() if id_ not in again}
        now |= {id_: seen[id_] for id_ in again if id_ in seen}
        kept = [base.texts.get(key, "") if key in again else made[0] for key, made in merged.lines.items()]
        write_atomic(paths.synced, "\n".join([json.dumps({"file": path, "seen": now}), *kept, ""]).encode())
    return report


@contextmanager
def _exclusive(folder: str) -> Iterator[None]:
    """The lock that the daemon of Beads respects. StoreBusy: another program has it."""
    path, held = os.path.join(folder, ".exclusive-lock"), {"hostname": socket.gethostname(), "pid": os.getpid()}
    with suppress(FileNotFoundError, ValueError, TypeError, KeyError), open(path, encoding="utf-8") as file:
        known = json.loads(file.read(4096))
        if known["hostname"] == held["hostname"] and not is_alive(int(known["pid"])):
            os.unlink(path)
    held |= {"holder": "nobrakes", "started_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "version": __version__}
    try:
        with open(path, "x", encoding="utf-8") as file:
            json.dump(held, file)
    except FileExistsError:
        raise StoreBusy(f"another program has locked {folder}: see {path}", "Type the command again later.") from None
    try:
        yield
    finally:
        os.unlink(path)


def _last(path: str, file: str) -> tuple[Lines, dict[str, Record]]:
    """The file at its last sync, and the beads as they were here then; of another file: nothing."""
    if os.path.lexists(path):
        with open(path, encoding="utf-8") as stored:
            head = json.loads(stored.readline())
            if head["file"] == file:
                return merging.lines_of(stored.read(), path), head["seen"]
    return Lines(), {}


def _views(beads: Iterable[Bead], dependencies: Iterable[Dependency], file: Lines) -> dict[str, Record]:
    """The beads as records of Beads, without nobrakes' own part. A draft that the file brought is open there."""
    edges: defaultdict[str, list[str]] = defaultdict(list)
    for one in dependencies:
        edges[one.bead].append(f"{one.needs} {one.type.value}")

    def rows() -> Iterator[BeadRow]:
        for bead in beads:
            like = replace(bead, metadata={key: value for key, value in bead.metadata.items() if key != KEPT})
            parts = (bead.id, bead.title, bead.description, bead.acceptance, bead.notes, texts(bead.labels))
            yield BeadRow(*parts, bead.estimate, bead.created_at, bead.updated_at, edges[bead.id], like)

    found = {}
    for text in dump(rows()).decode().split("\n")[:-1]:
        record = json.loads(text)
        own, there = record.pop(merging.OWN), file.records.get(record["id"], {})
        if own["status"] == "draft" and "held" not in own and there.get("status", "deferred") != "deferred":
            record["status"] = "open"
        found[record["id"]] = record
    return found


def _ours(base: Lines, theirs: Lines, seen: Mapping[str, Record], views: Mapping[str, Record]) -> Lines:
    """The file at the last sync, with what changed here since: for a bead that was not seen yet, since the file."""
    unseen = [id_ for id_ in views if id_ in theirs.records and id_ not in seen]
    read = graph({id_: (0, dict(theirs.records[id_])) for id_ in unseen}, [])
    seen = {**_views(_held(read.beads, theirs.records), read.dependencies, theirs), **seen}
    made = Lines(dict(base.texts), dict(base.records))
    for id_, view in views.items():
        raw = base.records.get(id_, theirs.records.get(id_, {}))
        if raw or id_ not in seen or _changed(seen[id_], view):
            text, record = base.texts.get(id_, theirs.texts.get(id_, "")), _with_changes(raw, seen.get(id_, {}), view)
            made.records[id_], made.texts[id_] = record, text if record is raw else merging.line(record)
    return replace(made, texts=dict(sorted(made.texts.items())))


def _held(beads: Iterable[Bead], file: Mapping[str, Record]) -> Iterator[Bead]:
    """What somebody works on by the file is held."""
    for bead in beads:
        word = str(file.get(bead.id, {}).get("status"))
        yield replace(bead, held=bead.held or word) if word in _WORKED else bead


def _changed(seen: Record, now: Record) -> list[str]:
    return [key for key in {**seen, **now} if key not in _UNWRITTEN and not same(seen.get(key), now.get(key))]


def _differing(id_: str, before: Record | None, after: Record) -> Iterator[Change]:
    before, after = ({}, {"": after.get("title")}) if before is None else (before, after)
    for key in {**before, **after}:
        if not same(before.get(key), after.get(key)):
            yield id_, key, before.get(key), after.get(key)


def _with_changes(raw: Record, seen: Record, now: Record) -> Record:
    """The file's record with what changed here since it was seen."""
    if not (changed := _changed(seen, now)):
        return raw
    made = {**raw, "updated_at": max(raw.get("updated_at", ""), now["updated_at"], key=seconds)} if raw else {**now}
    for key in changed:
        old, new, there = (one.get(key) or [] for one in (seen, now, raw))
        if key == "dependencies":
            gone = {_edge(one) for one in old} - {_edge(one) for one in new}
            there = [one for one in there if _edge(one) not in gone]
        made[key] = merging.merge_set(key, old, new, there) if key in ("labels", "dependencies") else now.get(key)
    if all(same(made.get(key), raw.get(key)) for key in changed):
        return raw
    return {key: made[key] for key in merging.spliced(list(raw), list(now)) if made.get(key) not in (None, [])}


def _edge(one: Any) -> tuple[str, str]:
    word = str(one.get("type") or "blocks") if isinstance(one, dict) else ""
    return str(one.get("depends_on_id")) if word else "", DEPENDENCY_WORDS.get(word, word)


def _take(
    store: "Store", taken: list[Change], file: Mapping[str, Record], found: Imported, live: bool, actor: str
) -> PlanReport:
    """Bring the file's changes into the database; those that the graph refuses are among the problems."""
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for id_, key, *_ in taken:
        keys[id_].add(key)
    edges: defaultdict[tuple[str, DependencyType], list[str]] = defaultdict(list)
    for edge in found.dependencies:
        edges[edge.bead, edge.type].append(edge.needs)
    wanted = deque[nodes.PlanNode]()
    for bead in _held(found.beads, file):
        if (names := keys.get(bead.id)) is not None:
            node = nodes.file_node(bead, f"line {found.lines[bead.id]}", edges)
            fields: dict[str, Any] = {field: getattr(bead, field) for key, field in _FIELDS.items() if key in names}
            fields |= {"epic": bead.epic} if "dependencies" in names else {}
            lists = node.lists if "dependencies" in names else (None, None, None)
            wanted.append(node if "" in names else nodes.PlanNode(node.place, bead.id, None, fields, *lists))
    made = apply_plan(store, nodes.Plan(wanted), live=live, cut=True, actor=actor, explain=False)
    problems = [f"left out, because beads would wait for each other: {told(circle)}" for circle in made.deadlocks]
    for id_ in [id_ for id_, names in keys.items() if "" not in names]:
        try:
            with store.write():
                _decide(store, id_, file[id_], keys[id_], actor)
        except NobrakesError as error:
            problems.append(f"{id_}: {error}")
    return replace(made, problems=(*made.problems, *problems))


def _decide(store: "Store", id_: str, record: Record, keys: set[str], actor: str) -> None:
    """A status of the file, by the commands that a person would type."""
    bead, word, reason = store.bead(id_), str(record.get("status") or "open"), str(record.get("close_reason") or "")
    if "defer_until" in keys and bead.status not in CLOSED:
        bead_commands.defer(store, id_, seconds(record.get("defer_until")) or None, actor)
    if "status" in keys and (word in CLOSED_WORDS or word == TOMBSTONE):
        if bead.status not in CLOSED:
            is_done = word != TOMBSTONE and bead.status is not Status.DRAFT
            (bead_commands.done if is_done else bead_commands.cancel)(store, id_, reason, actor)
    elif "status" in keys:
        bead = bead_commands.reopen(store, id_, actor, reason) if bead.status in CLOSED else bead
        if word in HELD_WORDS | _WORKED:
            bead_commands.hold(store, id_, word, actor)
        elif bead.held is not None:
            bead_commands.release(store, id_, actor)
