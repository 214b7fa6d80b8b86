"""How long the check that runs now has been running: each has its own time, whatever the others leave of theirs.

What is remembered is when a check was first seen running, so a new daemon gives it its time once more.
"""

from collections.abc import Set
from dataclasses import dataclass

from ..core.attempt import Run
from ..ports import Ending
from .validation import Validation

PREPARING_SECONDS = 1.0
"""Between two looks at a run whose first check has not begun."""


@dataclass(frozen=True, slots=True)
class _Seen:
    step: str
    since: float
    due: float


class CheckClock:
    """Watches the checks of validations and red proofs."""

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        self._seen: dict[str, _Seen] = {}

    def is_overdue(self, run: Run, ending: Ending, now: float) -> bool:
        """Whether the check that runs at this moment has had its time."""
        due = {end.name for end in ending.steps if end.started and end.code is None}
        running = next((check for check in self.validation.checks(run.kind) if check.name in due), None)
        if running is None:
            self._seen[run.id] = _Seen("", now, now + PREPARING_SECONDS)
            return False
        seen = self._seen.get(run.id)
        if seen is None or seen.step != running.name:
            seen = self._seen[run.id] = _Seen(running.name, now, now + running.timeout)
        return now >= seen.due

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}

    def wake_at(self) -> list[float]:
        """When the checks have to be looked at again."""
        return [seen.due for seen in self._seen.values()]
