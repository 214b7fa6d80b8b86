"""The class that a bead competes in for an agent: its priority, one more urgent for each day since it became ready.

1. Each bead rises by its own clock, a day after it became ready itself, and each day after; there is no moment at which
   all of them rise. Inside a class the longest chain of work behind decides.
2. The store keeps the class as of now and when it rises next; whoever looks lets those rise whose time has come.
"""

import math

AGEING_SECONDS = 24 * 3600.0
"""A bead that waited this long competes one priority class higher, so nothing starves."""


def days(ready_since: float, now: float) -> int:
    """How often a bead has risen by now."""
    return max(0, math.floor((now - ready_since) / AGEING_SECONDS))


def rank(priority: int, ready_since: float, now: float) -> int:
    """The class a bead competes in, smaller first; below 0 for urgent ones that have waited."""
    return priority - days(ready_since, now)


def rises_at(ready_since: float, now: float) -> float:
    """When the bead rises next."""
    return ready_since + (days(ready_since, now) + 1) * AGEING_SECONDS
