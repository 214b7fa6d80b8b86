"""What this daemon tells the machine's other daemons, and what it learns of them (ports.MachineWide).

1. Every look reports this daemon's living agents, which have places. A place is taken just before an agent starts, else
   its bead waits; it is returned at once if nothing starts.
2. Daily costs are written when an agent ended or used more; nothing is summed while nothing changes.
3. Unreadable limits are reported once, in the log and as a notice, and so is their recovery.
4. Only who waits for another repository's place looks again each second.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from ..agents import limits
from ..agents.limits import CAP_REPORTED, MachineRoom, day_start
from ..beads.model import Run, RunKind
from ..daemon import deciders
from ..daemon.model import Board
from ..errors import NobrakesError
from ..host.port import Notice
from ..parking import parked, run_owner
from ..ports import Alone, Ports

LOOK_SECONDS = 1.0
READ_SECONDS = 5.0


@dataclass(slots=True)
class Place:
    """A place, and whether an agent uses it."""

    is_used: bool = False


class MachineShare:
    """The machine as this daemon sees it."""

    def __init__(self, ports: Ports, trouble: Callable[[str, bool], None]) -> None:
        """`trouble` reports unreadable limits."""
        self.ports, self.trouble = ports, trouble
        self.lost = False  # a place that was free when the board was made was taken by another daemon
        self._is_alone = isinstance(ports.machine, Alone)
        self._counted: tuple[float, int] | None = None
        self._live: frozenset[str] = frozenset()
        self._waits = False
        self._unknown = ""

    def room(self, board: Board) -> MachineRoom | None:
        """What the machine allows this daemon now."""
        self.lost = False
        if self._is_alone:
            return None  # nothing is added up for nobody
        self._count_spent(board)
        room = self.ports.machine.look(live_runs(board))
        self._tell_unknown(room)
        if room is None or room.unknown:
            return room
        names = [one.name for one in limits.machine_reached(room, board.now)]
        told = {name: self.ports.store.setting(f"{CAP_REPORTED}{name}") or "" for name in names}
        return MachineRoom(room.limits, room.taken, room.own, room.usd, room.tokens, told)

    def _tell_unknown(self, room: MachineRoom | None) -> None:
        was, self._unknown = self._unknown, room.unknown if room is not None else ""
        if room is not None and room.unknown and room.unknown != was:
            self.ports.notifier.tell(Notice(limits.unknown_text(room), urgent=True))
            self.trouble(limits.unknown_text(room), True)
        elif was and not self._unknown:
            self.ports.notifier.tell(
                Notice("nobrakes can read this machine's limits again, so agents start", urgent=True)
            )

    def _count_spent(self, board: Board) -> None:
        day = day_start(board.now)
        lives, mark = live_runs(board), (day, sum(work.tokens for work in board.agents))
        has_ended, self._live = not self._live <= lives, lives
        if has_ended or mark != self._counted:
            found = self.ports.store.spent_since(day)
            self.ports.machine.spent(day, found.usd, int(found.tokens))
            self._counted = mark

    def take(self, name: str) -> bool:
        """False: another daemon was faster."""
        taken = self.ports.machine.take(name)
        self.lost |= not taken
        return taken

    def take_again(self, run: Run) -> bool:
        """After an interrupted start: a living agent has a place beyond any limit."""
        if self._is_alone:
            return True
        if self.ports.processes.alive(run):
            self.ports.machine.hold(run.id)
            return True
        return self.take(run.id)

    @contextmanager
    def starting(self, name: str) -> Iterator[Place]:
        """A taken place during a start; given back unless used."""
        place = Place()
        try:
            yield place
        finally:
            if not place.is_used:
                self.ports.machine.give_back(name)

    def wake_at(self, board: Board) -> float | None:
        """The next look, since other daemons send no event; reports the first wait."""
        if (waits := deciders.waits_for_place(board)) and not self._waits and board.machine is not None:
            self.ports.notifier.tell(Notice(limits.waiting_text(board.machine)))
        self._waits = waits
        if waits or self.lost:
            return board.now + LOOK_SECONDS
        if self._unknown and (board.ready or board.sessions):
            return board.now + READ_SECONDS
        return limits.machine_wake_at(board.machine, board.now) if board.ready or board.sessions else None


def live_runs(board: Board) -> frozenset[str]:
    return frozenset(run.id for run in board.all_runs if run.kind is RunKind.AGENT and run.pid is not None)


HOLDS_SECONDS = 0.25


class MemoryWatch:
    """What was measured last, and whether a person was told."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._measured: tuple[frozenset[str], float, int] = (frozenset(), 0.0, 0)
        self._is_full = False

    def seen(self, board: Board) -> Board:
        """The board with the agents' memory, measured only if something may start."""
        if not board.limits.agents_mb or not (board.ready or board.sessions):
            return board
        runs = [run for run in board.all_runs if run.kind is RunKind.AGENT and run.pid is not None]
        names = frozenset(run.id for run in runs)
        known, at, _ = self._measured
        if names != known or not at <= board.now < at + HOLDS_SECONDS:
            self._measured = names, board.now, self._measure_all(board, runs)
        return replace(board, memory_mb=self._measured[2])

    def _held(self, run: Run) -> int:
        with parked(self.ports, partial(run_owner, self.ports, run.id)):
            return self.ports.processes.memory_mb(run)
        return 0

    def _measure_all(self, board: Board, runs: Sequence[Run]) -> int:
        try:
            return sum(map(self._held, runs))
        except NobrakesError:
            return board.limits.agents_mb

    def wake_at(self, board: Board) -> float | None:
        """The next look, since free memory sends no event; reports the first wait."""
        if (is_full := limits.is_full(board.memory_mb, board.limits.agents_mb)) and not self._is_full:
            self.ports.notifier.tell(Notice(limits.full_text(board.memory_mb, board.limits.agents_mb)))
        self._is_full = is_full
        return board.now + limits.LOOK_SECONDS if is_full else None
