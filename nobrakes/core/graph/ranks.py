"""The class that a bead competes in for an agent: what the Assigner orders by first, as a number that stands still.

On its own, since whatever writes to the store needs it, and not the rest of the Assigner.
"""

AGEING_SECONDS = 24 * 3600.0
"""A bead that waited this long competes one priority class higher, so nothing starves."""


def rank(priority: int, ready_since: float) -> int:
    """The class a bead competes in, smaller first: comparing it never needs the present time.

    A bead of priority p that became ready k ageing periods earlier ranks with priority p - k of today. Ages
    are compared in whole periods, so within one period priority decides alone.
    """
    return priority + int(ready_since // AGEING_SECONDS)
