"""The part of the port `Store` that is the outbox: notices and their deliveries."""

from collections.abc import Callable, Sequence

from ..core.notices.notice import Delivery, DeliveryState, NewNotice, NoticeRecord, OpenQuestion, Queue
from .database import Database
from .notices import deliveries, written


class Outbox:
    """The outbox on one database. Each method is one transaction of written or deliveries."""

    _db: Database

    def add_notices(self, notices: Sequence[NewNotice], same_within: float) -> int:
        """Write them; how many were no repetition."""
        return written.add(self._db, notices, same_within)

    def unrouted_notices(self, limit: int) -> list[NoticeRecord]:
        """Notices without a word on which channels get them."""
        return written.unrouted(self._db, limit)

    def route_notices(self, routes: Sequence[tuple[int, Sequence[tuple[str, float]]]]) -> None:
        """Say which channels get them, and when."""
        written.route(self._db, routes)

    def queues(self, window: float) -> list[Queue]:
        """What waits for each channel."""
        return deliveries.queues(self._db, window)

    def next_delivery(self, channel: str) -> Delivery | None:
        """The delivery that is due and comes first."""
        return deliveries.first(self._db, channel)

    def hold_deliveries(self, until: float) -> None:
        """What waits and is not urgent waits until then."""
        deliveries.hold(self._db, until)

    def release_deliveries(self) -> None:
        """Everything that waits may be sent now."""
        deliveries.release(self._db)

    def drop_answered(self) -> None:
        """End what tells of an escalation that is open no more."""
        deliveries.drop_answered(self._db)

    def make_digest(
        self,
        channel: str,
        compose: Callable[[Sequence[tuple[str, int]], Sequence[NoticeRecord]], NewNotice],
        shown: int,
    ) -> None:
        """All single notices that are due there become one."""
        deliveries.make_digest(self._db, channel, compose, shown)

    def settle_delivery(
        self, delivery: int, state: DeliveryState, error: str = "", due_at: float | None = None
    ) -> bool:
        """A try is over; whether it is the first of its channel that failed for good since one was sent."""
        return deliveries.settle(self._db, delivery, state, error, due_at)

    def end_other_channels(self, known: Sequence[str]) -> None:
        """End what waits for a channel that is none of these."""
        deliveries.end_others(self._db, known)

    def open_questions(self) -> list[OpenQuestion]:
        """Open escalations whose last notice was sent."""
        return written.open_questions(self._db)

    def deliveries(self, limit: int) -> list[Delivery]:
        """Those that wait, then the newest."""
        return deliveries.listed(self._db, limit)

    def prune_notices(self, before: float, limit: int) -> int:
        """Remove old notices; how many."""
        return written.prune(self._db, before, limit)
