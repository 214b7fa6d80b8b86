"""Notices in a simulated world: one world in four has channels, of which one may be dead, and quiet hours in some.

What the channels took is compared with the event log and the outbox: nothing is lost, nothing comes twice without a
death of the daemon, and quiet hours hold what they say.
"""

import random
from collections import Counter
from dataclasses import replace
from zoneinfo import ZoneInfo

from nobrakes.config.sections import ChannelSettings, NotifySettings
from nobrakes.config.settings import Config
from nobrakes.notices.model import MAX_TRIES, DeliveryState, Severity, notice_of, quiet_until
from nobrakes.store import Store

from .clock import FakeClock
from .fake_channels import FakeChannels

ZONE = ZoneInfo("Europe/Berlin")
_ALL = 1_000_000
_FOR_EVER = 36_500.0


class Noticing:
    """The channels of a world, and what has to be true of them. The dice of the rest of the world are left alone."""

    def __init__(self, seed: int, clock: FakeClock, store: Store) -> None:
        self.store, self.clock = store, clock
        self.rng = random.Random(f"{seed} what notices")
        dead = frozenset({"pager"}) if self.rng.random() < 0.3 else frozenset()
        self.channels = FakeChannels(clock, self.rng, self.rng.choice((0.0, 0.3)), dead)
        self.settings = NotifySettings(
            channels={
                "phone": ChannelSettings(type="desktop"),
                "pager": ChannelSettings(type="desktop", severity="warning"),
            },
            quiet_hours=self.rng.choice(("", "00:00-12:00", "06:00-05:00")),
            renotify_hours=self.rng.choice((0.0, 1.0)),
            digest_after=self.rng.choice((1, 3, 10)),
            keep_days=_FOR_EVER,
        )
        self._looked = 0

    def on(self, config: Config) -> Config:
        """The settings with the channels."""
        return replace(config, notify=self.settings)

    def wrongly_sent(self) -> list[str]:
        """What was sent in quiet hours, beside another message, or twice by a daemon that did not die meanwhile."""
        fresh, self._looked = self.channels.begun[self._looked :], len(self.channels.begun)
        quiet = self.settings.rules().quiet
        wrong = [f"{one} was begun beside another one" for one in self.channels.overlaps]
        wrong += [
            f"delivery {one.delivery} was begun in quiet hours"
            for one in fresh
            if one.message.severity is not Severity.URGENT and quiet_until(quiet, one.at, ZONE) is not None
        ]
        times = Counter((one.delivery, one.life) for one in self.channels.taken)
        return wrong + [
            f"delivery {delivery} came {n} times in one life" for (delivery, _), n in times.items() if n > 1
        ]

    def wait(self) -> None:
        """Let the time pass until something is due: quiet hours are longer than a day of looks at a request."""
        due = [one.due_at for one in self.store.deliveries(_ALL) if one.state is DeliveryState.DUE]
        self.clock.advance_to(min(due, default=0.0))

    def never_sent(self) -> list[str]:
        """What happened and was not told, when all has come to rest."""
        taken = {one.delivery for one in self.channels.taken}
        deliveries = self.store.deliveries(_ALL)
        wrong = [f"notice {one.id} has no channel" for one in self.store.unrouted_notices(_ALL)]
        for one in deliveries:
            if one.state is DeliveryState.DUE:
                wrong.append(f"delivery {one.id} waits, and nothing is left to happen")
            if one.state is DeliveryState.SENT and one.id not in taken:
                wrong.append(f"delivery {one.id} counts as sent, and was not")
            if one.state is DeliveryState.FAILED and one.tries < MAX_TRIES:
                wrong.append(f"delivery {one.id} was given up after {one.tries} tries")
        written = Counter((one.notice.fingerprint, one.channel) for one in deliveries)
        for event in self.store.events(0, _ALL):
            notice = notice_of(event)
            if notice is None:
                continue
            times = written[notice.fingerprint, "phone"]
            if not times or (times > 1 and notice.fingerprint.startswith("event:")):
                wrong.append(f"event {event.seq} ({event.kind.value}) has {times} notices")
        return wrong
