"""Beads JSONL, in: tolerant of real files, and every loss is reported.

1. Conflict markers refuse the file. Otherwise all that is usable is read, and the rest is a problem with its line.
2. Of two records with one id the last counts, as in Beads. Tombstones are left out.
3. Unknown keys and dependencies are kept in `metadata["x_beads"]`, so that writing loses nothing. Computed keys are
   dropped.
4. Only beads of this file are depended on: other edges are reported and kept as a remark.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ..beads import lifecycle, model
from ..beads.branches import MAX_PATTERN, is_branch_name
from ..beads.progress import KEPT
from ..beads.proposals import sound
from ..decisions.forms import as_values, form
from ..decisions.model import Escalation, EscalationType
from ..errors import BadBead, PlanError, UsageError
from ..events.kinds import MARKS_BEGIN
from ..records import frozen
from ..text.cleaning import count, first_of
from .beads_jsonl import ATTEMPT, ATTEMPT_KEYS, ESCALATION, MAX_TEXT, OURS, SETTINGS, TEXTS, TIMESTAMPS, written

# A word that is not in its table is reported by the reader and never guessed.
CLOSED_WORDS = frozenset({"closed", "done", "completed", "resolved"})
OPEN_WORDS = frozenset({"open", "in_progress", "hooked", "review", "in_review", "pending", "todo"})
HELD_WORDS = frozenset({"blocked", "deferred", "pinned"})
TOMBSTONE = "tombstone"
MAX_DEPTH = 64

DEPENDENCY_WORDS: Mapping[str, model.DependencyType] = {
    **{kind.value: kind for kind in model.DependencyType},
    "blocked-by": model.DependencyType.BLOCKS,
    "conditional-blocks": model.DependencyType.BLOCKS,
    "waits-for": model.DependencyType.BLOCKS,
    "parent_child": model.DependencyType.PARENT_CHILD,
    "discovered_from": model.DependencyType.DISCOVERED_FROM,
    "relates-to": model.DependencyType.RELATED,
    "relates_to": model.DependencyType.RELATED,
}
EXACT_DEPENDENCY_WORDS = frozenset(kind.value for kind in model.DependencyType) | {"relates-to"}


def moment(text: object) -> float:
    """Seconds since 1970 of an ISO 8601 time, nanoseconds too; UTC without a zone. ValueError, if unwritable too."""
    if not isinstance(text, str):
        raise ValueError("the time is not text")
    found = text.strip().replace(" ", "T", 1)
    if "." in found:
        head, _, rest = found.partition(".")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        found = f"{head}.{digits[:6].ljust(6, '0')}{rest[len(digits) :]}"
    when = datetime.fromisoformat(found)
    seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    written(seconds)
    return seconds


COMPUTED = frozenset({"_type", "dependency_count", "dependent_count", "comment_count", "parent", "content_hash"})
UNDERSTOOD = frozenset(
    (
        *("id", "title", "description", "acceptance_criteria", "notes", "status", "priority", "issue_type", "assignee"),
        *("estimated_minutes", "labels", "dependencies", "created_at", "updated_at", "closed_at", "close_reason"),
        *("defer_until", "metadata", "x_nobrakes"),
    )
)
"""Keys that correspond to a bead's field."""


def one_line(text: str) -> str:
    return " ".join((text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)).split())


