"""What doctor says of the channels that reach people."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..notices import trouble
from .findings import ERROR, OK, Finding

if TYPE_CHECKING:
    from ...config.notify import NotifySettings


def examine(settings: "NotifySettings") -> Iterator[Finding]:
    """One finding a channel."""
    for name, channel in sorted(settings.channels.items()):
        wrong = trouble(channel)
        text = f"the channel {name} cannot work: {wrong}" if wrong else f"the channel {name} ({channel.type}) is set up"
        yield Finding("notify", ERROR if wrong else OK, text)
