"""The values of a plan file as nodes of a plan. docs/reference/plan.md is this module for people.

1. An unknown key is an error, and every problem of the file is told at once, each with its place in it.
2. What a node does not say is not a wish: applied again, it leaves that field of the bead as it is.
3. `key` names a node inside its file only; the bead then gets an id of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..core.bead import MAX_TITLE, BeadType, is_bead_id, parse_type
from ..core.errors import BadBead, PlanError
from ..interop.words import CLOSED_WORDS, OPEN_WORDS, SET_ASIDE_WORDS, moment

MAX_PROBLEMS = 100
MAX_TEXT = 1_000_000
_DURATION = re.compile(r"(?:(\d{1,4})\s*h)?\s*(?:(\d{1,5})\s*m(?:in)?)?", re.IGNORECASE)

StatusWord = Literal["draft", "live", "done", "cancelled"]


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One bead as a plan wants it. `fields` are Bead's content fields that the plan names.

    `needs`, `related` and `discovered_from` are ids or keys; None: the plan does not say.
    """

    where: str
    id: str | None
    key: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] | None = None
    related: tuple[str, ...] | None = None
    discovered_from: tuple[str, ...] | None = None
    status: StatusWord | None = None
    hold: str | None = None
    defer_until: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # what a record of another tool says that happened

    @property
    def name(self) -> str:
        """What the plan calls it."""
        return str(self.id or self.key or self.where)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the graph should be. `problems` are what a tolerant reader could not take over."""

    nodes: tuple[PlanNode, ...]
    live: bool = False
    source: str = "plan"
    problems: tuple[str, ...] = ()


def _id(value: Any) -> Any:
    if isinstance(value, str) and not is_bead_id(value):
        raise ValueError("is no id: use 1 to 64 letters, digits, '-', '_' or '.', beginning with a letter or digit")
    return value


def _type(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return parse_type(value)
        except BadBead as error:
            raise ValueError(f"{error}. {error.hint}") from None
    return value


def _title(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip()
        if any(not c.isprintable() for c in value):
            raise ValueError("has line breaks or control characters; a title is one line")
    return value


def _acceptance(value: Any) -> Any:
    if isinstance(value, str):
        return [line.strip().removeprefix("- ").strip() for line in value.splitlines() if line.strip(" -\t")]
    return value


def _estimate(value: Any) -> Any:
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip())
        if not found or not any(found.groups()):
            raise ValueError("is no duration: use minutes, or texts like '45m', '2h', '1h30m'")
        return int(found[1] or 0) * 60 + int(found[2] or 0)
    return value


def _moment(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return moment(value)
        except (ValueError, OverflowError):
            raise ValueError("is no time: use ISO 8601, like '2030-01-31T09:00:00Z'") from None
    if hasattr(value, "isoformat"):  # YAML reads dates by itself
        return moment(value.isoformat())
    return value


def _status(value: Any) -> Any:
    if isinstance(value, str):
        word = value.strip().lower()
        if word in CLOSED_WORDS:
            return "done"
        return None if word in OPEN_WORDS or word in SET_ASIDE_WORDS else word
    return value


Id = Annotated[str, BeforeValidator(_id)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Texts = tuple[Text, ...]


class Node(BaseModel):
    """One entry of `beads`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    id: Id | None = None
    key: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    title: Annotated[str, BeforeValidator(_title), Field(min_length=1, max_length=MAX_TITLE)] | None = None
    type: Annotated[BeadType, BeforeValidator(_type)] | None = None
    description: Text | None = None
    acceptance: Annotated[Texts, BeforeValidator(_acceptance)] | None = None
    priority: Annotated[int, Field(ge=0, le=4, strict=True)] | None = None
    labels: Texts | None = None
    epic: str | None = None
    estimate: Annotated[int, BeforeValidator(_estimate), Field(gt=0, lt=1_000_000, strict=True)] | None = None
    needs_tests: Annotated[bool, Field(strict=True)] | None = None
    scaffolding: Annotated[bool, Field(strict=True)] | None = None
    touches: Texts | None = None
    notes: Text | None = None
    metadata: dict[str, Any] | None = None
    needs: Texts | None = None
    related: Texts | None = None
    discovered_from: Texts | None = None
    status: Annotated[StatusWord | None, BeforeValidator(_status)] = None
    hold: Annotated[str, Field(max_length=2000)] | None = None
    defer_until: Annotated[float, BeforeValidator(_moment)] | None = None


class File(BaseModel):
    """A whole plan file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    live: Annotated[bool, Field(strict=True)] = False
    beads: tuple[Node, ...]


_NOT_FIELDS = frozenset({"id", "key", "needs", "related", "discovered_from", "status", "hold", "defer_until"})
_MAY_BE_NULL = frozenset({"epic", "estimate"})


def _place(parts: tuple[Any, ...]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the file"


def _problems(error: ValidationError) -> list[str]:
    found = []
    for problem in error.errors():
        what = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            what = "is no key of a plan"
        elif problem["type"] == "missing":
            what = "is missing"
        found.append(f"{_place(problem['loc'])}: {what}")
    return list(dict.fromkeys(found))


def refused(source: str, problems: list[str]) -> PlanError:
    """The error that tells every problem of a plan."""
    shown = problems[:MAX_PROBLEMS]
    if len(problems) > MAX_PROBLEMS:
        shown.append(f"… and {len(problems) - MAX_PROBLEMS} more")
    return PlanError("\n".join(f"{source}: {text}" for text in shown))


def _node(place: int, found: Node, raw: Any) -> PlanNode:
    given = {
        name: getattr(found, name)
        for name in sorted(found.model_fields_set - _NOT_FIELDS)
        if getattr(found, name) is not None or name in _MAY_BE_NULL
    }
    if "labels" in given:
        given["labels"] = tuple(dict.fromkeys(given["labels"]))
    hold = found.hold
    word = str(raw.get("status", "")).strip().lower()
    if hold is None and word in SET_ASIDE_WORDS and found.defer_until is None:
        hold = word
    return PlanNode(
        f"beads[{place}]",
        found.id,
        found.key,
        given,
        found.needs,
        found.related,
        found.discovered_from,
        found.status,
        hold,
        found.defer_until,
    )


def plan_of(value: Any, source: str) -> Plan:
    """The plan in a file's values: a mapping with `beads`, or a bare list of beads. PlanError names all problems."""
    if isinstance(value, list):
        value = {"beads": value}
    if not isinstance(value, dict):
        raise PlanError(f"{source}: it is no plan: a mapping with 'beads' is expected")
    try:
        file = File.model_validate(value)
    except ValidationError as error:
        raise refused(source, _problems(error)) from None
    nodes = tuple(_node(place, node, value["beads"][place]) for place, node in enumerate(file.beads))
    problems = _names(nodes)
    if problems:
        raise refused(source, problems)
    return Plan(nodes, file.live, source)


def _names(nodes: tuple[PlanNode, ...]) -> list[str]:
    """Names that are there twice."""
    problems = []
    seen: dict[str, str] = {}
    for node in nodes:
        for name in {node.id, node.key} - {None}:
            assert name is not None
            if name in seen:
                problems.append(f"{node.where}: '{name}' is there already, at {seen[name]}")
            seen.setdefault(name, node.where)
    return problems
