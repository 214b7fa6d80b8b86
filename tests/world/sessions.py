"""The sessions of the simulated agents, as their CLIs keep them: who began each, who goes on with it, who lies.

1. One CLI is told its session's id, the other chooses it and says so; both say in their first line that it has begun.
2. Now and then a session is gone when somebody wants to go on with it, and now and then a CLI says another's id.
3. A breach is kept until the promise that owns it takes it.
"""

import random
from collections import defaultdict
from collections.abc import Callable

from nobrakes.beads.model import TABLE, Session, bead_owner, session_owner
from nobrakes.host.port import Command, Step
from nobrakes.sessions.worker import BEGINS_AGAIN
from nobrakes.store import Store

BEGIN, RESUME = "--session-id", "--resume"
SAID = "SESSION"
GONE = "GONE"


class Sessions:
    """All sessions of the simulated machine. `gone` and `lies`: how often, from 0 to 1."""

    def __init__(self, store: Store, rng: random.Random, gone: float, lies: float) -> None:
        self.store = store
        self.rng = rng
        self.gone = gone
        self.lies = lies
        self.used: dict[str, list[str]] = defaultdict(list)  # by session: the runs that used it, in their order
        self._breaches: dict[str, list[str]] = defaultdict(list)

    def take(self, promise: str) -> list[str]:
        """The breaches of one promise, once."""
        return self._breaches.pop(promise, [])

    def first_line(self, command: Command, step: Step, alive: Callable[[str], bool]) -> tuple[str, str]:
        """What an agent says as soon as it has begun, its session or that it is gone; and the session that it is in."""
        run = command.folder.rpartition("/")[2]
        words = step.argv
        if RESUME in words:
            session = words[words.index(RESUME) + 1]
            if self.rng.random() < self.gone:
                self.used.pop(session, None)
            if session not in self.used:
                return f"{GONE}\n", ""
            self._judge(session, run)
            said = session
        else:
            named = BEGIN in words
            session = said = words[words.index(BEGIN) + 1] if named else f"of-{run}"
            # of a session that nobody was told of, nobody can know whose it is
            told = [] if named else [one for one in self.used if self.store.is_session(one)]
            if told and self.rng.random() < self.lies:
                said = self.rng.choice(told)
        self._use(session, run, alive)
        return f"{SAID} {said}\n", session

    def _use(self, session: str, run: str, alive: Callable[[str], bool]) -> None:
        for earlier in self.used[session]:
            if earlier != run and alive(earlier):
                self._breaches["overlap"].append(f"{earlier} lives, and {run} begins with its session")
            if self._owner(earlier) != self._owner(run):
                self._breaches["shared"].append(f"{earlier} and {run} have one session, and two owners")
        self.used[session].append(run)

    def _judge(self, session: str, run: str) -> None:
        if run.startswith("s"):
            self._judge_turn(session, run)
            return
        mine = self.store.attempt(_attempt(run))
        last = self.store.attempt(_attempt(self.used[session][-1]))
        since = [a for a in self.store.attempts(mine.bead) if last.number <= a.number < mine.number]
        for one in since:
            if one.outcome is None or TABLE[one.outcome].session is not Session.RESUME:
                self._breaches["resumed"].append(f"{run} goes on with a session after {one.outcome}")
            if (one.role, one.agent) != (mine.role, mine.agent):
                self._breaches["resumed"].append(f"{run} of {mine.agent} goes on with a session of {one.agent}")

    def _judge_turn(self, session: str, run: str) -> None:
        mine = self.store.turn(_turn(run))
        earlier = self.used[session][-1]
        last = self.store.turn(_turn(earlier)) if earlier.startswith("s") else None
        since = self.store.turns(mine.session)[last.number - 1 : mine.number - 1] if last is not None else []
        for one in since:
            if one.outcome is None or one.outcome in BEGINS_AGAIN:
                self._breaches["resumed"].append(f"{run} goes on with a session after {one.outcome}")

    def _owner(self, run: str) -> str:
        if run.startswith("s"):
            return session_owner(self.store.turn(_turn(run)).session)
        return bead_owner(self.store.attempt(_attempt(run)).bead)


def _turn(run: str) -> int:
    return int(run.partition("-")[0].removeprefix("s"))


def _attempt(run: str) -> int:
    return int(run.partition("-")[0])
