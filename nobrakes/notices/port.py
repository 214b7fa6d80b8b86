"""The outbox of notices, and the channels that they are sent through."""

from collections.abc import Callable, Sequence
from typing import Protocol

from .model import Delivery, DeliveryState, Message, NewNotice, NoticeRecord, OpenQuestion, Queue, Sent


class Outbox(Protocol):
    """A part of Store. A delivery is due until its end is settled: after a kill it is sent twice, and never lost."""

    def add_notices(self, notices: Sequence[NewNotice], same_within: float) -> int:
        """Write them; how many were written. One with the fingerprint of one of so many seconds ago is the same."""
        ...

    def unrouted_notices(self, limit: int) -> list[NoticeRecord]:
        """Notices for which nobody has said yet which channels get them, oldest first."""
        ...

    def route_notices(self, routes: Sequence[tuple[int, Sequence[tuple[str, float]]]]) -> None:
        """For each notice by its id the channels that get it, each with the time from which it may be sent."""
        ...

    def queues(self, window: float) -> list[Queue]:
        """What waits for each channel for which something waits; messages of the last `window` seconds are counted."""
        ...

    def next_delivery(self, channel: str) -> Delivery | None:
        """The delivery that is due now and comes first: digests, then what matters most, then the oldest."""
        ...

    def hold_deliveries(self, until: float) -> None:
        """What waits and is not urgent is not sent before this time."""
        ...

    def release_deliveries(self) -> None:
        """Everything that waits may be sent now: the clock was set, and its times mean nothing any more."""
        ...

    def drop_answered(self) -> None:
        """End what waits and tells of an escalation that was answered or decided meanwhile."""
        ...

    def make_digest(
        self,
        channel: str,
        compose: Callable[[Sequence[tuple[str, int]], Sequence[NoticeRecord]], NewNotice],
        shown: int,
    ) -> None:
        """All single notices that are due there become one, made of (kind, count) and the `shown` that matter most."""
        ...

    def settle_delivery(
        self, delivery: int, state: DeliveryState, error: str = "", due_at: float | None = None
    ) -> bool:
        """A try is over: sent, failed for good, or `due` again at `due_at`. What has ended already stays as it is.

        Whether it is the first of its channel that failed for good since one was sent.
        """
        ...

    def end_other_channels(self, known: Sequence[str]) -> None:
        """End what waits for a channel that is none of these."""
        ...

    def open_questions(self) -> list[OpenQuestion]:
        """Open escalations and questions whose last notice was sent."""
        ...

    def deliveries(self, limit: int) -> list[Delivery]:
        """The newest deliveries, newest first; those that wait come before."""
        ...

    def prune_notices(self, before: float, limit: int) -> int:
        """Remove notices that were written before, of which nothing waits and which no open escalation needs."""
        ...


class Channels(Protocol):
    """Sends messages beside the loop, at most one at a time through each channel."""

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called after each end, from wherever it was seen."""
        ...

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        """Begin to send. Whatever is wrong is told by `ended`; nothing is raised."""
        ...

    def is_busy(self, channel: str) -> bool:
        """Whether something was begun there whose end was not asked for yet."""
        ...

    def ended(self) -> list[Sent]:
        """What has ended since it was asked last."""
        ...

    def close(self, seconds: float) -> None:
        """Wait so long for what is being sent, then end it; `ended` has all of it afterwards."""
        ...


class NoChannels:
    """Where nothing is sent."""

    def wakes(self, wake: Callable[[], None]) -> None:
        """Nothing ends."""

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        """Nobody asks: there is no channel."""

    def is_busy(self, channel: str) -> bool:
        """Never."""
        return False

    def ended(self) -> list[Sent]:
        """Nothing."""
        return []

    def close(self, seconds: float) -> None:
        """Nothing to end."""
