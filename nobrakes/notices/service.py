"""Notices for people at a terminal: the channels tried out, what was sent and what waits, and the secrets they need."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..config.user import secret
from ..doctor.health import ERROR, OK, Finding
from ..errors import ConfigError, NobrakesError
from ..host.messages import ChildChannels
from ..paths import Paths
from ..records import frozen
from .model import Delivery, DeliveryState, NoticeKind, NoticeRecord, Sent, Severity, message
from .senders import channel_of
from .senders import trouble as missing

if TYPE_CHECKING:
    from ..config.sections import ChannelSettings, NotifySettings
    from ..store import Store


SHOWN = 200


@frozen
class ChannelView:
    """A channel: its rules, waiting messages, and last result."""

    name: str
    type: str
    kinds: tuple[str, ...]
    severity: str
    trouble: str
    waiting: int
    next_at: float | None
    last: Delivery | None


@frozen
class NotifyView:
    """All channels, and the newest deliveries."""

    channels: tuple[ChannelView, ...]
    deliveries: tuple[Delivery, ...]
    now: float


def try_out(settings: "NotifySettings", paths: Paths, name: str | None, now: float) -> list[Sent]:
    """Send a test notice through one channel or all; returns the results."""
    names = sorted(settings.channels) if name is None else [name]
    if not names:
        raise ConfigError("no channel is configured", "Add a table [notify.channels.NAME] to .nobrakes/config.toml.")
    for one in names:
        channel_of(settings, one)
    text = "This is a test notice from nobrakes."
    notice = NoticeRecord(0, NoticeKind.TEST, Severity.INFO, text, None, None, None, "", "", now)
    said = message(notice, paths.root)
    channels = ChildChannels(lambda: settings, paths.root)
    ended = threading.Semaphore(0)
    channels.wakes(ended.release)
    for number, one in enumerate(names):
        channels.begin(one, number, said)
    for _ in names:
        ended.acquire()
    return sorted(channels.ended(), key=lambda sent: sent.channel)


def view(store: "Store", settings: "NotifySettings") -> NotifyView:
    """The channels and their deliveries."""
    found = store.deliveries(SHOWN)
    channels = []
    for name, one in sorted(settings.channels.items()):
        own = [delivery for delivery in found if delivery.channel == name]
        waiting = [delivery for delivery in own if delivery.state is DeliveryState.DUE]
        last = next((d for d in own if d.state in (DeliveryState.SENT, DeliveryState.FAILED)), None)
        next_at = min((delivery.due_at for delivery in waiting), default=None)
        said = ChannelView(name, one.type, one.kinds, one.severity, trouble(one), len(waiting), next_at, last)
        channels.append(said)
    return NotifyView(tuple(channels), tuple(found), store.now())


def trouble(channel: "ChannelSettings") -> str:
    try:
        if channel.secret:
            secret(channel.secret)
    except NobrakesError as error:
        return error.whole
    return missing(channel.type, channel.command)


def examine(settings: "NotifySettings") -> Iterator[Finding]:
    for name, channel in sorted(settings.channels.items()):
        wrong = trouble(channel)
        text = f"the channel {name} cannot work: {wrong}" if wrong else f"the channel {name} ({channel.type}) is set up"
        yield Finding("notify", ERROR if wrong else OK, text)
