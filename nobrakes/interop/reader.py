"""Beads JSONL, in: tolerant of what real files hold, and silent about nothing that it could not take over.

1. Conflict markers refuse the file: somebody has to decide first. Everything else is read as far as it goes, and
   what was not taken over is a problem that names its line.
2. Of two records with one id the last counts, as an import into Beads does. Tombstones are left out.
3. Keys and dependencies that mean nothing here are kept verbatim in `metadata["x_beads"]`, so that writing the graph
   again loses nothing. Computed keys are dropped.
4. Only beads of this file are depended on: an edge that leads out of it is reported and kept as a remark.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..core.beads.bead import Bead, Dependency, DependencyType, is_bead_id
from ..core.beads.imported import KEPT
from ..core.errors import PlanError
from .reading import Reading, one_line
from .words import DEPENDENCY_WORDS, EXACT_DEPENDENCY_WORDS, TOMBSTONE

MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file held. `lines` says for each bead on which line it stood; `exact`, which came from nobrakes."""

    beads: tuple[Bead, ...]
    dependencies: tuple[Dependency, ...]
    problems: tuple[str, ...]
    lines: Mapping[str, int]
    exact: frozenset[str]


def _edges(reading: Reading, bead: Bead, known: Mapping[str, str]) -> tuple[Bead, list[Dependency]]:
    """The bead with its epic, and its dependencies; what means nothing here goes into `reading.kept`."""
    found: list[Dependency] = []
    rest: list[Any] = []
    raw = reading.raw.get("dependencies") or []
    for edge in raw if isinstance(raw, list) else [raw]:
        word = str(edge.get("type") or "blocks") if isinstance(edge, dict) else ""
        needs = edge.get("depends_on_id") if isinstance(edge, dict) else None
        kind = DEPENDENCY_WORDS.get(word)
        if not isinstance(needs, str) or edge.get("issue_id", bead.id) != bead.id:
            reading.problem("a dependency of it is not understood: kept as a remark")
            rest.append(edge)
        elif kind is None:
            reading.problem(f"the dependency '{word[:40]}' on {needs[:64]} is of an unknown type: kept as a remark")
            rest.append(edge)
        elif needs not in known or needs == bead.id:
            where = "itself" if needs == bead.id else f"{needs[:64]}, which is not in the file"
            reading.problem(f"it depends ({word}) on {where}: kept as a remark")
            rest.append(edge)
        elif kind is DependencyType.PARENT_CHILD and bead.epic not in (None, needs):
            reading.problem(f"it has a second parent, {needs}: kept as a remark")
            rest.append(edge)
        else:
            needs = known[needs]
            if word not in EXACT_DEPENDENCY_WORDS:
                reading.problem(f"the dependency '{word}' on {needs} is read as '{kind.value}'")
            if kind is DependencyType.PARENT_CHILD:
                bead = replace(bead, epic=needs)
            else:
                found.append(Dependency(bead.id, needs, kind))
    if rest:
        reading.kept["dependencies"] = rest
    return bead, found


def records(text: str, where: str, problems: list[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """The last record of each id, with its line; PlanError for conflict markers."""
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, raw in _records(text.split("\n"), where, problems):
        if raw["id"] in found:
            problems.append(_twice(number, raw["id"]))
        found[raw["id"]] = (number, raw)
    return found


def _records(lines: Iterable[str], where: str, problems: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each record that can be taken over, with its line; PlanError for conflict markers."""
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line:
            continue
        if line.startswith(MARKERS):
            raise PlanError(f"{where}:{number}: git's conflict markers are in the file", "Resolve the merge first.")
        try:
            raw = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: not JSON ({error}): left out")
            continue
        if not isinstance(raw, dict) or raw.get("_type") not in (None, "issue"):
            problems.append(f"line {number}: not a bead: left out")
        elif not isinstance(raw.get("id"), str) or not is_bead_id(raw["id"]):
            problems.append(f"line {number}: {str(raw.get('id'))[:80]!r} cannot be a bead's id: left out")
        elif not isinstance(raw.get("title"), str) or not one_line(raw["title"]):
            if raw.get("status") != TOMBSTONE:
                problems.append(f"line {number}: {raw['id']}: it has no title: left out")
        else:
            yield number, raw


def _twice(number: int, bead: str) -> str:
    return f"line {number}: {bead} is there twice; the last one counts"


def parse(text: str, where: str = "beads.jsonl") -> Imported:
    """The graph in the text; PlanError only for conflict markers."""
    return parse_lines(lambda: text.split("\n"), where)


def parse_lines(lines: Callable[[], Iterable[str]], where: str) -> Imported:
    """The graph in these lines, which are gone through twice: no record is kept, so a million beads fit into memory.

    PlanError only for conflict markers.
    """
    problems: list[str] = []
    last: dict[str, int] = {}
    deleted: set[str] = set()
    for number, raw in _records(lines(), where, problems):
        if raw["id"] in last:
            problems.append(_twice(number, raw["id"]))
        last[raw["id"]] = number
        (deleted.add if raw.get("status") == TOMBSTONE else deleted.discard)(raw["id"])
    chosen = (
        (number, raw)
        for number, raw in _records(lines(), where, [])
        if last.get(raw["id"]) == number and raw["id"] not in deleted
    )
    return _graph(chosen, _names(last.keys() - deleted), len(deleted), problems)


def graph(given: Mapping[str, tuple[int, dict[str, Any]]], problems: list[str]) -> Imported:
    """The graph of these records; what cannot be taken over goes to `problems`."""
    live = {id_: found for id_, found in given.items() if found[1].get("status") != TOMBSTONE}
    return _graph(live.values(), _names(live), len(given) - len(live), problems)


def _names(ids: Iterable[str]) -> dict[str, str]:
    """Each id to itself: a million beads name each other by one text each."""
    return {id_: id_ for id_ in ids}


def _graph(
    chosen: Iterable[tuple[int, dict[str, Any]]], known: Mapping[str, str], deleted: int, problems: list[str]
) -> Imported:
    if deleted:
        problems.append(f"{deleted} tombstones (deleted beads) are left out")
    read: dict[str, tuple[Bead, list[Dependency]]] = {}
    told: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    exact = set()
    for line, raw in chosen:
        wrong: list[str] = []
        raw["id"] = known[raw["id"]]
        reading = Reading(raw, line, wrong)
        bead, found = _edges(reading, reading.bead(), known)
        metadata = reading.metadata()
        if reading.kept:
            metadata = {**metadata, KEPT: reading.kept}
        read[bead.id] = (replace(bead, metadata=metadata) if metadata else bead, found)
        lines[bead.id] = line
        if wrong:
            told[bead.id] = wrong
        if reading.own:
            exact.add(bead.id)
    ids = sorted(read)
    problems += [text for id_ in sorted(told) for text in told[id_]]
    unique = tuple(dict.fromkeys(edge for id_ in ids for edge in read[id_][1]))
    return Imported(tuple(read[id_][0] for id_ in ids), unique, tuple(problems), lines, frozenset(exact))
