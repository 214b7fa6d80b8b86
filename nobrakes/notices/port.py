"""The outbox of notices, and the channels that they are sent through."""

from collections.abc import Callable
from typing import Protocol

from .model import Message, Sent


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