class Reading:
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
        """A field that is a text."""
        if (value := self.raw.get(key)) is None:
            return ""
        if isinstance(value, str):
            return value
        self.problem(f"{key} is not text: ignored")
        return ""

    def texts(self, source: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """A field that is a list of texts."""
        if (value := source.get(key)) is None:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.problem(f"{key} is not a list of texts: ignored")
        return ()

    def time(self, key: str) -> float | None:
        if (value := self.raw.get(key)) in (None, ""):
            return None
        try:
            return moment(value)
        except (ValueError, OverflowError):
            self.problem(f"{key} is not a time: ignored")
            return None

    def title(self) -> str:
        """The title as one printable line of at most 500 characters."""
        title = self.text("title")
        clean = one_line(title)
        if len(clean) > model.MAX_TITLE or not title.isprintable():
            self.problem("the title was changed to one printable line of at most 500 characters")
            return clean[: model.MAX_TITLE].rstrip()
        return title

    def priority(self) -> int:
        """0 to 4."""
        value = self.raw.get("priority", 2)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4:
            return value
        self.problem(f"priority {value!r:.40} is not between 0 and 4: nobrakes uses 2")
        return 2

    def estimate(self) -> int | None:
        """Minutes above 0."""
        if (value := self.raw.get("estimated_minutes")) is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.problem(f"estimated_minutes {value!r:.40} is not a number above 0: ignored")
        return None

    def type(self) -> model.BeadType:
        word = self.own.get("type") or self.raw.get("issue_type") or "task"
        try:
            return model.parse_type(str(word))
        except BadBead:
            self.problem(f"type '{str(word)[:40]}' is unknown: the bead becomes a task, and is held")
            self.kept["issue_type_was"] = word
            return model.BeadType.TASK

    def ours(self, name: str) -> Any:
        """A field that Beads has none for; a value of another kind says nothing."""
        value, kind, first = self.own[name], model.kind_of(name), model.FIRST[name]
        if kind is tuple:
            return self.texts(self.own, name)
        if kind is int:
            return value if type(value) is int and value >= 0 else first
        return value if isinstance(value, kind) else first

    def metadata(self) -> dict[str, Any]:
        """Seconds since 1970."""
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

    def status(self, bead: model.Bead) -> model.Bead:
        """The bead with its status of nobrakes, else the one that the word of Beads means; unknown words hold it."""
        if (word := str(self.own.get("status", ""))) in model.Status.__members__.values():
            return lifecycle.told(bead, model.Status(word))
        if (word := str(self.raw.get("status") or "open")) in CLOSED_WORDS:
            return lifecycle.closed(bead, model.Status.DONE, bead.closed_at)
        bead = lifecycle.live(bead)
        if "issue_type_was" in self.kept:
            return replace(bead, held=f"type {self.kept['issue_type_was']}"[:80])
        if word in HELD_WORDS and bead.defer_until is None and bead.held is None:
            return replace(bead, held=word)
        if word not in OPEN_WORDS and word not in HELD_WORDS:
            self.problem(f"status '{word[:40]}' is unknown: nobrakes holds the bead")
            return replace(bead, held=word)
        return bead

    def bead(self) -> model.Bead:
        """The whole bead, without its epic and its metadata."""
        own = self.own
        branch = own.get("branch", "")
        is_sound = isinstance(branch, str) and len(branch) <= 2 * MAX_PATTERN and is_branch_name(branch)
        told = {
            "title": self.title(),
            "type": self.type(),
            "description": self.text("description"),
            "acceptance": self.acceptance(),
            "priority": self.priority(),
            "labels": tuple(dict.fromkeys(self.texts(self.raw, "labels"))),
            "estimate": self.estimate(),
            "notes": self.text("notes"),
            "defer_until": self.time("defer_until"),
            "created_at": self.time("created_at") or 0.0,
            "updated_at": self.time("updated_at") or 0.0,
            "closed_at": self.time("closed_at"),
            "close_reason": self.text("close_reason"),
            "branch": branch if is_sound else "",
            "proposed": sound(own.get("proposed")),
        }
        bead = model.new_bead(self.raw["id"], told, {name: self.ours(name) for name in OURS if name in own})
        return self.status(bead)


MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@frozen
class Restored:
    """Data for a database. `tests`: bead -> proven commit; `settings` None: unknown; `ended`: known attempts."""

    beads: Sequence[model.Bead]
    dependencies: Sequence[model.Dependency]
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] | None = None
    tests: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 0
    ended: Sequence[model.Attempt] = ()


@frozen
class Imported:
    """A file's content. `lines`: each bead's line."""

    beads: tuple[model.Bead, ...]
    dependencies: tuple[model.Dependency, ...]
    problems: tuple[str, ...]
    lines: Mapping[str, int]


def _edges(reading: Reading, bead: model.Bead, known: Mapping[str, str]) -> tuple[model.Bead, list[model.Dependency]]:
    found: list[model.Dependency] = []
    rest: list[Any] = []
    raw = reading.raw.get("dependencies") or []
    for edge in raw if isinstance(raw, list) else [raw]:
        word = str(edge.get("type") or "blocks") if isinstance(edge, dict) else ""
        needs = edge.get("depends_on_id") if isinstance(edge, dict) else None
        kind = DEPENDENCY_WORDS.get(word)
        if not isinstance(needs, str) or edge.get("issue_id", bead.id) != bead.id:
            reading.problem("cannot read one of its dependencies: kept as a remark")
            rest.append(edge)
        elif kind is None:
            reading.problem(f"the dependency '{word[:40]}' on {needs[:64]} has an unknown type: kept as a remark")
            rest.append(edge)
        elif needs not in known or needs == bead.id:
            where = "itself" if needs == bead.id else f"{needs[:64]}, which is not in the file"
            reading.problem(f"the bead depends ({word}) on {where}: kept as a remark")
            rest.append(edge)
        elif kind is model.DependencyType.PARENT_CHILD and bead.epic not in (None, needs):
            reading.problem(f"the bead has a second parent, {needs}: kept as a remark")
            rest.append(edge)
        else:
            needs = known[needs]
            if word not in EXACT_DEPENDENCY_WORDS:
                reading.problem(f"the dependency '{word}' on {needs} is read as '{kind.value}'")
            if kind is model.DependencyType.PARENT_CHILD:
                bead = replace(bead, epic=needs)
            else:
                found.append(model.Dependency(bead.id, needs, kind))
    if rest:
        reading.kept["dependencies"] = rest
    return bead, found


