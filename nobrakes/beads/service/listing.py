"""Beads in a list, first by priority and then by id as people count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING

from ...records import frozen
from ...requests.text import RequestLine
from ..graph import Node
from ..model import Bead, Status
from .requested import requested

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
