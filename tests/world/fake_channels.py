"""Channels in the simulation: slow, refusing, dying. What they took is remembered over the daemon's death.

A message is taken at the moment that was drawn, or never; its end is seen after that. A daemon that dies in between
does not see it, and sends again.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from nobrakes.notices.model import Message, Sent

from .clock import FakeClock

SLOWEST = 40.0
DEADLINE = 30.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A delivery that was begun or that a channel took, in the daemon's life of this number."""

    channel: str
    delivery: int
    at: float
    message: Message
    life: int


@dataclass
class _Sending:
    sent: Sent
    message: Message
    over_at: float
    takes: bool
    counted: bool = False


@dataclass
class FakeChannels:
    """Channels on a virtual clock."""

    clock: FakeClock
    rng: random.Random
    refuse: float = 0.3
    dead: frozenset[str] = frozenset()
    taken: list[Taken] = field(default_factory=list)
    begun: list[Taken] = field(default_factory=list)
    overlaps: list[int] = field(default_factory=list)
    life: int = 0
    _sending: dict[str, _Sending] = field(default_factory=dict)

    def forget(self) -> None:
        """The daemon died; what its senders had begun may still be taken."""
        for one in self._sending.values():
            if one.takes and not one.counted and self.rng.random() < 0.5:
                self._take(one)
        self._sending.clear()
        self.life += 1

    def wakes(self, wake: Callable[[], None]) -> None:
        """The world looks at the times itself."""

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        """Begin to send."""
        if channel in self._sending:
            self.overlaps.append(delivery)
        self.begun.append(Taken(channel, delivery, self.clock.now(), message, self.life))
        seconds = self.rng.choice((0.0, self.rng.uniform(0, 2), self.rng.uniform(0, SLOWEST)))
        error = "refused" if channel in self.dead or self.rng.random() < self.refuse else ""
        if seconds > DEADLINE:
            seconds, error = DEADLINE, "the sending program took too long, and nobrakes ended it"
        takes = not error
        at = self.clock.steady() + seconds
        self._sending[channel] = _Sending(Sent(channel, delivery, error), message, at, takes)
        if not seconds and takes:
            self._take(self._sending[channel])

    def _take(self, one: _Sending) -> None:
        one.counted = True
        self.taken.append(Taken(one.sent.channel, one.sent.delivery, self.clock.now(), one.message, self.life))

    def is_busy(self, channel: str) -> bool:
        """Whether something was begun there whose end was not asked for yet."""
        return channel in self._sending

    def ended(self) -> list[Sent]:
        """What has ended."""
        over = [one for one in self._sending.values() if one.over_at <= self.clock.steady()]
        for one in over:
            if one.takes and not one.counted:
                self._take(one)
            del self._sending[one.sent.channel]
        return [one.sent for one in over]

    def close(self, seconds: float) -> None:
        """A daemon that ends in order ends its senders."""
        self.forget()
