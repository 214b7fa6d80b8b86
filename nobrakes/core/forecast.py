"""When everything that is planned may be done, from what was merged lately. A guess, and it says on what it stands.

1. The longest chain takes its beads one after another, each as long as beads took lately; everything together takes
   as long as it needs at the rate at which beads were merged. The longer of the two is the forecast.
2. Fewer than LEAST merges say nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 3


@dataclass(frozen=True, slots=True)
class Merge:
    """A bead that was merged: when its first attempt began, and when it was merged (seconds since 1970)."""

    began: float
    merged: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """`seconds` from now; it stands on `merges`, and `chain` says whether the longest chain decides."""

    seconds: float
    merges: int
    chain: bool


def forecast(left: int, chain: int, merges: Sequence[Merge]) -> Forecast | None:
    """For `left` beads, of which `chain` wait for each other in a row; None: nothing can be said."""
    if not left or len(merges) < LEAST:
        return None
    took = sorted(max(0.0, one.merged - one.began) for one in merges)
    alone = chain * took[len(took) // 2]
    times = sorted(one.merged for one in merges)
    together = left * (times[-1] - min(one.began for one in merges)) / len(merges)
    return Forecast(max(alone, together), len(merges), alone >= together)
