"""Which beads wait for people at a code host, and for what: the board's column `requested`."""

from typing import TYPE_CHECKING

from ...core.pulls.pull import PullState
from ...core.pulls.shown import RequestLine, page_of
from ...core.review.journal import waits_for_people

if TYPE_CHECKING:
    from ...ports import Store


def requested(store: "Store") -> dict[str, RequestLine]:
    """Bead -> its request, as long as its review has nothing to do but to wait for that."""
    found = {}
    for attempt in store.reviewing():
        if waits_for_people(attempt.data):
            found[attempt.bead] = line(store, attempt.bead, str(attempt.data.get("waiting") or ""))
    return found


def line(store: "Store", bead: str, waiting: str = "") -> RequestLine:
    """The bead's request in a line; `waiting`: what its review says that it waits for."""
    pull = store.pull(bead)
    if pull is None or not pull.waits:
        return RequestLine(0, PullState.OPENING.value, "", waiting)
    return RequestLine(pull.number, pull.state.value, page_of(pull.url), waiting or pull.says)