def records(text: str, where: str, problems: list[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """The last record of each id with its line. PlanError for conflict markers."""
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, raw in _records(text.split("\n"), where, problems):
        if raw["id"] in found:
            problems.append(repeated(number, raw["id"]))
        found[raw["id"]] = (number, raw)
    return found


def _records(lines: Iterable[str], where: str, problems: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Usable records with their lines. PlanError for conflict markers."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if not (line := line.strip()):
            continue
        if line.startswith(MARKERS):
            raise marked(where, [number, *(other for other, rest in numbered if rest.lstrip().startswith(MARKERS))])
        try:
            raw = decoded(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: skipped, because it is not JSON ({error})")
            continue
        if not isinstance(raw, dict) or raw.get("_type") not in (None, "issue"):
            problems.append(f"line {number}: skipped, because it is not a bead")
        elif not isinstance(raw.get("id"), str) or not model.is_bead_id(raw["id"]):
            problems.append(f"line {number}: {str(raw.get('id'))[:80]!r} is not a valid bead id: skipped")
        elif not isinstance(raw.get("title"), str) or not one_line(raw["title"]):
            if raw.get("status") != TOMBSTONE:
                problems.append(f"line {number}: {raw['id']}: the bead has no title: skipped")
        else:
            yield number, raw


def decoded(line: str) -> Any:
    """A line's value. ValueError, RecursionError: it is not JSON, is nested too deeply, or has half of a character."""
    value = json.loads(line)
    if "\\ud" in line or "\\uD" in line:
        json.dumps(value, ensure_ascii=False).encode()
    level = [value] if line.count("[") + line.count("{") > MAX_DEPTH else []
    for _ in range(MAX_DEPTH):
        level = [b for a in level if isinstance(a, list | dict) for b in (a if isinstance(a, list) else a.values())]
    if level:
        raise ValueError("nested too deeply")
    return value


def marked(where: str, lines: Sequence[int]) -> PlanError:
    """The error for a file with conflict markers in these lines."""
    more = f"; also in line {first_of([*map(str, lines[1:])], 20)}" if lines[1:] else ""
    text = f"{where}:{lines[0]}: the file contains git's conflict markers{more}"
    return PlanError(text, "Resolve the merge first.")


def repeated(number: int, bead: str) -> str:
    return f"line {number}: {bead} appears twice; the last entry is used"


def parse(text: str, where: str = "beads.jsonl") -> Imported:
    return parse_lines(lambda: text.split("\n"), where)


def parse_lines(lines: Callable[[], Iterable[str]], where: str) -> Imported:
    """The graph in lines read twice, so that a million beads fit into memory. PlanError: only conflict markers."""
    problems: list[str] = []
    last: dict[str, int] = {}
    deleted: set[str] = set()
    for number, raw in _records(lines(), where, problems):
        if raw["id"] in last:
            problems.append(repeated(number, raw["id"]))
        last[raw["id"]] = number
        if raw.get("assignee"):
            problems.append(f"not imported: line {number}: {raw['id']}: the assignee {str(raw['assignee'])[:80]}")
        (deleted.add if raw.get("status") == TOMBSTONE else deleted.discard)(raw["id"])
    chosen = (
        (number, raw)
        for number, raw in _records(lines(), where, [])
        if last.get(raw["id"]) == number and raw["id"] not in deleted
    )
    return _graph(chosen, _names(last.keys() - deleted), [last[id_] for id_ in deleted], problems)


def graph(given: Mapping[str, tuple[int, dict[str, Any]]], problems: list[str]) -> Imported:
    live = {id_: found for id_, found in given.items() if found[1].get("status") != TOMBSTONE}
    return _graph(live.values(), _names(live), [given[id_][0] for id_ in given.keys() - live.keys()], problems)


def _names(ids: Iterable[str]) -> dict[str, str]:
    """Shares one text for each id among a million beads."""
    return {id_: id_ for id_ in ids}


def _graph(
    chosen: Iterable[tuple[int, dict[str, Any]]],
    known: Mapping[str, str],
    deleted: Collection[int],
    problems: list[str],
) -> Imported:
    if deleted:
        lines_ = ", ".join(map(str, sorted(deleted)))
        problems.append(f"{count(len(deleted), 'tombstone')} (deleted beads) skipped: line {lines_}")
    read: dict[str, tuple[model.Bead, list[model.Dependency]]] = {}
    told: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    own = set()
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
            own.add(bead.id)
    # a bead that says no time comes after those that do; the lines' order decides between equals
    ids = sorted(read, key=lambda id_: (read[id_][0].created_at or math.inf, lines[id_]))
    last = 0.0
    for id_ in ids:
        bead, found = read[id_]
        if 0 < bead.created_at <= last and id_ not in own:
            bead = replace(bead, created_at=round(last + 1e-5, 6))
            read[id_] = bead, found
        last = bead.created_at
    problems += [text for id_ in sorted(told) for text in told[id_]]
    unique = tuple(dict.fromkeys(edge for id_ in ids for edge in read[id_][1]))
    return Imported(tuple(read[id_][0] for id_ in ids), unique, tuple(problems), lines)


# What changed since the snapshot (beads_jsonl.lines). A torn line is left out and told; it is written again, since its
# mark is missing.
@dataclass
class Since:
    """`records`: bead -> last record; `settings` None: not mentioned."""

    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    escalations: dict[int, Escalation] = field(default_factory=dict)
    attempts: dict[int, model.Attempt] = field(default_factory=dict)
    settings: dict[str, str] | None = None
    notes: list[str] = field(default_factory=list)


def read(text: str, where: str) -> Since:
    """The lines' content; unreadable lines are in `notes`."""
    found = Since()
    of_beads: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if (kind := value.get("_type")) == ESCALATION:
                one = _read_escalation(value)
                found.escalations[one.id] = one
            elif kind == ATTEMPT:
                attempt = ended_read(value)
                found.attempts[attempt.id] = attempt
            elif kind == SETTINGS:
                found.settings = {str(key): str(text) for key, text in value["settings"].items()}
            elif not line.startswith(MARKS_BEGIN):
                of_beads.append(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError):
            found.notes.append(f"{where}:{number}: the line is damaged: skipped")
    twice: list[str] = []
    found.records = {id_: raw for id_, (_, raw) in records("\n".join(of_beads), where, twice).items()}
    return found


def _read_escalation(value: Mapping[str, Any]) -> Escalation:
    texts: dict[str, Any] = {name: str(value.get(name) or "") for name in TEXTS}
    moments: dict[str, Any] = {name: value.get(name) for name in TIMESTAMPS}
    if "form" not in value:  # a line of a version that did not know who had read an answer: it is taken as read
        moments["read_at"] = moments["answered_at"]
    return Escalation(
        id=int(value["id"]),
        type=EscalationType(value["type"]),
        bead=value.get("bead"),
        evidence=dict(value.get("evidence") or {}),
        created_at=float(value.get("created_at") or 0.0),
        answer=value.get("answer"),
        form=as_values(form(value["form"])) if value.get("form") else None,
        value=value.get("value"),
        return_to=model.Status(value["return_to"]) if value.get("return_to") else None,
        **texts,
        **moments,
    )


def ended_read(value: Mapping[str, Any]) -> model.Attempt:
    """The attempt of a record. Raises KeyError, ValueError, TypeError."""
    plain: dict[str, Any] = {name: value[name] for name in ATTEMPT_KEYS if name in value}
    summary, blockers, learnings = (str(value.get(it) or "")[:MAX_TEXT] for it in ("summary", "blockers", "learnings"))
    numbers = {name: int(value.get(name) or 0) for name in ("id", "fence", "tokens")} | {"number": int(value["number"])}
    return model.Attempt(
        **{**plain, **numbers, "cost_usd": float(value.get("cost_usd") or 0.0)},
        role=model.Role(value["role"]),
        token="",
        outcome=model.Outcome(value["outcome"]),
        detail=str(value.get("detail") or "")[:MAX_TEXT],
        log=model.AttemptLog(summary, blockers, learnings, not value.get("dropped")),
        data=dict(value.get("review") or value.get("began") or {}),
    )


def evidence_attempt(bead: str, row: Mapping[str, Any]) -> model.Attempt | None:
    """The attempt in an evidence record, which has no store number; None: not ended."""
    if not row.get("outcome") or row.get("seconds") is None:
        return None
    return ended_read({**row, "bead": bead, "ended_at": float(row["started_at"]) + float(row["seconds"])})
