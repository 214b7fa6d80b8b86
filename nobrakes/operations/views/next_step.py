"""The sensible next step in a repository that uses nobrakes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.hindrances import STOPS, Hindrance, Kind
from ..hindrances.look import NOTHING

if TYPE_CHECKING:
    from ...ports.store import Store
    from ..hindrances.look import Hindrances

_WAITS = frozenset({Kind.CAP, Kind.COOLDOWN, Kind.NO_PLACE})
"""What ends by itself is no step of anybody's."""
_STANDS = (Kind.MERGE_WAITS, Kind.CANCELLED_BLOCKER, Kind.CANCELLED_PARENT, Kind.HELD, Kind.DRAFTS, Kind.DEFERRED)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to type, and why."""

    command: str
    why: str


def next_step(store: "Store", stands: "Hindrances" = NOTHING) -> NextStep:
    """By what waits: what stops everything first, then for a person, then for agents, then what stands still.

    What is proposed of live beads comes before the work, unless agents are at it.
    """
    counts, waiting = store.counts(), store.escalations()
    beads = {name: number for name, number in counts.items() if number and name not in ("epic", "held")}
    if not beads:
        return NextStep("nobrakes shape", "there is no bead yet: plan some work; by hand: nobrakes plan example")
    if beads.keys() - {"done", "cancelled", "draft"} or waiting:
        for one in stands.found:
            if one.kind in STOPS - _WAITS and one.commands:
                return _by(one)
    if waiting:
        return NextStep("nobrakes escalations", f"{len(waiting)} of them wait for your decision")
    if "draft" in beads and beads.keys() <= {"draft", "done", "cancelled"}:
        return NextStep("nobrakes commit-strategy", "the drafts wait for your approval")
    if not beads.keys() & {"working", "review"} and store.proposed():  # before agents begin with the old text
        drafts = "the drafts and " if "draft" in beads else ""
        return NextStep("nobrakes commit-strategy", f"{drafts}proposed changes of live beads wait for your approval")
    if beads.keys() <= {"done", "cancelled"}:
        return NextStep("nobrakes reshape", "everything is done: plan the next increment")
    if not beads.keys() & {"ready", "working", "review"}:
        for one in stands.found:
            if one.kind in _STANDS and one.commands:
                return _by(one)
    return NextStep("nobrakes run", "there is work to do (or `nobrakes daemon start` for the background)")


def _by(one: Hindrance) -> NextStep:
    return NextStep(one.commands[0], one.what)
