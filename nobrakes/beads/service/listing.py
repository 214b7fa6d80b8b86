"""Beads in a list, first by priority and then by id as people count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING

from ...records import frozen
from ...requests.model import PullState
from ...requests.text import RequestLine, page_of
from ...review.journal import waits_for_people
from ..graph import Node
from ..model import Bead, BeadType, Status

if TYPE_CHECKING:
    from ...store import Store


@frozen
class ListedBead(Bead):
    """A bead as the list has it. `request`: of one that waits for people at a code host."""

    request: RequestLine | None = None


@frozen
class Listing:
    """The first beads that fit, and how many fit."""

    beads: Sequence[Bead | Node]
    fitting: int
    read: int  # so many were looked at for their labels
    requested: Mapping[str, RequestLine] = field(default_factory=dict)  # those that wait for people at a code host


def listing(
    store: "Store",
    statuses: Iterable[Status] = (),
    epic: str | None = None,
    labels: Iterable[str] = (),
    limit: int | None = None,
    lines_only: bool = False,
) -> Listing:
    """The first `limit` beads (None: all) with one of these statuses, in this epic, that have all these labels.

    `lines_only`: what a line of text tells of each is enough.
    """
    fitting = store.by_priority(tuple(statuses), epic)
    shown = _first(fitting, len(fitting) if limit is None else limit)
    beads = _read(store, shown, lines_only)
    wanted = set(labels)
    if wanted:
        beads = [bead for bead in beads if isinstance(bead, Bead) and wanted <= set(bead.labels)]
    return Listing(beads, len(fitting), len(shown), requested(store))


def with_requests(found: Listing) -> list[ListedBead]:
    """The beads of a list that was read whole, each with the request that it waits in."""
    names = tuple(one.name for one in fields(Bead))
    return [
        ListedBead(**{name: getattr(bead, name) for name in names}, request=found.requested.get(bead.id))
        for bead in found.beads
    ]


def _read(store: "Store", ids: list[str], lines_only: bool) -> list[Bead | Node]:
    """These beads in this order; of a whole graph for its lines, what a line tells."""
    if not ids:
        return []
    some: Sequence[Bead | Node] = store.nodes() if lines_only else store.beads(ids=ids)
    found = {bead.id: bead for bead in some}
    return [found[id_] for id_ in ids]


def _first(fitting: list[tuple[int, str]], limit: int) -> list[str]:
    """The ids of the first beads by priority and id; only those that may be among them are sorted by id."""
    last = sorted(priority for priority, _ in fitting)[:limit][-1:]
    near = [(priority, natural(id_), id_) for priority, id_ in fitting if [priority] <= last]
    return [id_ for *_, id_ in sorted(near)[:limit]]


def natural(bead: str) -> tuple[object, ...]:
    """Sorts nb-2 before nb-10."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in bead.replace(".", "-").split("-"))


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


def line(store: "Store", bead: str, waiting: str = "") -> RequestLine:
    """The bead's request in a line; `waiting`: what its review says that it waits for."""
    pull = store.pull(bead)
    if pull is None or not pull.waits:
        return RequestLine(0, PullState.OPENING.value, "", waiting)
    return RequestLine(pull.number, pull.state.value, page_of(pull.url), waiting or pull.says)
