"""How long the checks that run now have been running: each has its own time, whatever the others leave of theirs.

1. What is remembered is when a check was first seen running, so a new daemon gives it its time once more.
2. A run is looked at again when a check that runs is due, and within the time of each that has not begun: nobody tells
   when one of them ends and the next begins.
"""

from collections.abc import Callable, Set

from ...core.beads.attempt import Run
from ...ports.processes import Ending
from .validation import Validation

PREPARING_SECONDS = 1.0
"""Between two looks at a run whose first check has not begun."""


class CheckClock:
    """Watches the checks of validations and red proofs."""

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        self._seen: dict[str, dict[str, float]] = {}  # by run: the steps that are running, and when each is due

    def is_overdue(self, run: Run, look: Callable[[], Ending], now: float) -> bool:
        """Whether a check that runs at this moment has had its time. `look` is called only when one may have had it."""
        known = self._seen.get(run.id, {})
        if known and now < min(known.values()):
            return False
        ending = look()
        running = {end.name for end in ending.steps if end.started and end.code is None}
        whole = self.validation.timed(run)
        steps = [step for step in whole if step.name in running]
        if not steps:
            self._seen[run.id] = {"": now + PREPARING_SECONDS}
            return False
        seen = {step.name: known.get(step.name, now + step.seconds) for step in steps}
        self._seen[run.id] = seen
        is_overdue = now >= min(seen.values())
        begun = {end.name for end in ending.steps if end.started}
        later = [step.seconds for step in whole if step.name not in begun]
        if later:
            beside = any(step.check.parallel for step in steps)  # neighbours begin at nearly the same time
            seen[""] = now + (PREPARING_SECONDS if beside else min(later))
        return is_overdue

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}

    def wake_at(self) -> list[float]:
        """When the checks have to be looked at again."""
        return [due for seen in self._seen.values() for due in seen.values()]
