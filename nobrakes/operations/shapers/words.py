"""What the daemon does for features by way of operations: in the name of a Shaper without tools, and with its plan."""

from collections.abc import Sequence

from ...core.beads.taking_back import Merged
from ...core.forge.markers import PlanStep
from ...ports.store import Store
from ..forging import resuming, rollback
from ..plan.apply import PlanReport
from . import shaping


class Words:
    """The port `daemon.ports.ShaperWords` on one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def propose_steps(self, session: int, steps: Sequence[PlanStep]) -> PlanReport:
        """File steps of the session's words as drafts."""
        return shaping.propose_steps(self._store, session, steps)

    def plan_ready(self, session: int) -> int:
        """The number of the plan's version."""
        return shaping.plan_ready(self._store, session).number

    def go_on(self, feature: str, way: str, by: str) -> int:
        """Go on with a feature that has expired: how many drafts were given up for it."""
        return resuming.go_on(self._store, feature, way, by)

    def give_up(self, feature: str, by: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Cancel its open beads: (those, those that land just now and are left)."""
        return rollback.give_up(self._store, feature, by)

    def landed(self, feature: str) -> tuple[Merged, ...]:
        """The merges that beads of the feature are done by."""
        return rollback.landed(self._store, feature)

    def end_rollback(self, feature: str, by: str, taken: Sequence[Merged], why: str, commit: str) -> None:
        """It is rolled back."""
        rollback.end(self._store, feature, by, taken, why, commit)

    def drop_rollback(self, feature: str, by: str, why: str) -> bool:
        """It is not rolled back after all; False: it was not being rolled back."""
        return rollback.off(self._store, feature, by, why) is not None
