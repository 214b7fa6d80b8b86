"""What the daemon does for features by way of operations: in the name of a Shaper without tools, and with its plan."""

from collections.abc import Sequence

from ...core.beads.bead import Status
from ...core.beads.events import Event, Kind
from ...core.forge.markers import PlanStep
from ...ports import Store
from ...roles.plan_beads import under
from ..plan.apply import PlanReport
from . import shaping

BY = "nobrakes"


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

    def drop_drafts(self, feature: str, why: str) -> int:
        """Cancel the drafts of the plan, and take back what it wants of live beads; how many drafts."""
        store, ids = self._store, under(self._store, feature)
        beads = store.beads(ids=ids) if ids else []
        drafts = [bead for bead in beads if bead.status is Status.DRAFT]
        for bead in drafts:
            store.record(Event(Kind.CANCELLED, bead.id, actor=BY, data={"reason": why}))
        for bead in beads:
            if bead.proposed and bead.status is not Status.DRAFT:
                store.propose(bead.id, dict.fromkeys(bead.proposed), BY, Kind.CHANGE_DROPPED, why)
        return len(drafts)
