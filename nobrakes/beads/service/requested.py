"""Which beads wait for people at a code host, and for what: the board's column `requested`."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ...requests.model import PullState
from ...requests.text import RequestLine, page_of
from ...review.journal import waits_for_people
from ..model import BeadType, Status

if TYPE_CHECKING:
    from ...store import Store


def requested(store: "Store") -> dict[str, RequestLine]:
    """Bead -> its request, as long as it has nothing to do but to wait for that. The beads of an epic that have landed
    on its branch wait for the epic's, once that is there; the epic itself stands in no column.
    """
    found = {}
    for attempt in store.reviewing():
        if waits_for_people(attempt.data):
            found[attempt.bead] = line(store, attempt.bead, str(attempt.data.get("waiting") or ""))
    for bead in store.beads(statuses=(Status.LANDED,)):
        of_epic = found.get(str(bead.epic))
        if of_epic is not None:
            found[bead.id] = replace(of_epic, says=f"{landed(str(bead.epic))}; {of_epic.says}")
    return {one: how for one, how in found.items() if store.bead(one).type is not BeadType.EPIC}


def landed(epic: str) -> str:
    """Where a bead is that landed with its epic's others."""
    return f"landed on the branch of {epic}"


def _none(says: str) -> RequestLine:
    return RequestLine(0, PullState.OPENING.value, "", says)


def line(store: "Store", bead: str, waiting: str = "") -> RequestLine:
    """The bead's request in a line; `waiting`: what its review says that it waits for."""
    pull = store.pull(bead)
    if pull is None or not pull.waits:
        return _none(waiting)
    return RequestLine(pull.number, pull.state.value, page_of(pull.url), waiting or pull.says)
