"""Who is looked at when: a thread that sleeps until the system tells of a request (host.channel.arrivals).

1. Told of a door, it looks at that door and no other; everything is looked at every QUIET seconds, since no event tells
   of a renewed login.
2. A request that it finds then and was not told of is the last one: that door is looked at every PAUSE seconds from now
   on, as are those that cannot be watched. People are told once.
3. Who only makes noise at its door costs as much as one that is looked at, and no more.
"""

import os
import time
from collections.abc import Callable

from ...core.errors import NobrakesError
from .arrivals import Arrivals

BUSY = 0.01
"""Seconds between two looks at somebody who spoke a second ago and is not watched, or who makes noise."""
PAUSE = 0.1
"""Seconds between two looks while there are doors that the system does not watch."""
MISSING = 0.5
"""The same while the inbox of a door is not there and the system would not tell that it is made anew."""
QUIET = 5.0
"""Seconds between two looks at everything while the system tells of each request."""
TROUBLE = 0.5
"""Seconds between two looks while requests cannot be answered."""
NOISE = 50
"""So often in QUIET seconds it may wake for nothing."""
AT_ONCE = 10
"""Requests of one run that are answered before another run is looked at."""
UNTOLD = "the system did not tell of a request that lay there"


class Doorkeeper:
    """Looks at the doors in one folder. `answer` says how many requests waited at a run's door, AT_ONCE answered."""

    def __init__(self, folder: str, answer: Callable[[str], int], tell: Callable[[str], None]) -> None:
        self._folder = folder
        self._answer = answer
        self._tell = tell
        self._said: set[str] = set()
        self.failed: dict[str, Exception] = {}
        """What nobody expected, by the run at whose door it was met: that door is not looked at any more."""
        self._arrivals = Arrivals()
        self._unwatched: set[str] = set()
        self._waiting: set[str] = set()  # who has more to say, or could not be answered
        self._due = self._busy_until = 0.0
        self._noise = 0
        self._has_more = self._has_trouble = False
        self.wake = self._arrivals.wake
        self.close = self._arrivals.close

    def attend(self, is_over: Callable[[], bool]) -> None:
        """Answer whoever speaks, until then."""
        told: set[str] | None = None
        while not is_over():
            pause, late = self._look(told)
            told = late if late else self._arrivals.wait(pause)

    def _look(self, told: set[str] | None) -> tuple[float | None, set[str]]:
        """Look at who is said to have spoken, None: at all; (how long nothing is due, what was told meanwhile)."""
        now = time.monotonic()
        is_whole = told is None or now >= self._due or self._arrivals.missing or bool(self._unwatched)
        before = self._arrivals.watched()
        known = self._waiting | {_run(inbox) for inbox in told or ()}
        runs = self._runs() if is_whole else sorted(known)
        answered = self._visit(runs)
        late: set[str] = set()
        if told is not None and is_whole:
            untold = {self._inbox(run) for run in answered if run not in known} & before
            late = self._doubt(untold) if untold else late
        if not answered and not is_whole:
            self._noise += 1
            if self._noise > NOISE:
                time.sleep(BUSY)
        if answered and self._unwatched:
            self._busy_until = now + 1
        return self._pause(bool(runs) or not is_whole), late

    def _runs(self) -> list[str]:
        """All runs, with their doors watched."""
        try:
            runs = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            runs = []
        self._unwatched = self._arrivals.watch(map(self._inbox, runs))
        self._due, self._noise = time.monotonic() + QUIET, 0
        if self._unwatched and self._arrivals.why_not:
            self._say(self._arrivals.why_not)
        return runs

    def _visit(self, runs: list[str]) -> set[str]:
        """Answer these; who had something to say."""
        answered: set[str] = set()
        self._has_more = self._has_trouble = False
        self._waiting = set()
        for run in runs:
            if run in self.failed:
                continue
            try:
                found = self._answer(run)
            except (NobrakesError, OSError):  # the loop meets the same trouble and tells of it
                self._has_trouble = True
                self._waiting.add(run)
                continue
            except Exception as error:  # nobody else's door is kept closed by it
                self.failed[run] = error
                continue
            if found:
                answered.add(run)
            if found > AT_ONCE:
                self._has_more = True
                self._waiting.add(run)
        return answered

    def _doubt(self, inboxes: set[str]) -> set[str]:
        """They were not told of before they were found; what is told by now."""
        told = self._arrivals.wait(0.0)
        if told is None:  # events were lost, and the system says so
            self._due = 0.0
            return set()
        for inbox in inboxes - told:
            self._arrivals.distrust(inbox)
            self._unwatched.add(inbox)
            self._say(UNTOLD)
        return told

    def _pause(self, has_doors: bool) -> float | None:
        now = time.monotonic()
        if self._has_more:
            return 0.0
        if self._has_trouble:
            return TROUBLE
        if self._unwatched:
            return BUSY if now < self._busy_until else PAUSE
        if self._arrivals.missing:
            return MISSING
        return max(0.0, self._due - now) if has_doors else None

    def _say(self, why: str) -> None:
        if why not in self._said:
            self._said.add(why)
            self._tell(
                f"agents that are closed off are looked at every {PAUSE} s, which costs more than being told by the "
                f"system: {why}. On Linux, a higher fs.inotify.max_user_instances and max_user_watches helps."
            )

    def _inbox(self, run: str) -> str:
        return os.path.join(self._folder, run, "in")


def _run(inbox: str) -> str:
    return os.path.basename(os.path.dirname(inbox))
