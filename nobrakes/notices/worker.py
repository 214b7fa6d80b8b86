"""The sender of notices: takes notices from the outbox to the configured channels, beside everything else.

1. It never waits: a turn settles what ended, routes what is new, and begins at most one message a channel.
2. Messages are settled after their end. After a kill they are sent again: at least once, never lost.
3. It asks the store only after news, an end, or a due time; without a channel it does nothing.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from ..agents.worker.launch import tests_pin
from ..beads.model import Bead, Role, Status, bead_owner
from ..config.settings import Config
from ..daemon.model import Board
from ..daemon.worker.recovery import Reconciling
from ..decisions.model import EscalationType
from ..errors import NobrakesError
from ..events.kinds import MERGES, Event, Kind
from ..git.workspaces.make import forget_sessions
from ..host.port import Notice
from ..parking import Unexpected, about, park, parked
from ..ports import Ports
from ..review.worker.culprits import pin_of
from ..review.worker.verdicts import landing_pin
from ..sessions.model import name_of
from ..text.cleaning import count
from ..trash import Trash
from . import model
from .model import (
    FOR_PEOPLE,
    SAME_WITHIN,
    SHOWN,
    DeliveryState,
    NewNotice,
    NoticeKind,
    Queue,
    Rules,
    Sent,
    Severity,
    bounded,
    cap_text,
    digest,
    message,
    notice_of,
    numbers,
    quiet_until,
    refusal,
    routes,
)

ROUTE_BATCH = 1000
UPKEEP_SECONDS = 60.0
"""Interval of reminders and clean-up."""
LOOK_SECONDS = 5.0
"""Safety interval while sending; ends wake the loop."""
STILL = "still open: "
NEVER = float("inf")
PRUNE_BATCH = 2000
LAST_SECONDS = 3.0
CLOSING_SECONDS = 2.0


class NotificationSender:
    """Sends notices. All its state is in the outbox."""

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
        config = self.ports.config()
        if config is not self._config:
            self._config, self._rules = config, config.notify.rules()
        return self._rules

    def wanted(self, notices: Sequence[NewNotice]) -> list[NewNotice]:
        """Notices that some channel accepts."""
        rules = self.rules()
        found = [notice for notice in notices if routes(rules, notice)]
        self._is_fresh |= bool(found)
        return found

    def _add(self, notices: Sequence[NewNotice]) -> None:
        found = self.wanted(notices)
        if found:
            self.ports.store.add_notices(found, model.SAME_WITHIN)

    def trouble(self, text: str, stops: bool) -> None:
        """Report trouble of the machine; `stops`: nothing starts until it is fixed. Stored if possible."""
        severity = Severity.URGENT if stops else Severity.WARNING
        said = bounded(text)
        with suppress(NobrakesError):
            self._add([NewNotice(NoticeKind.DAEMON_TROUBLE, severity, said, fingerprint=f"trouble:{said}")])

    def measure_again(self) -> None:
        """The clock was set: recheck everything."""
        self._look_at = self._upkeep_at = 0.0
        if self._channels:
            self.ports.store.release_deliveries()

    def turn(self, board: Board) -> bool:
        """Do what is possible; always False: the board is unchanged."""
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
            # say of new notices which channels get them
            new = self.ports.store.unrouted_notices(ROUTE_BATCH)
            if new:
                self.ports.store.route_notices([(one.id, [(name, now) for name in routes(rules, one)]) for one in new])
            self._is_fresh = len(new) == ROUTE_BATCH
            self._look_at = self._send(rules, now)
        return False

    def _settle(self, sent: Sent, now: float) -> None:
        store, tries = self.ports.store, self._begun.pop(sent.delivery, 1)
        if not sent.error:
            store.finish_delivery(sent.delivery, DeliveryState.SENT)
            self._upkeep_at = 0.0  # from now on it is counted when to tell it again
            return
        due_at = model.next_try(tries, now)
        if due_at is not None:
            store.finish_delivery(sent.delivery, DeliveryState.DUE, sent.error, due_at)
        elif store.finish_delivery(sent.delivery, DeliveryState.FAILED, sent.error):
            text = f"the channel {sent.channel} failed {count(tries, 'time')} to send a notice: {sent.error}"
            self.ports.notifier.tell(Notice(text, urgent=True))

    def _keep_up(self, rules: Rules, now: float) -> None:
        again, later = [], [NEVER]
        for question in self.ports.store.open_questions():
            at = model.reminds_at(question, rules)
            if at is None:
                continue
            if at > now:
                later.append(at)
            else:
                one = question.notice
                text = STILL + one.text.removeprefix(STILL)
                key = f"reminder:{one.escalation}:{question.times}"
                again.append(
                    NewNotice(one.kind, one.severity, text, one.bead, one.session, one.escalation, one.link, key)
                )
        self._add(again)
        self.ports.store.prune_notices(now - rules.keep_seconds, PRUNE_BATCH)
        self._remind_at, self._upkeep_at = min(later), now + UPKEEP_SECONDS

    def _send(self, rules: Rules, now: float) -> float:
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
            step, at = model.step(queue, rules.digest_after, now)
            if step is model.Step.DIGEST:
                store.make_digest(queue.channel, digest, SHOWN)
            if step is not model.Step.NOTHING:
                self._begin(queue.channel)
            elif at is not None:
                times.append(at)
        return min(times)

    def _queues(self) -> list[Queue]:
        return [queue for queue in self.ports.store.queues(model.WINDOW) if queue.channel in self._channels]

    def _begin(self, channel: str) -> None:
        delivery = self.ports.store.next_delivery(channel)
        if delivery is not None:
            self._begun[delivery.id] = delivery.tries + 1
            root, bead = self.ports.paths.root, delivery.notice.bead
            try:
                with about(self.ports, bead_owner(bead) if bead else ""):
                    self.ports.channels.begin(channel, delivery.id, message(delivery.notice, root))
            except Unexpected as met:
                said = f"nobrakes failed: {met.__cause__!r}"
                self.ports.store.finish_delivery(delivery.id, DeliveryState.FAILED, said)
                park(self.ports, met)

    def is_busy(self) -> bool:
        return any(self.ports.channels.is_busy(channel) for channel in self._channels)

    def wake_at(self, now: float) -> float | None:
        """When something is due without an event."""
        if not self._channels:
            return None
        at = min(self._look_at, self._remind_at, now + LOOK_SECONDS if self.is_busy() else NEVER)
        return None if at == NEVER else at

    def finish(self, board: Callable[[], Board], wait: Callable[[float], object]) -> bool:
        """At the end of a run: report it, and send due notices within bounds."""
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
        """Wait briefly, then abort; the next daemon sends the rest."""
        self.ports.channels.close(0.0 if at_once or self._has_waited else CLOSING_SECONDS)
        with suppress(NobrakesError):  # what was sent and cannot be settled is sent again
            for sent in self.ports.channels.ended():
                if not sent.error:
                    self._settle(sent, self.ports.store.now())


# The place in the event log is kept in the store, so nothing is told or cleaned up twice, whoever wrote the events.
CURSOR = "news"

MAX_EVENTS = 500

_CLOSING = frozenset({Kind.MERGED, Kind.FOUND_MERGED, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.BROUGHT_BACK})

_REVIEW_OVER = frozenset({Kind.REVIEW_REJECTED, Kind.REVIEW_INTERRUPTED})
Wanted = Callable[[Sequence[NewNotice]], list[NewNotice]]


def retiring(bead: str) -> str:
    """The name of the background job that removes the bead's clone; no agent starts on it meanwhile."""
    return f"retire {bead}"


