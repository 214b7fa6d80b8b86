"""The event log, followed and replayed: what the promises about order are judged on.

1. Statuses are replayed by beads.lifecycle alone; the store's own are only compared with them.
2. A breach that is seen while events are replayed is kept until the promise that owns it takes it.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from nobrakes.beads import lifecycle
from nobrakes.beads.model import (
    CLOSED,
    TABLE,
    WAITING_FOR_AGENT,
    Attempt,
    Bead,
    BeadType,
    DependencyType,
    Outcome,
    Status,
)
from nobrakes.decisions.model import EscalationType
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import UNDO_MARK, Event, Kind
from nobrakes.store import Store

from .providers import ADAPTERS, REFUSALS
from .spending import Spending

STARTS = (Kind.TEST_WRITER_STARTED, Kind.DOER_STARTED, Kind.REVIEW_STARTED)


class Observed:
    """What was seen so far."""

    def __init__(self) -> None:
        self.seq = 0
        self.beads: dict[str, Bead] = {}
        self.blockers: dict[str, set[str]] = defaultdict(set)
        self.held: set[str] = set()
        self.deferred: dict[str, float] = {}
        self.now = 0.0
        self.asked: dict[str, set[int]] = defaultdict(set)  # open escalations that stop the bead
        self.failures: Counter[str] = Counter()
        self.merges: Counter[str] = Counter()
        self.landed: Counter[str] = Counter()  # on their epics' branches
        self.first_starts: dict[str, int] = {}  # of beads, the first attempt, until what it began with is known
        self.waited_for: dict[str, list[str]] = {}  # what had landed of what each waited for then
        self.with_people: set[int] = set()  # reviews that waited for people
        self.by_hand: set[str] = set()
        self.persons: set[str] = set()  # beads whose latest work a person handed in
        self.taken_in: set[str] = set()  # heads that nobrakes fetched
        self.proven: dict[str, list[str]] = defaultdict(list)
        self.fresh_proofs: list[str] = []
        self.fresh_ends: list[tuple[int, Outcome]] = []  # attempts, and how each ended
        self.lands: list[tuple[str, tuple[str, ...]]] = []  # what came to main, and the checks' keys in that turn
        self.synced = False  # whether the store was synced since main moved the last time
        self.unsynced: list[str] = []  # what came to main without that
        self.main: str | None = None
        self.evidence: str | None = None  # where the chain ended
        self.paused = False
        self.frozen = False
        self.read: set[int] = set()  # questions by whose answers somebody acts
        self.asked_about_main: set[int] = set()  # questions since main was last seen green
        self.closed_until: dict[str, float] = {}  # gates, by provider
        self.spending = Spending()
        self._breaches: dict[str, list[str]] = defaultdict(list)
        self._seen_on_main = 0
        self._seen_for_boundaries = 0

    def status(self, bead: str) -> Status | None:
        """Where the bead is, by its events; None: they know of no such bead."""
        return self.beads[bead].status if bead in self.beads else None

    def take(self, promise: str) -> list[str]:
        """The breaches of one promise, once."""
        return self._breaches.pop(promise, [])

    # --- following -------------------------------------------------------------------------------

    def follow(self, store: Store, paused: bool) -> Sequence[Event]:
        """Replay what is new in the log; `paused`: nothing may have started in it."""
        self.paused = paused
        events = store.events(self.seq, 100_000)
        for event, after in zip_longest(events, events[1:]):
            if after is not None and self._is_asked_with(event, after):
                self.asked[str(event.bead)].add(int(after.data["escalation"]))
            self._apply(event, store)
            self.seq = event.seq
        return events

    def jumped(self, seconds: float) -> None:
        """The clock was set: gates that wait for a moment are moved along with one that went back, as the store's."""
        by = min(seconds, 0.0)
        self.closed_until = {provider: until + by for provider, until in self.closed_until.items()}

    def _is_asked_with(self, event: Event, after: Event) -> bool:
        """Whether the review of an epic ended with a question, which stops it: that is written down behind its end."""
        name = event.bead or ""
        is_epics = name in self.beads and self.beads[name].type is BeadType.EPIC and event.kind in lifecycle.MOVING
        same = (after.bead, after.attempt) == (event.bead, event.attempt) and event.attempt is not None
        return is_epics and same and after.kind is Kind.ESCALATED

    def _apply(self, event: Event, store: Store) -> None:
        name = event.bead
        if event.kind is Kind.GATE_CLOSED:
            self.closed_until[event.data["provider"]] = float(event.data["until"])
        elif event.kind is Kind.GATE_OPENED:
            self.closed_until.pop(event.data["provider"], None)
        elif event.kind in (Kind.MAIN_FROZEN, Kind.MAIN_UNFROZEN):
            self.frozen = event.kind is Kind.MAIN_FROZEN
        if event.kind in (Kind.MERGED, Kind.MAIN_GREEN, Kind.MAIN_UNFROZEN):
            self.asked_about_main.clear()
        elif event.kind is Kind.ESCALATED and event.data.get("type") == EscalationType.MAIN_RED:
            self.asked_about_main.add(int(event.data["escalation"]))
        elif event.kind is Kind.TURN_STARTED:
            self._judge_turn(event)
        elif event.kind is Kind.TURN_ENDED:
            ended = store.turns(int(event.data["session"]))[int(event.data["turn"]) - 1]
            self.spending.end("", ended.started_at, ended.cost_usd)
        self._judge_answer(event)
        if name is None:
            return
        if event.kind is Kind.PROPOSED:
            self._put(store.bead(name), event)
        elif event.kind in (Kind.DEPENDENCY_ADDED, Kind.DEPENDENCY_REMOVED):
            self._connect(name, event)
        elif event.kind in (Kind.HELD, Kind.TAKEN):
            self.held.add(name)
        elif event.kind in (Kind.RELEASED, Kind.HANDED_IN):
            self.held.discard(name)
        elif event.kind is Kind.REVERTED and event.actor.endswith(UNDO_MARK):
            self.held.add(name)  # who takes a merge back has the bead held, until it is released
        elif event.kind is Kind.DEFERRED:
            self.deferred[name] = float(event.data.get("until") or 0.0)
        if event.kind in (Kind.RETRIED, Kind.HANDED_IN):
            self.failures[name] = 0
        if event.kind in (Kind.HANDED_IN, Kind.WORK_SUBMITTED):
            (self.persons.add if event.kind is Kind.HANDED_IN else self.persons.discard)(name)
        if event.kind in lifecycle.MOVING:
            self._move(name, event, store)

    def _judge_turn(self, event: Event) -> None:
        words = f"turn {event.data['turn']} of session {event.data['session']}"
        if self.paused:
            self._breaches["paused"].append(f"{words} started while paused")
        until = self.closed_until.get(ADAPTERS[event.data["agent"]].provider, 0.0)
        if event.at < until:
            self._breaches["gates"].append(f"{words} started {until - event.at:.0f} s too early")
        self._breaches["caps"] += self.spending.start("", event.at)

    def _judge_answer(self, event: Event) -> None:
        if event.kind is Kind.ANSWER_READ:
            self.read.add(int(event.data["escalation"]))
        elif event.kind in (Kind.ANSWERED, Kind.ANSWER_TAKEN_BACK) and event.data["escalation"] in self.read:
            self._breaches["answers"].append(f"{event.kind.value} {event.data['escalation']}, which was read before")

    def _put(self, bead: Bead, event: Event) -> None:
        self.beads[bead.id] = replace(bead, status=Status(event.data["status"]), return_to=None)
        self.blockers[bead.id] |= {needs for needs, type_ in event.data["needs"] if type_ == DependencyType.BLOCKS}

    def _connect(self, name: str, event: Event) -> None:
        added, needs = event.kind is Kind.DEPENDENCY_ADDED, str(event.data["needs"])
        if event.data["type"] == DependencyType.PARENT_CHILD:
            self.beads[name] = replace(self.beads[name], epic=needs if added else None)
        elif added:
            self.blockers[name].add(needs)
        else:
            self.blockers[name].discard(needs)

    def _move(self, name: str, event: Event, store: Store) -> None:
        bead = self.beads[name]
        if event.kind is Kind.ESCALATED:
            self.asked[name].add(int(event.data["escalation"]))
        if event.kind is Kind.UNDONE:
            self.asked[name].update(event.data.get("asked", ()))
        if event.kind is Kind.RESOLVED and not self._resolves(name, event):
            return
        if event.kind in STARTS:
            self._judge_start(name, event)
        is_asked = bool(event.data.get("asked") if event.kind is Kind.UNDONE else self.asked[name])
        to = event.data.get("to")
        if event.kind is Kind.RESOLVED and to == Status.OPEN:
            to = Status.NEEDS_DOER.value  # what was chosen; the event says where an epic came to
        try:
            move = lifecycle.advance(bead, event.kind, lifecycle.Facts(to, is_asked))
        except NotAllowed as error:
            self._breaches["lifecycle"].append(str(error))
            return
        if event.kind in (Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.FOUND_MERGED, Kind.RESOLVED, Kind.HANDED_IN):
            self.asked[name].clear()
        self.beads[name] = replace(bead, status=move.status, return_to=move.return_to)
        self._count(name, event, store)

    def _resolves(self, name: str, event: Event) -> bool:
        """Whether this answer was the last one that the bead waited for."""
        number = int(event.data["escalation"])
        if number in self.asked[name]:
            self.asked[name].discard(number)
            if self.beads[name].status is Status.ESCALATED:
                self.failures[name] = 0
        return "to" in event.data

    def _count(self, name: str, event: Event, store: Store) -> None:
        outcome = event.data.get("outcome")
        if outcome is not None and event.attempt is not None:
            self.fresh_ends.append((event.attempt, Outcome(outcome)))
            ended = store.attempt(event.attempt)
            self.spending.end(name, ended.started_at, ended.cost_usd)
        if outcome in (*REFUSALS, Outcome.BAD_CONFIGURATION) and outcome is not None and TABLE[Outcome(outcome)].counts:
            self._breaches["burnt"].append(f"{name} is blamed for {outcome}")
        is_persons = event.kind is Kind.REVIEW_REJECTED and name in self.persons  # which costs the bead nothing
        if outcome is not None and TABLE[Outcome(outcome)].counts and not is_persons:
            self.failures[name] += 1
        if event.kind is Kind.REOPENED:
            self.failures[name] = 0
        elif event.kind is Kind.REVERTED:
            self.merges[name] -= 1
            self.failures[name] = 0
        elif event.kind is Kind.LANDED:
            self.landed[name] += 1
        elif event.kind is Kind.MERGED:
            self.merges[name] += 1
            if self.merges[name] > 1:
                self._breaches["merged"].append(f"{name} was merged {self.merges[name]} times")
        elif event.kind is Kind.DONE_BY_HAND:
            self.by_hand.add(name)
        elif event.kind is Kind.UNDONE:
            self.by_hand.discard(name)
        elif event.kind is Kind.TESTS_PROVEN_RED and event.attempt is not None:
            head = str(store.attempt(event.attempt).head)
            self.proven[name].append(head)
            self.fresh_proofs.append(head)
        elif event.kind is Kind.EPIC_COMPLETED:
            open_ = [b.id for b in self.beads.values() if b.epic == name and b.status not in CLOSED]
            if open_:
                self._breaches["epics"].append(f"{name} closed while {', '.join(open_)} is open")

    def _judge_start(self, name: str, event: Event) -> None:
        if self.paused:
            self._breaches["paused"].append(f"{event.kind.value} {name} while paused")
        if event.kind is Kind.REVIEW_STARTED:
            if self.frozen and self.beads[name].type is not BeadType.REPAIR:
                self._breaches["frozen"].append(f"a review of {name} started while main was red")
            return
        until = self.closed_until.get(ADAPTERS[event.data["agent"]].provider, 0.0)
        if event.at < until:
            self._breaches["gates"].append(f"{event.kind.value} {name} {until - event.at:.0f} s too early")
        self._breaches["caps"] += self.spending.start(name, event.at)
        self.now = event.at
        if name not in self.waited_for:
            landed = [one for one in sorted(self.blockers[name]) if self.beads[one].status is Status.LANDED]
            self.waited_for[name], self.first_starts[name] = landed, int(event.attempt or 0)
        self._breaches["dependencies"] += [f"{event.kind.value} {name}, but {one}" for one in self.obstacles(name)]

    def obstacles(self, name: str) -> list[str]:
        """Why nobody may start on the bead: what holds it or blocks it, itself or by an epic round it."""
        found = []
        place: str | None = name
        while place is not None:
            bead = self.beads[place]
            found += [f"waits for {n}" for n in sorted(self.blockers[place]) if not self._done(n, bead.epic)]
            if place in self.held:
                found.append(f"{place} is held")
            if self.deferred.get(place, 0.0) > self.now:
                found.append(f"{place} is deferred")
            if place != name and bead.status in (Status.DRAFT, Status.CANCELLED):
                found.append(f"{place} is {bead.status}")
            place = bead.epic
        return found

    def _done(self, name: str, epic: str | None) -> bool:
        """Whether it counts as done in that epic: there what has landed does."""
        bead = self.beads[name]
        return bead.status is Status.DONE or (bead.status is Status.LANDED and bead.epic == epic is not None)

    # --- recomputing -----------------------------------------------------------------------------

    def ready(self, beads: Sequence[Bead], now: float) -> set[str]:
        """The ready beads, from the facts alone."""
        self.now = now
        return {
            bead.id
            for bead in beads
            if bead.status in WAITING_FOR_AGENT
            and bead.assignee is None
            and (bead.retry_at is None or bead.retry_at <= now)
            and not self.obstacles(bead.id)
        }

    def some_ended(self, store: Store, turn: int) -> list[Attempt]:
        """An ended attempt of one bead, another one each time."""
        names = sorted(self.beads)
        past = [a for a in store.attempts(names[turn % len(names)]) if a.outcome is not None] if names else []
        return past[-1:]

    def fresh_on_main(self, landings: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
        """The moves of main since the last look."""
        fresh, self._seen_on_main = landings[self._seen_on_main :], len(landings)
        return fresh

    def fresh_for_boundaries(self, landed: Sequence[str]) -> Sequence[str]:
        """The same, for another promise."""
        fresh, self._seen_for_boundaries = landed[self._seen_for_boundaries :], len(landed)
        return fresh
