"""Which files the work under review changes: what is started meanwhile should keep away from them.

Looked up once for each branch (its fork and its head), and only while a bead that waits says what it will change. That
git could not say it is no trouble: the bead's own globs stand, and what collides is found when it is merged, as ever.
"""

from contextlib import suppress
from dataclasses import replace

from ...core.beads.bead import Role
from ...core.board import Board
from ...core.errors import NobrakesError
from ...core.owners import of_bead
from ...core.review.journal import Journal
from ..parking import parked
from ..ports import Ports

MOST = 100
"""So many files of one branch are looked at."""


class Reach:
    """Remembers the files of each branch under review, also that there are none."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._files: dict[tuple[str, str], tuple[str, ...]] = {}

    def seen(self, board: Board) -> Board:
        """The board with the files of all work under review among what is taken."""
        if not any(bead.touches for bead in board.ready):
            return board
        taken, known = dict(board.taken), self._files
        self._files = {}
        for attempt in board.attempts:
            journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else Journal()
            branch = (journal.fork, journal.head)
            if all(branch):
                with parked(self._ports, of_bead(attempt.bead)):
                    files = known[branch] if branch in known else self._changed(*branch)
                    self._files[branch] = files
                    taken[attempt.bead] = (*taken.get(attempt.bead, ()), *files)
        return replace(board, taken=taken)

    def _changed(self, fork: str, head: str) -> tuple[str, ...]:
        with suppress(NobrakesError):
            return tuple(f"/{change.path}" for change in self._ports.git.changes(fork, head)[:MOST])
        return ()
