"""Beads records as a plan: what another tool, or a snapshot of ours, says the graph is."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...core.beads.bead import CONTENT, Bead, DependencyType, Status, new_bead
from ...interop import beads as interop
from . import files
from .nodes import Plan, PlanNode
from .values import StatusWord

_CLOSED: dict[Status, StatusWord] = {Status.DONE: "done", Status.CANCELLED: "cancelled"}
_TOLD = (*CONTENT, "held", "defer_until", "created_at", "updated_at", "closed_at", "close_reason", "merged_commit")
"""The fields of a bead that come in."""


def plan_of_records(text: str, source: str) -> Plan:
    """The plan that the records stand for. Open ones become drafts like any other; PlanError for conflict markers."""
    return _plan(interop.parse(text, source), source)


def plan_of_file(path: str) -> Plan:
    """The same of a file, which is read line by line: it may be of any size. PlanError."""
    return _plan(interop.parse_lines(partial(files.lines, path), files.shown(path)), files.shown(path))


def _plan(found: interop.Imported, source: str) -> Plan:
    """One object for each bead, and nothing kept beside it: a million of them shall fit into memory."""
    edges: defaultdict[tuple[str, DependencyType], list[str]] = defaultdict(list)
    for dependency in found.dependencies:
        edges[dependency.bead, dependency.type].append(dependency.needs)
    beads, lines, problems = deque(found.beads), found.lines, found.problems
    del found

    def nodes() -> Iterator[PlanNode]:
        while beads:
            bead = beads.popleft()
            yield _node(bead, f"line {lines[bead.id]}", edges)

    return Plan(tuple(nodes()), False, source, problems)


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


def _node(bead: Bead, where: str, edges: dict[tuple[str, DependencyType], list[str]]) -> PlanNode:
    def needs(kind: DependencyType) -> tuple[str, ...]:
        return tuple(sorted(edges.pop((bead.id, kind), ())))

    told = {name: getattr(bead, name) for name in _TOLD}
    if not bead.metadata:
        del told["metadata"]  # one empty one is enough for all
    comes_in = new_bead(bead.id, told)
    return PlanNode(
        where,
        bead.id,
        None,
        _Content(comes_in),
        needs(DependencyType.BLOCKS),
        needs(DependencyType.RELATED),
        needs(DependencyType.DISCOVERED_FROM),
        _CLOSED.get(bead.status),
        bead.held,
        bead.defer_until,
        comes_in,
    )