def retire(ports: Ports, bead: Bead) -> None:
    """Archive and remove a closed bead's clone, its preview and its agents' sessions. Outputs stay with their runs."""
    if os.path.isdir(ports.paths.previews):
        from ..host.runs.processes import LocalProcesses
        from ..review.service import previews

        previews.end(LocalProcesses(ports.paths.wake), ports.paths, bead.id)  # of its own: this is beside the loop
    ports.git.retire(bead, bead.fence)
    forget_sessions(Trash(ports.paths.trash), ports.paths.agents, bead.id)


def _whose(event: Event) -> str:
    return bead_owner(event.bead) if event.bead is not None else ""


class EventConsumer:
    """Follows the event log."""

    def __init__(self, ports: Ports, wanted: Wanted) -> None:
        self.ports = ports
        self.wanted = wanted
        self.read_to = int(ports.store.setting(CURSOR) or 0)
        self.waiting: list[Event] = []
        """Read, but not handled yet."""

    def read(self, board: Board) -> Sequence[Event]:
        """The new events, after handling them."""
        fresh = self.ports.store.events(self.read_to, MAX_EVENTS) if len(self.waiting) < MAX_EVENTS else ()
        for event in (*self.waiting[:1], *fresh):  # what the first one asks for may have failed
            with parked(self.ports, _whose(event)):
                self._begin(event, board)
        self.waiting += fresh
        self.read_to = self.waiting[-1].seq if self.waiting else self.read_to
        done = 0
        for event in self.waiting:
            try:
                with parked(self.ports, _whose(event)):
                    if not self._react(event):
                        break  # the clone is still being archived, and what comes later is not told before
            except NobrakesError:
                if not done:
                    raise
                break  # it comes first at the next look, and those before it are not told twice
            done += 1
        if not done:
            return []
        self._note(self.waiting[:done])
        dealt_with, self.waiting = self.waiting[:done], self.waiting[done:]
        return dealt_with

    def _note(self, events: Sequence[Event]) -> None:
        store, place = self.ports.store, str(events[-1].seq)
        notices = self.wanted([notice for event in events if (notice := notice_of(event)) is not None])
        if not notices:
            store.set_setting(CURSOR, place)
            return
        with store.write():
            store.add_notices(notices, SAME_WITHIN)
            store.set_setting(CURSOR, place)

    def _begin(self, event: Event, board: Board) -> None:
        """Archive and remove a closed bead's clone, unless something works in it."""
        reviewed = {attempt.bead for attempt in board.attempts if attempt.role is Role.REVIEWER}
        if event.kind in _REVIEW_OVER and event.bead is not None and event.bead not in reviewed:
            self.ports.git.pin(pin_of(event.bead), None)  # the candidate of a review that is over
        if event.data.get("type") == EscalationType.NOBRAKES_FAILED.value:  # its review may have moved main
            Reconciling(self.ports, lambda bead: parked(self.ports, bead_owner(bead))).look()
        if event.kind is Kind.SESSION_ENDED:
            session = int(event.data["session"])
            self.ports.background.begin(f"forget session {session}", partial(self._forget, session))
        if event.kind not in _CLOSING or event.bead is None or self.ports.background.busy(retiring(event.bead)):
            return
        store = self.ports.store
        bead = store.bead(event.bead)
        if bead.status not in (Status.DONE, Status.CANCELLED):
            return
        beads = {attempt.id: attempt.bead for attempt in board.attempts}
        runs = board.runs.values()
        if any((beads.get(run.attempt) or store.attempt(run.attempt).bead) == bead.id for run in runs):
            return  # its process is being stopped; the end of it cleans up
        self.ports.background.begin(retiring(bead.id), partial(self._retire, bead, event.kind in MERGES))

    def _retire(self, bead: Bead, merged: bool) -> None:
        """In the background, so without the store."""
        retire(self.ports, bead)
        if merged:
            self.ports.git.pin(tests_pin(bead.id), None)
            self.ports.git.pin(landing_pin(bead.id), None)

    def _forget(self, session: int) -> None:
        """In the background: remove a session's files of the CLI."""
        forget_sessions(Trash(self.ports.paths.trash), self.ports.paths.agents, name_of(session))

    def _react(self, event: Event) -> bool:
        """Report it; False: it could not be handled yet."""
        if event.kind in (Kind.ESCALATED, Kind.SUGGESTED):
            number = event.data.get("escalation")
            title = event.data.get("title", "")
            text = f"escalation {number}: {event.data.get('type', '')}: {title}"
            self.ports.notifier.tell(Notice(text, event.bead, urgent=event.kind is Kind.ESCALATED))
        elif event.kind is Kind.GATE_CLOSED:
            if event.data["times"] == 1:  # it closes again as long as it lasts, and that is not news
                self.ports.notifier.tell(Notice(refusal(event), urgent=event.data["reason"] in FOR_PEOPLE))
        elif event.kind is Kind.CAP_REACHED:
            self.ports.notifier.tell(Notice(cap_text(event), urgent=True))
        elif event.kind is Kind.MAIN_REWRITTEN:
            self.ports.notifier.tell(Notice(str(event.data["text"]), urgent=True))
        elif event.kind is Kind.NOTIFIED:
            self.ports.notifier.tell(Notice(str(event.data.get("text", "")), event.bead))
        elif event.kind is Kind.SESSION_ENDED:
            return self.ports.background.over(f"forget session {event.data['session']}")
        elif event.kind in _CLOSING and event.bead is not None:
            return self.ports.background.over(retiring(event.bead))
        return True
