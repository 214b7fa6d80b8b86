"""A clock that jumps counts against nobody: what is measured is moved along with it.

1. How far the wall clock stands from a clock that only goes on while the machine is awake is kept for each boot. Where
   that changed by more than JUMP, the clock was set, or the machine slept.
2. Moved along are the times that are measured: time limits and silence of runs, stops, leases, patience, the minutes of
   an agent at work. What a day may cost goes by the day that the clock shows.
3. What is counted by the clock (which deferral is over, which priority has risen) is counted again where it went back,
   and where the machine was restarted.
4. What waits for a moment is moved only with a clock that went back: a jump makes nobody wait longer. What a person
   named (defer) is a time of day, and stays.
"""

import json
from dataclasses import replace

from ..core.beads.attempt import Attempt
from ..core.review.journal import Journal
from ..ports.people import Notice
from .ports import Ports

KEPT = "clock"
"""The setting: the boot, and how far the wall clock stood from the steady one."""

JUMP = 2.0
"""Seconds; what is less is a clock that is being put right slowly."""


class Jumps:
    """Sees jumps, also those of a time in which no daemon worked."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._kept: tuple[str, float] | None = None

    def settle(self) -> float:
        """Move along what is measured; how far the clock jumped since the last look: 0.0, it did not."""
        steady = self.ports.steady()
        if steady is None:
            return 0.0
        boot, seconds = steady
        store = self.ports.store
        apart = store.now() - seconds
        before = self._kept or _read(store.setting(KEPT))
        jump = apart - before[1] if before is not None and before[0] == boot else 0.0
        if before is None or before[0] != boot or abs(jump) >= JUMP:
            with store.together():
                if before is not None:  # over a restart of the machine nobody knows how far it jumped
                    self._move(jump)
                store.set_setting(KEPT, json.dumps([boot, apart]))
            before = (boot, apart)
        else:
            jump = 0.0
        self._kept = before
        if jump:
            text = f"the clock jumped by {jump / 60:+.0f} minutes (set, or the machine slept): it counts against nobody"
            self.ports.notifier.tell(Notice(text))
        return jump

    def _move(self, jump: float) -> None:
        store = self.ports.store
        store.move_times(jump)
        for review in store.reviewing():
            store.journal(review.id, _moved(review, jump).as_data())


def _read(text: str | None) -> tuple[str, float] | None:
    boot, apart = json.loads(text) if text else ("", 0.0)
    return (str(boot), float(apart)) if text else None


def _moved(review: Attempt, jump: float) -> Journal:
    journal = Journal.of(review.data)
    return replace(
        journal,
        waiting_until=max(0.0, journal.waiting_until + min(jump, 0.0)),
        waiting_since=journal.waiting_since and journal.waiting_since + jump,
        passing_since=journal.passing_since and journal.passing_since + jump,
    )
