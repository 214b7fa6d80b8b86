"""The courier: takes notices from the outbox to the channels of the settings, beside everything else.

1. It never waits: a turn settles what has ended, routes what is new, and begins at most one message a channel.
2. What is begun is settled after its end. A kill in between sends it again: at least once, and never lost.
3. It asks the store only when there is something to ask: something new, an end, or a time that has come.
4. Without a channel it does nothing at all.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..config.settings import Config
from ..core.board import Board
from ..core.errors import NobrakesError
from ..core.notices import pacing
from ..core.notices.digest import SHOWN, digest
from ..core.notices.notice import DeliveryState, NewNotice, NoticeKind, NoticeRecord, Queue, Rules, Sent, Severity
from ..core.notices.quiet import quiet_until
from ..core.notices.routing import bounded, message, numbers, routes
from ..core.owners import of_bead
from ..ports.people import Notice
from .parking import Unexpected, about, park
from .ports import Ports

ROUTED_AT_ONCE = 1000
"""Notices that a turn routes."""
UPKEEP_SECONDS = 60.0
"""Between two looks for open questions to tell again and for old notices, when something happens anyway."""
LOOK_SECONDS = 5.0
"""An end wakes the loop; what is being sent is looked at so often in any case."""
STILL = "still open: "
NEVER = float("inf")
PRUNED_AT_ONCE = 2000
LAST_SECONDS = 3.0
"""So long a run that has ended waits for what can still be sent."""
CLOSING_SECONDS = 2.0
"""So long a daemon that ends waits for what is being sent."""


class Courier:
    """Sends notices. What it remembers, a new one finds in the outbox."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._config: Config | None = None
        self._rules = Rules()
        self._channels: frozenset[str] = frozenset()  # those that the outbox knows of
        self._begun: dict[int, int] = {}  # delivery -> which try it is
        self._is_fresh = True
        self._look_at = 0.0
        self._upkeep_at = 0.0
        self._remind_at = NEVER
        self._has_waited = False

    def rules(self) -> Rules:
        """The settings as they are now."""
        config = self.ports.config()
        if config is not self._config:
            self._config, self._rules = config, config.notify.rules()
        return self._rules

    def wanted(self, notices: Sequence[NewNotice]) -> list[NewNotice]:
        """Those that some channel takes: whoever asks writes them to the outbox."""
        rules = self.rules()
        found = [notice for notice in notices if routes(rules, notice)]
        self._is_fresh |= bool(found)
        return found

    def _add(self, notices: Sequence[NewNotice]) -> None:
        found = self.wanted(notices)
        if found:
            self.ports.store.add_notices(found, pacing.SAME_WITHIN)

    def trouble(self, text: str, stops: bool) -> None:
        """The machine is in trouble; `stops`: nothing is started until it is mended. It is kept where it can be."""
        severity = Severity.URGENT if stops else Severity.WARNING
        said = bounded(text)
        with suppress(NobrakesError):
            self._add([NewNotice(NoticeKind.DAEMON_TROUBLE, severity, said, fingerprint=f"trouble:{said}")])

    def measure_anew(self) -> None:
        """The clock was set: what waits is looked at anew."""
        self._look_at = self._upkeep_at = 0.0
        if self._channels:
            self.ports.store.release_deliveries()

    def turn(self, board: Board) -> bool:
        """Do what can be done now. Nothing of it is anybody's turn: False."""
        rules, now = self.rules(), board.now
        if not rules.channels and not self._channels:
            return False
        if rules.names != self._channels:
            self.ports.store.end_other_channels(sorted(rules.names))
            self._channels, self._is_fresh = rules.names, True
        ended = self.ports.channels.ended()
        for sent in ended:
            self._settle(sent, now)
        if now >= min(self._upkeep_at, self._remind_at):
            self._keep_up(rules, now)
        if self._is_fresh or ended or now >= self._look_at:
            self._is_fresh = self._route(rules, now)
            self._look_at = self._send(rules, now)
        return False

    def _settle(self, sent: Sent, now: float) -> None:
        """Write down how a try ended."""
        store, tries = self.ports.store, self._begun.pop(sent.delivery, 1)
        if not sent.error:
            store.settle_delivery(sent.delivery, DeliveryState.SENT)
            self._upkeep_at = 0.0  # from now on it is counted when to tell it again
            return
        due_at = pacing.next_try(tries, now)
        if due_at is not None:
            store.settle_delivery(sent.delivery, DeliveryState.DUE, sent.error, due_at)
        elif store.settle_delivery(sent.delivery, DeliveryState.FAILED, sent.error):
            text = f"the channel {sent.channel} took a message in none of {tries} tries: {sent.error}"
            self.ports.notifier.tell(Notice(text, urgent=True))

    def _keep_up(self, rules: Rules, now: float) -> None:
        """Tell again what nobody answered, and let go of what is old."""
        again, later = [], [NEVER]
        for question in self.ports.store.open_questions():
            at = pacing.reminds_at(question, rules)
            if at is None:
                continue
            if at > now:
                later.append(at)
            else:
                again.append(_reminder(question.notice, question.times))
        self._add(again)
        self.ports.store.prune_notices(now - rules.keep_seconds, PRUNED_AT_ONCE)
        self._remind_at, self._upkeep_at = min(later), now + UPKEEP_SECONDS

    def _route(self, rules: Rules, now: float) -> bool:
        """Say of new notices which channels get them; whether there may be more."""
        new = self.ports.store.unrouted_notices(ROUTED_AT_ONCE)
        if new:
            self.ports.store.route_notices([(one.id, [(name, now) for name in routes(rules, one)]) for one in new])
        return len(new) == ROUTED_AT_ONCE

    def _send(self, rules: Rules, now: float) -> float:
        """Begin what is due; when to look again."""
        store = self.ports.store
        queues = self._queues()
        if any(queue.due or queue.digests for queue in queues):
            store.drop_answered()
            until = quiet_until(rules.quiet, now, self.ports.zone())
            if until is not None:
                store.hold_deliveries(until)
            queues = self._queues()
        times = [NEVER]
        for queue in queues:
            if queue.next_at is not None:
                times.append(queue.next_at)
            if self.ports.channels.is_busy(queue.channel):
                continue  # its end wakes the loop
            step, at = pacing.step(queue, rules.digest_after, now)
            if step is pacing.Step.DIGEST:
                store.make_digest(queue.channel, digest, SHOWN)
            if step is not pacing.Step.NOTHING:
                self._begin(queue.channel)
            elif at is not None:
                times.append(at)
        return min(times)

    def _queues(self) -> list[Queue]:
        return [queue for queue in self.ports.store.queues(pacing.WINDOW) if queue.channel in self._channels]

    def _begin(self, channel: str) -> None:
        delivery = self.ports.store.next_delivery(channel)
        if delivery is not None:
            self._begun[delivery.id] = delivery.tries + 1
            project, bead = os.path.basename(self.ports.paths.root), delivery.notice.bead
            try:
                with about(self.ports, of_bead(bead) if bead else ""):
                    self.ports.channels.begin(channel, delivery.id, message(delivery.notice, project))
            except Unexpected as met:
                said = f"nobrakes failed: {met.__cause__!r}"
                self.ports.store.settle_delivery(delivery.id, DeliveryState.FAILED, said)
                park(self.ports, met)

    def is_busy(self) -> bool:
        """Whether a message is being sent."""
        return any(self.ports.channels.is_busy(channel) for channel in self._channels)

    def wake_at(self, now: float) -> float | None:
        """When something is due without anything happening."""
        if not self._channels:
            return None
        at = min(self._look_at, self._remind_at, now + LOOK_SECONDS if self.is_busy() else NEVER)
        return None if at == NEVER else at

    def finish(self, board: Callable[[], Board], wait: Callable[[float], object]) -> bool:
        """A run has nothing left to do: say so, and give what is due a bounded chance to be sent."""
        if not self.rules().channels:
            return False
        store = self.ports.store
        found = [(name, count) for name, count in store.counts().items() if count]
        text = f"the run has ended: {numbers(found) or 'no bead'}"
        mark = f"run:{store.position().seq}"
        self._add([NewNotice(NoticeKind.RUN_FINISHED, Severity.INFO, text, fingerprint=mark)])
        until = time.monotonic() + LAST_SECONDS
        self._has_waited = True
        while (left := until - time.monotonic()) > 0:
            self.turn(board())
            if not self.is_busy():
                break
            wait(left)
        return False

    def close(self, at_once: bool) -> None:
        """Wait a little for what is being sent, then end it. What was not sent is sent by the next daemon."""
        self.ports.channels.close(0.0 if at_once or self._has_waited else CLOSING_SECONDS)
        with suppress(NobrakesError):  # what was sent and cannot be settled is sent again
            for sent in self.ports.channels.ended():
                if not sent.error:
                    self._settle(sent, self.ports.store.now())


def _reminder(notice: NoticeRecord, times: int) -> NewNotice:
    """The notice of a question that is still open."""
    return NewNotice(
        notice.kind,
        notice.severity,
        STILL + notice.text.removeprefix(STILL),
        notice.bead,
        notice.session,
        notice.escalation,
        notice.link,
        f"reminder:{notice.escalation}:{times}",
    )
