"""The memory that agents at work hold, where that is limited: measured now and then, and told when it is too much."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..core.beads.attempt import Run, RunKind
from ..core.board import Board
from ..core.errors import NobrakesError
from ..core.limits import memory
from ..ports.people import Notice
from .parking import of_run, parked
from .ports import Ports

HOLDS_SECONDS = 0.25
"""What was measured holds so long: a turn looks several times."""


class MemoryWatch:
    """What was measured last, and whether a person was told."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._measured: tuple[frozenset[str], float, int] = (frozenset(), 0.0, 0)
        self._is_full = False

    def seen(self, board: Board) -> Board:
        """The board with the memory that agents hold, where somebody may start: nobody else asks how much that is."""
        if not board.limits.agents_mb or not (board.ready or board.sessions):
            return board
        runs = [run for run in board.all_runs if run.kind is RunKind.AGENT and run.pid is not None]
        names = frozenset(run.id for run in runs)
        known, at, _ = self._measured
        if names != known or not at <= board.now < at + HOLDS_SECONDS:
            self._measured = names, board.now, self._together(board, runs)
        return replace(board, memory_mb=self._measured[2])

    def _held(self, run: Run) -> int:
        with parked(self.ports, partial(of_run, self.ports, run.id)):
            return self.ports.processes.memory_mb(run)
        return 0

    def _together(self, board: Board, runs: Sequence[Run]) -> int:
        """What they hold; what cannot be measured counts as the limit."""
        try:
            return sum(map(self._held, runs))
        except NobrakesError:
            return board.limits.agents_mb

    def wake_at(self, board: Board) -> float | None:
        """When to look again, since nobody tells that memory is free; a person is told when it begins."""
        is_full = memory.is_full(board.memory_mb, board.limits.agents_mb)
        if is_full and not self._is_full:
            self.ports.notifier.tell(Notice(memory.full_text(board.memory_mb, board.limits.agents_mb)))
        self._is_full = is_full
        return board.now + memory.LOOK_SECONDS if is_full else None
