"""Removing the checkouts of runs that were judged, and the trash, beside the loop: nobody waits for that.

1. What is to be removed is what lies there and belongs to no run, whoever left it: nothing has to be remembered.
2. The checkouts of runs that a command asked for are that command's own (review.worker.main_monitor).
3. So is the checkout of the run of main's monitor, which belongs to no attempt (review.worker.main_monitor).
4. A session's checkout stays as long as the session goes on.
5. What cannot be removed is told once, and tried again after a while (nobrakes.trash).
"""

import json
import os
from functools import partial

from ...host.port import Notice
from ...parking import of_run, parked
from ...ports import Ports
from ...review.main_monitor import ASKED, WATCH
from ...sandbox.machine import HOME
from ...sessions.model import name_of
from ...trash import Trash

EMPTYING = "empty the trash"
"""The job that removes what is in the trash."""
EMPTYING_SECONDS = 2.0
"""So long at a time: others wait for their turn beside the loop."""


class Scratch:
    """The checkouts that are being removed."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.trash = Trash(ports.paths.trash)
        self._leaving: set[str] = set()
        self._told: set[str] = set()

    def drop(self, run: str) -> None:
        """Begin to remove a run's checkout."""
        self._leaving.add(run)
        self.ports.background.begin(f"drop {run}", partial(self.remove, run))

    def remove(self, run: str) -> None:
        """Remove a run's checkout and, before it, the home that its checks had."""
        folder = os.path.join(self.ports.paths.runs, run)
        self.trash.take(folder, os.path.join(folder, HOME))
        self.ports.git.drop_scratch(os.path.join(self.ports.paths.scratch, run))

    def settle(self) -> bool:
        """Hear which removals are over, and begin with what is left; the error of one that failed.

        Nobody's turn depends on it: False.
        """
        for run in tuple(self._leaving):
            self._leaving.discard(run)  # should it have failed, it still lies there
            with parked(self.ports, partial(of_run, self.ports, run)):
                if not self.ports.background.over(f"drop {run}"):
                    self._leaving.add(run)
        found = {os.path.basename(path): path for path in self.ports.git.scratches()}
        left = {name for name in found if name not in self._leaving and not name.startswith(f"{ASKED}-")}
        if left:  # nobody is asked where nothing can be removed: this is looked at in each quiet turn
            left -= self._used()
        for name in sorted(left):
            if not self._is_watched(name) and not self.trash.is_stuck(found[name]):
                self.drop(name)
        self._empty()
        return False

    def _used(self) -> set[str]:
        """The checkouts of runs, and of sessions that go on or whose agent still runs."""
        store = self.ports.store
        runs = store.runs()
        names = {run.id for run in runs} | {name_of(session.id) for session in store.sessions()}
        return names | {name_of(store.turn(run.turn).session) for run in runs if run.turn}

    def _empty(self) -> None:
        """Go on with what takes long, and tell of what cannot be removed."""
        if not self.ports.background.over(EMPTYING):
            return
        for one in self.trash.left():
            if one.why and one.path not in self._told:
                self._told.add(one.path)
                text = f"{one.path} cannot be removed ({one.why}); what is left of it is at {one.at}"
                self.ports.notifier.tell(Notice(text, urgent=True))
        if self.trash.is_due():
            self.ports.background.begin(EMPTYING, partial(self.trash.empty, EMPTYING_SECONDS))

    def _is_watched(self, name: str) -> bool:
        if not name.startswith(f"{WATCH}-"):
            return False
        watch = json.loads(self.ports.store.setting(WATCH) or "{}")
        return bool(watch.get("commit")) and name == f"{WATCH}-{watch.get('serial')}"
