"""The graph as it would be with proposed changes in force."""

from collections.abc import Iterable

from ..beads.bead import Dependency, DependencyType
from ..beads.lifecycle import given_up
from ..beads.proposals import CANCEL, ProposedChange
from .links import Node

_IN_GRAPH = ("type", "title", "priority", "estimate", "epic")
"""The fields of a bead that a Node has."""


def overlay(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], changes: Iterable[ProposedChange]
) -> tuple[list[Node], list[Dependency]]:
    """The graph with these changes in force: dependencies without parent-child ones, which are the nodes' epics."""
    after = {node.id: node for node in nodes}
    edges = {one for one in dependencies if one.type is not DependencyType.PARENT_CHILD}
    for change in changes:
        dependency = change.dependency
        if dependency is not None:
            (edges.add if change.after else edges.discard)(dependency)
        elif change.part == CANCEL:
            after[change.bead] = after[change.bead]._replace(status=given_up())
        elif change.part in _IN_GRAPH:
            after[change.bead] = after[change.bead]._replace(**{change.part: change.after})
    known = after.keys()
    kept = [one for one in edges if one.bead in known and one.needs in known]
    whole = [n if n.epic is None or n.epic in known else n._replace(epic=None) for n in after.values()]
    return sorted(whole, key=lambda node: node.id), sorted(kept, key=lambda one: (one.bead, one.type.value, one.needs))
