"""A bug of the program in what is about one bead: calls of its doors fail in ways that nobody expects, to the end.

The promises: it is that bead alone that is parked, nothing else is kept from its end by it, and the second time it is
held as well.
"""

import errno
import random
from collections.abc import Sequence

from nobrakes.agents.limits import attempt_of
from nobrakes.beads.model import Attempt, Bead, BeadType, Outcome, Run, Status
from nobrakes.decisions.model import EscalationType
from nobrakes.errors import NobrakesError
from nobrakes.events.kinds import Kind
from nobrakes.host.port import Command
from nobrakes.review.journal import Journal
from nobrakes.store import Store

BUGS: Sequence[Exception] = (
    RuntimeError("a planted bug"),
    IsADirectoryError(errno.EISDIR, "a planted folder"),
    PermissionError(errno.EACCES, "a planted closed file"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "a planted name"),
)

KILL = "processes.kill"


class Stumbling:
    """Which bead it is about, and how often it is met."""

    def __init__(self, seed: int, chance: float, store: Store) -> None:
        self.rng = random.Random(f"{seed} stumbles")
        self.chance = chance
        self.store = store
        self.bead = ""
        self.met = 0
        self._drawn: dict[str, float] = {}

    def choose(self) -> None:
        """Let it be about one of the beads that are planned by now."""
        beads = self.store.beads() if self.chance else ()
        live = [one.id for one in beads if one.type is not BeadType.EPIC and one.status is not Status.DRAFT]
        self.bead = self.rng.choice(live) if live else ""

    def before(self, what: str, given: Sequence[object]) -> None:
        """Perhaps a bug, where the call is about the bead."""
        if self.bead and any(map(self._is_about, given)) and self._is_broken(what):
            self.met += 1
            raise self.rng.choice(BUGS).with_traceback(None)

    def _is_broken(self, what: str) -> bool:
        """Whether this call meets a bug: that is drawn once for a name, and each time for a kill, which must work once."""
        if what == KILL:
            return self.rng.random() < self.chance
        if what not in self._drawn:
            self._drawn[what] = self.rng.random()
        return self._drawn[what] < self.chance

    def _is_about(self, value: object) -> bool:
        if isinstance(value, Bead):
            return value.id == self.bead
        if isinstance(value, Attempt):
            return value.bead == self.bead
        if isinstance(value, Run):
            return self._is_its(value.attempt)
        if isinstance(value, Command):
            return self._is_about(value.folder)
        return isinstance(value, str) and (any(map(self._names, value.split("/"))) or value in self._commits())

    def _names(self, part: str) -> bool:
        return part == self.bead or self._is_its(attempt_of(part) or 0)

    def _is_its(self, attempt: int) -> bool:
        try:
            return bool(attempt) and self.store.attempt(attempt).bead == self.bead
        except NobrakesError:
            return False

    def _commits(self) -> set[str]:
        journals = [Journal.of(one.data) for one in self.store.attempts(self.bead) if one.outcome is None]
        return {commit for one in journals for commit in (one.change.head, one.build.candidate) if commit}

    def wrong(self) -> list[str]:
        """What was parked without a bug that was planted, and what was not held the second time."""
        asked = [one for one in self.store.escalations(open_only=False) if one.type is EscalationType.NOBRAKES_FAILED]
        wrong = [f"{one.bead} is parked: {one.detail}" for one in asked if one.bead != self.bead or not self.met]
        failed = (
            [one for one in self.store.attempts(self.bead) if one.outcome is Outcome.NOBRAKES_FAILED]
            if asked and self.bead
            else []
        )
        if len(failed) > 1 and not self.store.latest_events((Kind.HELD,), bead=self.bead):
            wrong.append(f"{self.bead} was parked {len(failed)} times, and is not held")
        return wrong
