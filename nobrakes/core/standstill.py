"""The beads that stand still and need somebody, or a time, before they go on: facts, as the store reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .beads.bead import Status
from .graph.links import Node

SHOWN = 12
"""So many of each kind are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """At most SHOWN of each kind, by priority and id; `counts` has how many there are, by the field's name.

    `cancelled_blockers`, `cancelled_parents`: pairs of a live bead and what it waits for. `wanted`: the status and the
    type of the beads for which agents will be started, each pair once.
    """

    held: tuple[Node, ...] = ()
    deferred: tuple[Node, ...] = ()
    resting: tuple[Node, ...] = ()
    cancelled_blockers: tuple[tuple[str, str], ...] = ()
    cancelled_parents: tuple[tuple[str, str], ...] = ()
    empty_epics: tuple[str, ...] = ()
    wanted: tuple[tuple[Status, str], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
