"""The moments of core.graph.links as plain numbers: for whole graphs, where an object an edge would be most of the
work.

start(x) and done(x) of the i-th live bead are 2i and 2i + 1. What needs what is the rule of core.graph.links.
"""

from collections.abc import Iterable, Sequence

Needs = list[list[int]]
"""For each moment the moments that it needs."""


def needs_of(
    live: Sequence[tuple[str, bool]], blocks: Iterable[tuple[str, str]], parents: Iterable[tuple[str, str]]
) -> Needs:
    """What each moment needs. `live` are (bead, whether it is an epic); the pairs are (bead, what it depends on).

    Pairs with an end that is not live say nothing.
    """
    start = {bead: 2 * place for place, (bead, _) in enumerate(live)}
    epics = {bead for bead, is_epic in live if is_epic}
    needs: Needs = [[moment - 1] if moment & 1 else [] for moment in range(2 * len(live))]
    for bead, blocker in blocks:
        if bead in start and blocker in start:
            needs[start[bead]].append(start[blocker] + 1)
    for bead, parent in parents:
        if bead in start and parent in start:
            needs[start[bead]].append(start[parent])
            if parent in epics:
                needs[start[parent] + 1].append(start[bead] + 1)
    return needs


def order_of(needs: Sequence[Sequence[int]]) -> list[int]:
    """The moments that can happen, each after all that it needs; those in or behind a circle are left out."""
    missing = [len(row) for row in needs]
    needed_by: Needs = [[] for _ in needs]
    for moment, row in enumerate(needs):
        for needed in row:
            needed_by[needed].append(moment)
    order = [moment for moment, count in enumerate(missing) if not count]
    for moment in order:  # it grows meanwhile
        for waiting in needed_by[moment]:
            missing[waiting] -= 1
            if not missing[waiting]:
                order.append(waiting)
    return order


def levels_of(needs: Sequence[Sequence[int]], weights: Sequence[int], order: Sequence[int] | None = None) -> list[int]:
    """The heaviest chain behind each moment, `weights` being those of the beads. In a circle: what is known of it.

    `order`: what `order_of` says, where somebody asked already.
    """
    order = order_of(needs) if order is None else order
    stuck = sorted(set(range(len(needs))).difference(order), reverse=True) if len(order) < len(needs) else []
    reached = [0] * len(needs)
    for moment in [*stuck, *reversed(order)]:
        behind = reached[moment]
        for needed in needs[moment]:
            # only a bead's own end follows from its own beginning, and takes its time
            far = behind + weights[moment >> 1] if needed == moment - 1 and moment & 1 else behind
            if far > reached[needed]:
                reached[needed] = far
    return reached


def chains_ahead(needs: Sequence[Sequence[int]], weights: Sequence[int]) -> list[int]:
    """The heaviest chain in front of each moment: of a start when it can be, of an end when that can be."""
    # seen from the other side an end is a start: what is ahead of a moment is what is behind its mirror
    mirrored: Needs = [[] for _ in needs]
    for moment, row in enumerate(needs):
        for needed in row:
            mirrored[needed ^ 1].append(moment ^ 1)
    behind = levels_of(mirrored, weights)
    return [behind[moment ^ 1] for moment in range(len(needs))]
