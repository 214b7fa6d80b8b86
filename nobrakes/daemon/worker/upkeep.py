"""What piles up is kept small, beside the loop: logs of runs that were merged long since, refs and objects in files of
their own.

1. Logs are looked for when nobody works, at the start and then every ten minutes; some of it at a time.
2. What beads take as a rule is learnt from those that were done (beads.graph), every ten minutes, also at work.
3. Whether there is something to pack is looked at every half a minute while somebody works, and once after that: a bead
   costs the thousandth what it cost the first, however long nobody rests. Nothing waits for it, and where it fails all
   stays as it was, until the next time.
4. Keys of commands (`--request`) are forgotten after thirty days.
5. Which logs go: agents.limits, by the settings. No work goes: that is in git, and `archive` alone lets go of
   it.
"""

import math
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice

from ...agents.limits import DAY_SECONDS, attempt_of, let_go, release_turns, turn_of
from ...beads.model import Attempt, Status
from ...errors import NobrakesError
from ...ports import Ports
from ...trash import Trash
from ..model import Board

JOB = "upkeep"
PACKING = "pack refs and objects"
AGAIN = 600.0
"""Seconds between two looks."""
PACK_AGAIN = 30.0
"""Seconds between two looks at what there is to pack."""
REQUEST_SECONDS = 30 * 86400.0
"""A command under a key is remembered so long."""
MAX_INSPECTED = 2000
"""Folders of runs in one look."""
MAX_REMOVED = 200
"""Folders that go at one time."""


class Upkeep:
    """Lets old logs go, and has refs and objects packed."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._looked = self._learnt = self._packed = -math.inf
        self._has_worked = True
        self._place = 0

    def turn(self, board: Board) -> bool:
        """Look, when it is time and nobody works; nothing of it is anybody's turn: False."""
        if board.now >= self._learnt + AGAIN:
            self._learnt = board.now
            self.ports.store.learn()
        self._pack(board)
        background = self.ports.background
        if background.busy(JOB):
            background.over(JOB)
        elif board.now >= self._looked + AGAIN and not board.attempts:
            self._looked = board.now
            self.ports.store.forget_requests(board.now - REQUEST_SECONDS)
            background.begin(JOB, partial(self._do, self._old_runs(board)))
        return False

    def _pack(self, board: Board) -> None:
        """Have refs and objects packed, if it is time and there may be new ones."""
        background = self.ports.background
        self._has_worked |= bool(board.attempts)
        if background.busy(PACKING):
            background.over(PACKING)
        elif self._has_worked and not self._packed <= board.now < self._packed + PACK_AGAIN:
            self._packed, self._has_worked = board.now, False
            background.begin(PACKING, self._do_pack)

    def _do_pack(self) -> None:
        with suppress(NobrakesError):  # a lock of a person's git, a full disk: who has to write will meet it
            self.ports.git.pack()

    def _old_runs(self, board: Board) -> list[str]:
        """The folders of runs that may go now."""
        settings, store = self.ports.config().retention, self.ports.store
        try:
            names = sorted(os.listdir(self.ports.paths.runs), key=lambda name: (attempt_of(name) or 0, name))
        except FileNotFoundError:
            return []
        last = names[-1:]  # it is compared with, wherever we are
        some = list(islice(names, self._place, self._place + MAX_INSPECTED))
        self._place = self._place + len(some) if self._place + len(some) < len(names) else 0
        known: dict[int, Attempt] = {}
        for number in {attempt_of(name) for name in some} - {None}:
            try:
                known[number or 0] = store.attempt(number or 0)
            except NobrakesError:
                continue  # a rebuilt database does not know it
        going: list[str] = []
        if len(some) < len(names) or self._may_go(
            known.values(), settings.run_beads, board.now - settings.run_days * DAY_SECONDS
        ):
            done = store.beads([Status.DONE])  # all there ever were: not asked where nothing can go
            merged = {bead.id: bead.closed_at or bead.updated_at for bead in done if bead.merged_commit is not None}
            beads = {number: one.bead for number, one in known.items()}
            going = let_go([*some, *last], beads, merged, board.now, settings.run_days, settings.run_beads)
        going += release_turns(names, self._ended_turns(names), board.now, settings.run_days)
        self._place = max(0, self._place - len(going))
        return going[:MAX_REMOVED]

    @staticmethod
    def _may_go(attempts: Collection[Attempt], most: int, before: float) -> bool:
        """Whether there are logs of more beads than are kept, or one that began before that moment."""
        return len({one.bead for one in attempts}) > most or any(one.started_at <= before for one in attempts)

    def _ended_turns(self, names: Sequence[str]) -> dict[int, float]:
        """When the session of each turn was ended, of those that were."""
        over = {one.id: one.ended_at for one in self.ports.store.sessions(going=False) if one.ended_at is not None}
        found = {}
        for number in {turn_of(name) for name in names} - {None}:
            with suppress(NobrakesError):  # a rebuilt database does not know it
                session = self.ports.store.turn(number or 0).session
                if (ended := over.get(session)) is not None:
                    found[number or 0] = ended
        return found

    def _do(self, runs: Sequence[str]) -> None:
        trash, folder = Trash(self.ports.paths.trash), self.ports.paths.runs
        for run in runs:
            trash.take(folder, os.path.join(folder, run))
