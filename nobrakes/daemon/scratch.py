"""Removing the checkouts of runs that were judged, beside the loop: nobody waits for that.

1. What is to be removed is what lies there and belongs to no run, whoever left it: nothing has to be remembered.
2. The checkouts of runs that a command asked for are that command's own (daemon.proving).
3. So is the checkout of the canary's run, which belongs to no attempt (daemon.canary).
"""

import json
import os
from functools import partial

from .doors import Doors

ASKED = "asked"
"""How the names of runs begin that a command asks for."""
WATCH = "canary"
"""The setting with how far the canary is, and how the names of its runs begin."""


class Scratch:
    """The checkouts that are being removed."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors
        self._leaving: set[str] = set()

    def drop(self, run: str) -> None:
        """Begin to remove a run's checkout."""
        self._leaving.add(run)
        path = os.path.join(self.doors.places.scratch, run)
        self.doors.aside.begin(f"drop {run}", partial(self.doors.git.drop_scratch, path))

    def settle(self) -> bool:
        """Hear which removals are over, and begin with what is left; the error of one that failed.

        Nobody's turn depends on it: False.
        """
        for run in tuple(self._leaving):
            self._leaving.discard(run)  # should it have failed, it still lies there
            if not self.doors.aside.over(f"drop {run}"):
                self._leaving.add(run)
        runs = {run.id for run in self.doors.store.runs()}
        for path in self.doors.git.scratches():
            name = os.path.basename(path)
            if not (name in runs or name in self._leaving or name.startswith(f"{ASKED}-") or self._is_watched(name)):
                self.drop(name)
        return False

    def _is_watched(self, name: str) -> bool:
        if not name.startswith(f"{WATCH}-"):
            return False
        watch = json.loads(self.doors.store.setting(WATCH) or "{}")
        return bool(watch.get("commit")) and name == f"{WATCH}-{watch.get('serial')}"
