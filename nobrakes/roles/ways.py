"""How a bead's work gets to people, as the store and the settings know it (core.pulls.ways).

What has begun goes on as it began, whatever the settings say meanwhile: a request that is open, and an epic's branch
that has something.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.beads.bead import Bead, BeadType, Status
from ..core.pulls.ways import Way, way
from ..ports import Store
from .plan_beads import epics_above

if TYPE_CHECKING:
    from ..config.sections import ReviewSettings


def way_of(store: Store, settings: "ReviewSettings", bead: Bead) -> Way:
    """How it goes."""
    rules = settings.rules()
    above = epics_above(store, bead) if rules.features and bead.epic else [bead.epic] if bead.epic else []
    found = way(bead, above, rules)
    if found.epic and (pull := store.pull(bead.id)) is not None and pull.waits:
        return replace(found, epic="")
    if found.epic or not rules.by_request or not bead.epic or bead.type is BeadType.EPIC:
        return found
    is_begun = any(one.epic == bead.epic for one in store.beads(statuses=(Status.LANDED,)))
    return way(bead, above, rules, is_begun) if is_begun else found
