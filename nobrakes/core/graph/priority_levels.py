"""How much work waits behind a bead: the b-level, by which the Assigner tells urgent from less urgent.

1. A bead weighs its estimate in minutes, or what is usual where nobody estimated; an epic weighs nothing
   (core.graph.usual).
2. A level is the longest chain of such weights over the moments of core.graph.links: through what the bead blocks,
   through its epic to what that blocks, and from a parent into its children.
3. Closed beads wait for nothing: their level is 0, and they pass nothing on.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..beads.bead import Dependency
from .event_graph import levels_of
from .links import Links, Node
from .usual import Usual, usual_of, weight


@dataclass(frozen=True, slots=True)
class Level:
    """Minutes. `start` is the b-level: the bead and all behind it; `done` is what is behind its end."""

    start: int
    done: int


NOTHING = Level(0, 0)


def levels(links: Links, expected: Usual | None = None) -> dict[str, Level]:
    """Both levels of every bead. Beads in a circle count what is known to be behind them.

    `expected`: what a bead without an estimate takes; None: what the estimates of the others tell.
    """
    expected = expected or usual_of(links.nodes.values())
    reached = levels_of(links.needs, [weight(node.type, node.estimate, expected) for node in links.alive], links.order)
    found = dict.fromkeys(links.nodes, NOTHING)
    for place, node in enumerate(links.alive):
        found[node.id] = Level(reached[2 * place], reached[2 * place + 1])
    return found


def b_levels(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], expected: Usual | None = None
) -> dict[str, int]:
    """The longest estimated chain that waits behind each bead, itself included, in minutes."""
    return {bead: level.start for bead, level in levels(Links(nodes, dependencies), expected).items()}
