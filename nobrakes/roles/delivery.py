"""How a bead's work gets to people, as the store and the settings know it (core.pulls.delivery).

What has begun goes on as it began, whatever the settings say meanwhile: a request that is open, and an epic's branch
that has something.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.beads.bead import CLOSED, Bead, BeadType, Status
from ..core.pulls.delivery import Delivery, delivery
from ..ports import Store
from .plan_beads import epics_above

if TYPE_CHECKING:
    from ..config.sections import ReviewSettings


def delivery_of(store: Store, settings: "ReviewSettings", bead: Bead) -> Delivery:
    """How the bead's work gets to people from now on."""
    rules = settings.rules()
    above = epics_above(store, bead) if rules.features and bead.epic else [bead.epic] if bead.epic else []
    found = delivery(bead, above, rules)
    if found.epic and _goes_by_itself(store, bead, found.epic):
        return replace(found, epic="")
    if found.epic or not rules.by_request or not bead.epic or bead.type is BeadType.EPIC:
        return found
    is_begun = any(one.epic == bead.epic for one in store.beads(statuses=(Status.LANDED,)))
    return delivery(bead, above, rules, is_begun)


def _goes_by_itself(store: Store, bead: Bead, epic: str) -> bool:
    """Whether the bead has an open request of its own, or was opened again when nobody asks for its epic any more."""
    pull = store.pull(bead.id)
    return (pull is not None and pull.waits) or store.bead(epic).status is Status.DONE


def below_of(store: Store, settings: "ReviewSettings", bead: Bead) -> str:
    """The bead on top of whose open request this one is worked on and proven; empty: it stands on main."""
    below = bead.stacks_on
    if below is None or not settings.by_request or store.bead(below).status in CLOSED:
        return ""
    return below
