"""The whole graph as the store has it, read at once."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...core.beads.bead import Dependency, DependencyType
from ...core.graph.links import Links, Node
from .. import rows
from ..database import Database

node_of_places: Callable[[tuple[Any, ...]], Node] = partial(tuple.__new__, Node)
_DEPENDENCY: Callable[[tuple[Any, ...]], Dependency] = partial(tuple.__new__, Dependency)
"""What `_make` does, without its look at the length: a whole graph is tens of thousands of them."""


def all_nodes(db: Database) -> list[Node]:
    """Every bead without its texts, by id order."""
    statuses = rows.STATUSES
    return list(
        map(node_of_places, [(row[0], statuses[row[1]], *row[2:]) for row in db.plain(f"{rows.NODE} ORDER BY id")])
    )


def nodes_of(db: Database, beads: Iterable[str]) -> list[Node]:
    """Those of these beads that are there, without their texts."""
    found = db.plain(f"{rows.NODE} WHERE beads.id IN (SELECT value FROM json_each(?))", (json.dumps([*beads]),))
    return [rows.plain_node(row) for row in found]


def all_dependencies(db: Database) -> list[Dependency]:
    """Every dependency, the parents as rows, sorted."""
    # in the order in which the table lies, and sorted here: nearly sorted is sorted in no time
    found = db.plain("SELECT bead, needs, type FROM edges ORDER BY bead, type, needs")
    found += db.plain("SELECT id, epic, 'parent-child' FROM beads WHERE epic IS NOT NULL")
    found.sort()
    types = {type_.value: type_ for type_ in DependencyType}
    return list(map(_DEPENDENCY, [(bead, needs, types[word]) for bead, needs, word in found]))


def all_links(db: Database) -> Links:
    """The whole graph."""
    return Links(all_nodes(db), all_dependencies(db))
