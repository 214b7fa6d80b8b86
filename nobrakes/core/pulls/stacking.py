"""When a bead may be worked on on top of the open request of one that it needs (`review.dependants = "stack"`).

1. All other beads that it needs are done, and what they brought is in that request: there is one thing to stand on.
2. What it stacks on stays as long as that one's request is open. Who has not begun waits again when it is not, or when
   that bead is given up, whatever becomes of its request.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..beads.bead import CLOSED, WAITING_FOR_AGENT, Bead, BeadType, Status

_MAY = frozenset((*WAITING_FOR_AGENT, Status.NEEDS_REVIEW))


class Blocker(NamedTuple):
    """A bead that another one needs. `is_in`: the open request of the one in question has what this one brought."""

    bead: str
    status: Status
    is_in: bool = False


def is_free(bead: Bead) -> bool:
    """Whether the bead waits to be worked on, or reviewed, and stacks on nothing yet."""
    return bead.stacks_on is None and bead.status in _MAY and bead.type is not BeadType.EPIC


def may_stack(bead: Bead, on: str, blockers: Sequence[Blocker]) -> bool:
    """Whether the bead may stand on the open request of `on`."""
    if not is_free(bead):
        return False
    below = [one for one in blockers if one.bead == on]
    if not below or below[0].status in CLOSED:  # the request of who was given up may be open all the same
        return False
    return all(one.status is Status.DONE and one.is_in for one in blockers if one.bead != on)


def waits_again(bead: Bead, opened: Collection[str]) -> bool:
    """Whether what the bead stacks on is not there any more, and nobody works on it. `opened`: whose requests are."""
    return bead.stacks_on not in opened and bead.status in WAITING_FOR_AGENT
