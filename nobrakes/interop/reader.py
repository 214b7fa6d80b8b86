"""Beads JSONL, in: tolerant of what real files hold, and silent about nothing that it could not take over.

1. Conflict markers refuse the file: somebody has to decide first. Everything else is read as far as it goes, and
   what was not taken over is a problem that names its line.
2. Of two records with one id the last counts, as an import into Beads does. Tombstones are left out.
3. Keys and dependencies that mean nothing here are kept verbatim in `metadata["x_beads"]`, so that writing the graph
   again loses nothing. Computed keys are dropped.
4. Only beads of this file are depended on: an edge that leads out of it is reported and kept as a remark.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..core.bead import (
    MAX_TITLE,
    Bead,
    BeadType,
    Dependency,
    DependencyType,
    Status,
    first_status,
    is_bead_id,
    parse_type,
)
from ..core.errors import BadBead, PlanError
from .words import (
    CLOSED_WORDS,
    DEPENDENCY_WORDS,
    EXACT_DEPENDENCY_WORDS,
    OPEN_WORDS,
    SET_ASIDE_WORDS,
    TOMBSTONE,
    moment,
)

KEPT = "x_beads"
COMPUTED = frozenset({"_type", "dependency_count", "dependent_count", "comment_count", "parent", "content_hash"})
UNDERSTOOD = frozenset(
    [
        "id",
        "title",
        "description",
        "acceptance_criteria",
        "notes",
        "status",
        "priority",
        "issue_type",
        "assignee",
        "estimated_minutes",
        "labels",
        "dependencies",
        "created_at",
        "updated_at",
        "closed_at",
        "close_reason",
        "defer_until",
        "metadata",
        "x_nobrakes",
    ]
)
MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file held. `lines` says for each bead on which line it stood; `exact`, which came from nobrakes."""

    beads: tuple[Bead, ...]
    dependencies: tuple[Dependency, ...]
    problems: tuple[str, ...]
    lines: Mapping[str, int]
    exact: frozenset[str]


