"""How long the checks that run now have been running: each has its own time, whatever the others leave of theirs.

What is remembered is when a check was first seen running, so a new daemon gives it its time once more.
"""

from collections.abc import Set

from ..core.attempt import Run
from ..ports import Ending
from .checksteps import steps_of
from .validation import Validation

PREPARING_SECONDS = 1.0
"""Between two looks at a run whose first check has not begun."""


class CheckClock:
    """Watches the checks of validations and red proofs."""

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        self._seen: dict[str, dict[str, float]] = {}  # by run: the steps that are running, and when each is due

    def is_overdue(self, run: Run, ending: Ending, now: float) -> bool:
        """Whether a check that runs at this moment has had its time."""
        running = {end.name for end in ending.steps if end.started and end.code is None}
        steps = [step for step in steps_of(self.validation.checks(run)) if step.name in running]
        known = self._seen.get(run.id, {})
        if not steps:
            self._seen[run.id] = {"": now + PREPARING_SECONDS}
            return False
        seen = {step.name: known.get(step.name, now + step.seconds) for step in steps}
        self._seen[run.id] = seen
        is_overdue = now >= min(seen.values())
        begun = {end.name for end in ending.steps if end.started}
        if any(step.check.parallel for step in steps) and len(begun) < len(ending.steps):
            seen[""] = now + PREPARING_SECONDS  # neighbours begin at nearly the same time
        return is_overdue

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}

    def wake_at(self) -> list[float]:
        """When the checks have to be looked at again."""
        return [due for seen in self._seen.values() for due in seen.values()]
