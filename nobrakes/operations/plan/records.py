"""Beads records as a plan: what another tool, or a snapshot of ours, says the graph is."""

from collections import defaultdict

from ...core.beads.bead import CONTENT, Bead, DependencyType, Status
from ...interop import beads as interop
from .nodes import Plan, PlanNode
from .values import StatusWord

_CLOSED: dict[Status, StatusWord] = {Status.DONE: "done", Status.CANCELLED: "cancelled"}
_FACTS = ("created_at", "updated_at", "closed_at", "close_reason", "merged_commit")


def plan_of_records(text: str, source: str) -> Plan:
    """The plan that the records stand for. Open ones become drafts like any other; PlanError for conflict markers."""
    found = interop.parse(text, source)
    edges: defaultdict[tuple[str, DependencyType], list[str]] = defaultdict(list)
    for dependency in found.dependencies:
        edges[dependency.bead, dependency.type].append(dependency.needs)
    nodes = tuple(_node(bead, f"line {found.lines[bead.id]}", edges) for bead in found.beads)
    return Plan(nodes, False, source, found.problems)


def _node(bead: Bead, where: str, edges: defaultdict[tuple[str, DependencyType], list[str]]) -> PlanNode:
    def needs(kind: DependencyType) -> tuple[str, ...]:
        return tuple(sorted(edges[bead.id, kind]))

    return PlanNode(
        where,
        bead.id,
        None,
        {name: getattr(bead, name) for name in CONTENT},
        needs(DependencyType.BLOCKS),
        needs(DependencyType.RELATED),
        needs(DependencyType.DISCOVERED_FROM),
        _CLOSED.get(bead.status),
        bead.held,
        bead.defer_until,
        {name: getattr(bead, name) for name in _FACTS if getattr(bead, name) not in (None, "", 0.0)},
    )
