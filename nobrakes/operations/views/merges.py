"""The Reviewer's work: what stands in the queue and at which step, how long it will take, what landed and what did not.

The time that is left is a median of the latest reviews that merged; before SURE of them nothing is said.
"""

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from ...core.beads.bead import Status
from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.review.journal import Journal
from .history import Review, review_of

if TYPE_CHECKING:
    from ...ports.store import Store

SURE = 3
PAST = 60
"""Reviews that are shown, and that the forecast is made from."""
WAITING = 50


@dataclass(frozen=True, slots=True)
class InQueue:
    """One bead in the queue. `step` is None while no review of it has begun; `left`: about so many seconds more."""

    bead: str
    title: str
    attempt: int | None
    step: str | None
    since: float | None
    waits: str
    left: float | None


@dataclass(frozen=True, slots=True)
class Landed:
    """A review that ended; `event` is what an undo of its merge names."""

    review: Review
    event: int | None
    can_undo: bool


@dataclass(frozen=True, slots=True)
class MergesView:
    """`typical`: seconds of a review that merged, in the middle."""

    queue: tuple[InQueue, ...]
    waiting: int
    past: tuple[Landed, ...]
    typical: float | None
    frozen: str | None
    now: float


def merges(store: "Store", frozen: str | None) -> MergesView:
    """The queue as it stands, and the latest reviews, newest first."""
    now = store.now()
    attempts = store.reviews(PAST)
    beads = {bead.id: bead for bead in store.beads(ids=[one.bead for one in attempts])} if attempts else {}
    past = [review_of(one, beads[one.bead]) for one in attempts if one.outcome is not None]
    took = [one.ended_at - one.started_at for one in past if one.outcome is Outcome.COMPLETED and one.ended_at]
    typical = median(took) if len(took) >= SURE else None
    merged = _events(store)
    return MergesView(
        *_queue(store, typical, now),
        tuple(_landed(one, merged, beads[one.bead].status is Status.DONE) for one in past),
        typical,
        frozen,
        now,
    )


def _queue(store: "Store", typical: float | None, now: float) -> tuple[tuple[InQueue, ...], int]:
    reviewing = store.reviewing()
    waiting = store.column("review", WAITING)
    at_work = {one.bead: one for one in reviewing}
    titles = {node.id: node.title for node in waiting}
    missing = [bead for bead in at_work if bead not in titles]
    titles |= {bead.id: bead.title for bead in store.beads(ids=missing)} if missing else {}
    found = []
    for attempt in reviewing:
        journal = Journal.of(attempt.data)
        left = None if typical is None else max(0.0, typical - (now - attempt.started_at))
        found.append(
            InQueue(
                attempt.bead,
                titles[attempt.bead],
                attempt.id,
                journal.step.value,
                attempt.started_at,
                journal.waiting,
                left,
            )
        )
    behind = [InQueue(node.id, node.title, None, None, None, "", None) for node in waiting if node.id not in at_work]
    return (*found, *behind), max(store.counts()["review"], len(found) + len(behind))


def _events(store: "Store") -> dict[tuple[str, int | None], int]:
    """The event of each merge, by its bead and its attempt."""
    return {
        (event.bead or "", event.attempt): event.seq for event in store.latest_events((Kind.MERGED,), None, 2 * PAST)
    }


def _landed(review: Review, merged: dict[tuple[str, int | None], int], is_done: bool) -> Landed:
    event = merged.get((review.bead, review.attempt)) if review.outcome is Outcome.COMPLETED else None
    return Landed(review, event, event is not None and is_done and review.commit is not None)
