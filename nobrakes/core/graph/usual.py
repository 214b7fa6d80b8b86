"""How long a bead takes for which nobody gave an estimate, in the minutes that the estimates of its graph are in.

1. It is the mean of the estimates that are known, none of them counted as more than OUTLIER medians: a chain of unknown
   work then weighs what such a chain does. The median alone is too little, since a few are long, and
   schedules a tenth worse where half of them are missing (benchmarks/scheduling.py).
2. Once LEAST beads of a type were done, what they took tells for that type. People's minutes and agents' minutes are
   not the same: what beads took is scaled by those that had an estimate, too; without LEAST of these it tells nothing.
3. Where nobody estimated anything, what beads took stands for itself; where nothing is known, all weigh 1.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median_high

from ..beads.bead import BeadType
from .links import Node

LEAST = 5
"""So many beads tell something."""


OUTLIER = 4
"""An estimate of more medians than this counts as so many: one of a month says nothing about the others."""


@dataclass(frozen=True, slots=True)
class Took:
    """A bead that was done: its type, its estimate if it had one, and the minutes that agents worked on it."""

    type: str
    estimate: int | None
    minutes: float


@dataclass(frozen=True, slots=True)
class Usual:
    """Minutes: of any bead, and of those types that have a past."""

    minutes: int = 1
    by_type: Mapping[str, int] = field(default_factory=dict)

    def of(self, type_: str) -> int:
        """What a bead of the type takes as a rule."""
        return self.by_type.get(type_, self.minutes)


NOTHING_KNOWN = Usual()


def usual(known: int | None, past: Sequence[Took]) -> Usual:
    """What is to be expected. `known`: what the known estimates tell (`typical`); None: there are none."""
    past = [one for one in past if one.minutes > 0]
    scale = 1.0
    if known is not None:
        both = [one.estimate / one.minutes for one in past if one.estimate]
        if len(both) < LEAST:
            return Usual(known)
        scale = median_high(both)
    took: dict[str, list[float]] = {}
    for one in past:
        took.setdefault(one.type, []).append(one.minutes * scale)
    by_type = {type_: typical(found) for type_, found in sorted(took.items()) if len(found) >= LEAST}
    if known is None:
        known = typical([one.minutes for one in past]) if len(past) >= LEAST else 1
    return Usual(known, by_type)


def usual_of(nodes: Iterable[Node]) -> Usual:
    """What the estimates of these beads tell."""
    known = [node.estimate for node in nodes if node.estimate and node.type != BeadType.EPIC]
    return Usual(typical(known)) if known else NOTHING_KNOWN


def weight(type_: str, estimate: int | None, expected: Usual) -> int:
    """What one bead adds to a chain, in minutes; an epic adds nothing."""
    if type_ == BeadType.EPIC:
        return 0
    return estimate or expected.of(type_)


def typical(found: Sequence[float]) -> int:
    """Minutes that stand for all of these; there has to be one."""
    most = OUTLIER * median_high(found)
    return max(1, math.ceil(fmean(min(one, most) for one in found)))
