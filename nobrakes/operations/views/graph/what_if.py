"""What the graph would be like if a bead were done, answered or delayed: core.graph.what_if on the store's graph."""

from collections.abc import Mapping
from dataclasses import dataclass

from ....core.beads.bead import Status
from ....core.errors import NoSuchBead, UsageError
from ....core.graph.links import Links
from ....core.graph.what_if import Change, Consequences, consequences
from ....ports.store import Store
from .view import Standing, title_of

MOST_HOURS = 10_000.0
NAMED = 50
"""So many titles of each kind are handed out; ids are all there."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """`change` is what was asked; `hours` of a delay. `titles` are those of the bead and of the first of each list."""

    bead: str
    title: str
    column: str
    change: Change
    hours: float
    then: Consequences
    titles: Mapping[str, str]


def what_if(store: Store, bead: str, change: Change | str | None = None, hours: float = 0.0) -> WhatIf:
    """What the change brings about. None: an answer where the bead waits for one, its end otherwise.

    NoSuchBead; UsageError for a delay that is none, and for an answer to a bead that waits for none.
    """
    nodes = store.nodes()
    node = next((one for one in nodes if one.id == bead), None)
    if node is None:
        raise NoSuchBead(f"there is no bead '{bead[:80]}'")
    if change is None:
        change = Change.ANSWERED if node.status is Status.ESCALATED else Change.DONE
    if change not in list(Change):
        raise UsageError(f"'{change[:40]}' is not a change", f"Use one of: {', '.join(Change)}.")
    change = Change(change)
    if change is Change.DELAYED and not 0 < hours <= MOST_HOURS:
        raise UsageError(f"a delay is more than 0 hours and at most {MOST_HOURS:.0f}", "Give it in hours: --delay 4.")
    if change is Change.ANSWERED and node.status is not Status.ESCALATED:
        raise UsageError(f"{bead} waits for no decision", "`nobrakes escalations` shows what does.")
    dependencies = store.dependencies()
    returns_to = (store.bead(bead).return_to if change is Change.ANSWERED else None) or Status.NEEDS_DOER
    minutes = max(1, round(hours * 60)) if change is Change.DELAYED else 0
    links = Links(nodes, dependencies)
    found = consequences(links, store.now(), bead, change, minutes, returns_to, store.usual())
    named = [bead, *found.completed[:NAMED], *found.ready[:NAMED], *(one.bead for one in found.later[:NAMED])]
    wanted = {*named, *found.needs[:NAMED], *found.frees[:NAMED]}
    titles = {one.id: title_of(one.title) for one in nodes if one.id in wanted}
    standing = Standing(links, store.now())
    return WhatIf(bead, titles[bead], standing.column(node), change, hours if minutes else 0.0, found, titles)
