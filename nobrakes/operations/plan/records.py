"""Beads records as a plan: what another tool, or a snapshot of ours, says the graph is."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...core.beads.bead import CONTENT, Bead, DependencyType, Status
from ...interop import beads as interop
from . import files
from .nodes import Plan, PlanNode
from .values import StatusWord

_CLOSED: dict[Status, StatusWord] = {Status.DONE: "done", Status.CANCELLED: "cancelled"}
_FACTS = ("created_at", "updated_at", "closed_at", "close_reason", "merged_commit")


def plan_of_records(text: str, source: str) -> Plan:
    """The plan that the records stand for. Open ones become drafts like any other; PlanError for conflict markers."""
    return _plan(interop.parse(text, source), source)


def plan_of_file(path: str) -> Plan:
    """The same of a file, which is read line by line: it may be of any size. PlanError."""
    return _plan(interop.parse_lines(partial(files.lines, path), files.shown(path)), files.shown(path))


def _plan(found: interop.Imported, source: str) -> Plan:
    edges: defaultdict[tuple[str, DependencyType], list[str]] = defaultdict(list)
    for dependency in found.dependencies:
        edges[dependency.bead, dependency.type].append(dependency.needs)
    nodes = tuple(_node(bead, f"line {found.lines[bead.id]}", edges) for bead in found.beads)
    return Plan(nodes, False, source, found.problems)


class _Content(Mapping[str, Any]):
    """The content fields of a bead, by name: a dict of them would take twice as much as the bead."""

    __slots__ = ("_bead",)

    def __init__(self, bead: Bead) -> None:
        self._bead = bead

    def __getitem__(self, name: str) -> Any:
        if name not in CONTENT:
            raise KeyError(name)
        return getattr(self._bead, name)

    def __iter__(self) -> Iterator[str]:
        return iter(CONTENT)

    def __len__(self) -> int:
        return len(CONTENT)


def _node(bead: Bead, where: str, edges: Mapping[tuple[str, DependencyType], list[str]]) -> PlanNode:
    def needs(kind: DependencyType) -> tuple[str, ...]:
        return tuple(sorted(edges.get((bead.id, kind), ())))

    return PlanNode(
        where,
        bead.id,
        None,
        _Content(bead),
        needs(DependencyType.BLOCKS),
        needs(DependencyType.RELATED),
        needs(DependencyType.DISCOVERED_FROM),
        _CLOSED.get(bead.status),
        bead.held,
        bead.defer_until,
        {name: getattr(bead, name) for name in _FACTS if getattr(bead, name) not in (None, "", 0.0)},
    )
