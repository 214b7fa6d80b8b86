"""What waits for what where people merge epics as a whole: to everybody outside a bead is done with its epic.

So epics may wait for each other though no beads do: each needs something of the other that is done only when all of the
other is merged.
"""

from collections.abc import Iterable, Mapping

from ..beads.bead import BeadType, Dependency, DependencyType
from .links import Node


def of_epics(nodes: Iterable[Node], dependencies: Iterable[Dependency]) -> Mapping[Dependency, Dependency]:
    """The dependencies as they bind then, each with the one that it stands for."""
    epics = {node.id: node.epic for node in nodes if node.type != BeadType.EPIC}
    found: dict[Dependency, Dependency] = {}
    for one in dependencies:
        epic = epics.get(one.needs) if one.type is DependencyType.BLOCKS else None
        is_outside = epic is not None and epic not in (one.bead, epics.get(one.bead))
        found.setdefault(Dependency(one.bead, epic) if epic is not None and is_outside else one, one)
    return found