def one_line(text: str) -> str:
    """The text with every run of spaces, line breaks and control characters as one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


class _Reading:
    """One record being read; collects its problems."""

    def __init__(self, raw: dict[str, Any], line: int, problems: list[str]) -> None:
        self.raw = raw
        self.line = line
        self.problems = problems
        own = raw.get("x_nobrakes")
        self.own: dict[str, Any] = own if isinstance(own, dict) else {}
        self.kept = {k: v for k, v in raw.items() if k not in UNDERSTOOD and k not in COMPUTED and v is not None}

    def problem(self, text: str) -> None:
        self.problems.append(f"line {self.line}: {self.raw.get('id', '?')}: {text}")

    def text(self, key: str) -> str:
        value = self.raw.get(key)
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        self.problem(f"{key} is not a text: left out")
        return ""

    def texts(self, source: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = source.get(key)
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.problem(f"{key} is not a list of texts: left out")
        return ()

    def time(self, key: str) -> float | None:
        value = self.raw.get(key)
        if value in (None, ""):
            return None
        try:
            return moment(value)
        except (ValueError, OverflowError):
            self.problem(f"{key} is not a time: left out")
            return None

    def title(self) -> str:
        title = self.text("title")
        clean = one_line(title)
        if len(clean) > MAX_TITLE or any(not c.isprintable() for c in title):
            self.problem("its title was made one printable line of at most 500 characters")
            return clean[:MAX_TITLE].rstrip()
        return title

    def priority(self) -> int:
        value = self.raw.get("priority", 2)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4:
            return value
        self.problem(f"priority {value!r:.40} is not 0 to 4: 2 is taken")
        return 2

    def estimate(self) -> int | None:
        value = self.raw.get("estimated_minutes")
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.problem(f"estimated_minutes {value!r:.40} is no number above 0: left out")
        return None

    def type(self) -> BeadType:
        word = self.own.get("type") or self.raw.get("issue_type") or "task"
        try:
            return parse_type(str(word))
        except BadBead:
            self.problem(f"type '{str(word)[:40]}' is not known: it becomes a task, and comes in held")
            self.kept["issue_type_was"] = word
            return BeadType.TASK

    def count(self, key: str) -> int:
        value = self.own.get(key, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0

    def metadata(self) -> dict[str, Any]:
        value = self.raw.get("metadata")
        if isinstance(value, str):
            try:
                value = json.loads(value) if value else {}
            except ValueError:
                value = {"text": value}
        if value is not None and not isinstance(value, dict):
            value = {"value": value}
        return value or {}

    def acceptance(self) -> tuple[str, ...]:
        if "acceptance" in self.own:
            return self.texts(self.own, "acceptance")
        return tuple(line.strip() for line in self.text("acceptance_criteria").splitlines() if line.strip())

    def status(self, bead: Bead) -> Bead:
        """The bead with its status, and held where somebody had set it aside."""
        word = str(self.own.get("status", ""))
        if word in Status.__members__.values():
            return replace(bead, status=Status(word))
        word = str(self.raw.get("status") or "open")
        if word in CLOSED_WORDS:
            return replace(bead, status=Status.DONE)
        bead = replace(bead, status=first_status(bead))
        if "issue_type_was" in self.kept:
            return replace(bead, held=f"type {self.kept['issue_type_was']}"[:80])
        if word in SET_ASIDE_WORDS and bead.defer_until is None and bead.held is None:
            return replace(bead, held=word)
        if word not in OPEN_WORDS and word not in SET_ASIDE_WORDS:
            self.problem(f"status '{word[:40]}' is not known: it comes in held")
            return replace(bead, held=word)
        return bead

    def bead(self) -> Bead:
        own = self.own
        held = own.get("held")
        commit = own.get("merged_commit")
        bead = Bead(
            id=self.raw["id"],
            title=self.title(),
            type=self.type(),
            description=self.text("description"),
            acceptance=self.acceptance(),
            priority=self.priority(),
            labels=tuple(dict.fromkeys(self.texts(self.raw, "labels"))),
            estimate=self.estimate(),
            needs_tests=own.get("needs_tests") is not False,
            scaffolding=own.get("scaffolding") is True,
            touches=self.texts(own, "touches"),
            notes=self.text("notes"),
            held=held if isinstance(held, str) else None,
            defer_until=self.time("defer_until"),
            created_at=self.time("created_at") or 0.0,
            updated_at=self.time("updated_at") or 0.0,
            closed_at=self.time("closed_at"),
            close_reason=self.text("close_reason"),
            failures=self.count("failures"),
            merged_commit=commit if isinstance(commit, str) else None,
        )
        return self.status(bead)


def _edges(reading: _Reading, bead: Bead, known: frozenset[str]) -> tuple[Bead, list[Dependency]]:
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
            if word not in EXACT_DEPENDENCY_WORDS:
                reading.problem(f"the dependency '{word}' on {needs} is read as '{kind.value}'")
            if kind is DependencyType.PARENT_CHILD:
                bead = replace(bead, epic=needs)
            else:
                found.append(Dependency(bead.id, needs, kind))
    if rest:
        reading.kept["dependencies"] = rest
    return bead, found


def _records(text: str, where: str, problems: list[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """The last record of each id, with its line; PlanError for conflict markers."""
    records: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
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
            if raw["id"] in records:
                problems.append(f"line {number}: {raw['id']} is there twice; the last one counts")
            records[raw["id"]] = (number, raw)
    return records


def parse(text: str, where: str = "beads.jsonl") -> Imported:
    """The graph in the text; PlanError only for conflict markers."""
    problems: list[str] = []
    records = _records(text, where, problems)
    live = {id_: found for id_, found in records.items() if found[1].get("status") != TOMBSTONE}
    if len(live) < len(records):
        problems.append(f"{len(records) - len(live)} tombstones (deleted beads) are left out")
    known = frozenset(live)
    beads: list[Bead] = []
    dependencies: list[Dependency] = []
    exact = set()
    for id_ in sorted(live):
        line, raw = live[id_]
        reading = _Reading(raw, line, problems)
        bead, found = _edges(reading, reading.bead(), known)
        metadata = reading.metadata()
        if reading.kept:
            metadata = {**metadata, KEPT: reading.kept}
        beads.append(replace(bead, metadata=metadata))
        dependencies += found
        if reading.own:
            exact.add(id_)
    lines = {id_: line for id_, (line, _) in live.items()}
    unique = tuple(dict.fromkeys(dependencies))
    return Imported(tuple(beads), unique, tuple(problems), lines, frozenset(exact))
