"""Which files the work under review changes: what is started meanwhile should keep away from them.

Looked up once for each head, and only while a bead that waits says what it will change. That git could not say it is no
trouble: the bead's own globs stand, and what collides is found when it is merged, as ever.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from ...core.beads.bead import Role
from ...core.board import Board
from ...core.errors import NobrakesError
from ...core.review.journal import Journal
from ..ports import Ports

MOST = 100
"""So many files of one branch are looked at."""


class Reach:
    """Remembers the files of each head under review."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._files: dict[str, tuple[str, ...]] = {}

    def seen(self, board: Board) -> Board:
        """The board with the files of all work under review among what is taken."""
        if not any(bead.touches for bead in board.ready):
            return board
        taken = dict(board.taken)
        heads = {}
        for attempt in board.attempts:
            journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else Journal()
            if journal.head and journal.fork:
                heads[journal.head] = self._files.get(journal.head) or self._changed(journal)
                taken[attempt.bead] = (*taken.get(attempt.bead, ()), *heads[journal.head])
        self._files = heads
        return replace(board, taken=_sorted(taken))

    def _changed(self, journal: Journal) -> tuple[str, ...]:
        with suppress(NobrakesError):
            changes = self._ports.git.changes(journal.fork, journal.head)
            return tuple(f"/{change.path}" for change in changes[:MOST])
        return ()


def _sorted(taken: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {bead: taken[bead] for bead in sorted(taken)}
