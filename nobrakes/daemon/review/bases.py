"""The branches beside main that features are for (`review.features.EPIC.base`): nobody works for one that was never
heard of.

1. Each is asked about once in the life of a daemon, beside the loop, and again while there is no such branch. Reviews
   ask for themselves.
2. What waits for such a branch holds up nobody else, and a person is told once.
"""

from collections.abc import Mapping
from dataclasses import replace

from ...core.beads.attempt import Frontier
from ...core.beads.bead import BeadType
from ...core.board import Board
from ...core.errors import NoMain
from ...core.pulls.delivery import Where
from ...ports.git import Land, Landing
from ...ports.people import Notice
from ...roles.delivery import bases, git_at
from ..epics import lands_on
from ..ports import Ports
from .remote_branches import RemoteBranches

AGAIN_SECONDS = 60.0
"""So long a branch that is not there is not asked about again."""


class Bases:
    """Has them heard of."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.remote = RemoteBranches(ports)
        self._asked: set[str] = set()  # those that answered
        self._known: set[str] = set()
        self._told: set[str] = set()

    def turn(self, board: Board) -> bool:
        """Ask, and hear what came of it; whether one was heard of."""
        heard = self.remote.turn(self._unasked(), board.now)
        return True in [self._heard(base, land, board.now) for base, land in heard.items()]

    def ask_again(self, base: str, at: float) -> None:
        """Have it asked about again at that time, unless that is due already."""
        if base in self._asked:
            self._asked.remove(base)
            self.remote.again(base, at)

    def seen(self, board: Board) -> Board:
        """The board without the beads whose branch nobody has heard of yet; on a red main with those for others."""
        if board.elsewhere:
            of = self._bases(board.to_review)
            epics = {one.id for one in board.to_review if one.type == BeadType.EPIC}  # with a repair on their branches
            board = replace(board, elsewhere=frozenset(one for one in board.elsewhere if of[one] or one in epics))
        unknown = {base for base in self._named() if not self.is_known(base)}
        if not unknown or not (board.ready or board.to_review):
            return board
        of = self._bases((*board.ready, *board.to_review))
        ready = tuple(one for one in board.ready if of[one.id] not in unknown)
        return replace(board, ready=ready, to_review=tuple(one for one in board.to_review if of[one.id] not in unknown))

    def wake_at(self) -> float | None:
        """When the next is asked about; None: none is."""
        return self.remote.wake_at(self._unasked())

    def _unasked(self) -> list[str]:
        return [base for base in self._named() if base not in self._asked]

    def _named(self) -> list[str]:
        return bases(self.ports.config())

    def _bases(self, beads: tuple[Frontier, ...]) -> Mapping[str, str]:
        found = self.ports.store.beads(ids=[one.id for one in beads])
        return {bead.id: lands_on(self.ports, bead).base for bead in found}

    def is_known(self, base: str) -> bool:
        """Whether the branch, or main where it is empty, was heard of."""
        if not base:
            return True
        if base not in self._known:
            try:
                git_at(self.ports.git, Where(base)).main()
            except NoMain:
                return False
            self._known.add(base)
        return True

    def _heard(self, base: str, land: Land, now: float) -> bool:
        if land.landing is Landing.MOVED:
            self._asked.add(base)
            return True
        self.remote.again(base, now + AGAIN_SECONDS)
        if base not in self._told and not self.is_known(base):
            self._told.add(base)
            text = (
                f"nobody works for {base}, which a feature is for (review.features), until it is there: {land.reason}"
            )
            self.ports.notifier.tell(Notice(text, urgent=True))
        return False
