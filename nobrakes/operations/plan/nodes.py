"""The values of a plan file as nodes of a plan. docs/reference/plan.md is this, and planmodels, for people.

1. An unknown key is an error, and every problem of the file is told at once, each with its place in it.
2. What a node does not say is not a wish: applied again, it leaves that field of the bead as it is.
3. `key` names a node inside its file only; the bead then gets an id of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.beads.bead import Bead
from ...core.errors import PlanError
from ...interop.words import SET_ASIDE_WORDS
from . import models
from .values import StatusWord

MAX_PROBLEMS = 100


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
    bead: Bead | None = None  # what a record of another tool comes in as, with what it says that happened

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


_MAY_BE_NULL = frozenset({"epic", "estimate"})


def refused(source: str, problems: list[str]) -> PlanError:
    """The error that tells every problem of a plan."""
    shown = problems[:MAX_PROBLEMS]
    if len(problems) > MAX_PROBLEMS:
        shown.append(f"… and {len(problems) - MAX_PROBLEMS} more")
    return PlanError("\n".join(f"{source}: {text}" for text in shown))


def _node(place: int, found: dict[str, Any], raw: Any) -> PlanNode:
    """The node that says `found`, as it stands in the file; what is left of `found` are the bead's fields."""
    take = found.pop
    status, hold, until = take("status", None), take("hold", None), take("defer_until", None)
    if hold is None and until is None and "status" in raw:
        word = str(raw["status"]).strip().lower()
        hold = word if word in SET_ASIDE_WORDS else None
    node = PlanNode(
        f"beads[{place}]",
        take("id", None),
        take("key", None),
        found,
        take("needs", None),
        take("related", None),
        take("discovered_from", None),
        status,
        hold,
        until,
    )
    if None in found.values():
        for name in [name for name, value in found.items() if value is None and name not in _MAY_BE_NULL]:
            del found[name]
    if "labels" in found:
        found["labels"] = tuple(dict.fromkeys(found["labels"]))
    return node


def plan_of(value: Any, source: str) -> Plan:
    """The plan in a file's values: a mapping with `beads`, or a bare list of beads. PlanError names all problems."""
    if isinstance(value, list):
        value = {"beads": value}
    if not isinstance(value, dict):
        raise PlanError(f"{source}: it is no plan: a mapping with 'beads' is expected")
    judged = models.judged(value)
    if isinstance(judged, list):
        raise refused(source, judged)
    live, beads = judged
    nodes = tuple(_node(place, found, value["beads"][place]) for place, found in enumerate(beads))
    problems = _names(nodes)
    if problems:
        raise refused(source, problems)
    return Plan(nodes, live, source)


def _names(nodes: tuple[PlanNode, ...]) -> list[str]:
    """Names that are there twice."""
    problems = []
    seen: dict[str, str] = {}
    for node in nodes:
        for name in (node.id,) if node.key in (None, node.id) else (node.id, node.key):
            if name is None:
                continue
            if name in seen:
                problems.append(f"{node.where}: '{name}' is there already, at {seen[name]}")
            else:
                seen[name] = node.where
    return problems
