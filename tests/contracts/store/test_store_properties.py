"""Whatever happens to a graph, the columns that the store keeps are what core computes anew from the facts."""

from collections import Counter
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nobrakes.beads.db import levels
from nobrakes.beads.graph import rank, typical_of
from nobrakes.beads.model import CLOSED, Bead, BeadType, Dependency, DependencyType, Outcome, Role, Status
from nobrakes.beads.readiness import deadlocks
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import BadBead, Deadlock, NotAllowed, Stale
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import open_memory
from tests.world.graph import b_levels, ready_beads
from tests.world.moves import moves

BEADS = st.integers(0, 13)
BLOCKING = st.sampled_from([DependencyType.BLOCKS, DependencyType.BLOCKS, DependencyType.PARENT_CHILD])
STATUSES = st.sampled_from(
    [Status.DRAFT, Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_DOER, Status.NEEDS_REVIEW, Status.DONE]
)
REMARKS = [Kind.HELD, Kind.RELEASED, Kind.DEFERRED]
MOVES = [Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.ESCALATED, Kind.REOPENED, Kind.RESOLVED, Kind.UNDONE, Kind.REVERTED]
MOVES += [Kind.EPIC_LANDED, Kind.FOUND_MERGED]
PRINTED = frozenset(moves())
ENDS = {
    Role.TEST_WRITER: [Kind.TESTS_PROVEN_RED, Kind.TEST_WRITER_STOPPED],
    Role.DOER: [Kind.WORK_SUBMITTED, Kind.DOER_STOPPED],
    Role.REVIEWER: [Kind.MERGED, Kind.LANDED, Kind.REVIEW_REJECTED, Kind.REVIEW_INTERRUPTED],
}


class AnyLife(RuleBasedStateMachine):
    """Random people, random agents, random time."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1_750_000_000.0
        self.store = open_memory(lambda: self.time)
        self.count = 0
        self.attempts: list[Any] = []

    def pick(self, number: int) -> str:
        return f"b{number % self.count}"

    @rule(
        count=st.integers(1, 4),
        epic=st.booleans(),
        status=STATUSES,
        priority=st.integers(0, 4),
        estimate=st.one_of(st.none(), st.integers(1, 90)),
        links=st.lists(st.tuples(BEADS, BEADS, BLOCKING), max_size=4),
    )
    def put(
        self, count: int, epic: bool, status: Status, priority: int, estimate: int | None, links: list[Any]
    ) -> None:
        type_ = BeadType.EPIC if epic else BeadType.TASK
        beads = [
            Bead(f"b{self.count + i}", "t", type_, priority=priority, estimate=estimate, status=status)
            for i in range(count)
        ]
        total = self.count + count
        edges = [Dependency(f"b{a % total}", f"b{b % total}", kind) for a, b, kind in links]
        try:
            self.store.put(beads, edges, "me")
        except (Deadlock, BadBead):
            return
        self.count = total

    @precondition(lambda self: self.count)
    @rule(a=BEADS, b=BEADS, type_=BLOCKING)
    def connect(self, a: int, b: int, type_: DependencyType) -> None:
        dependency = Dependency(self.pick(a), self.pick(b), type_)
        before = self.store.dependencies()
        circle = deadlocks(self.store.nodes(), [*before, dependency])
        parents = {d.bead: d.needs for d in before if d.type is DependencyType.PARENT_CHILD}
        try:
            self.store.add_dependency(dependency, "me")
        except BadBead:
            assert type_ is DependencyType.PARENT_CHILD and dependency.bead in parents
        except Deadlock:
            assert circle or self._nested(parents, dependency) or dependency.bead == dependency.needs
            assert self.store.dependencies() == before
        else:
            assert not circle

    @staticmethod
    def _nested(parents: dict[str, str], dependency: Dependency) -> bool:
        above: str | None = dependency.needs
        while above is not None and above != dependency.bead:
            above = parents.get(above)
        return dependency.type is DependencyType.PARENT_CHILD and above is not None

    @precondition(lambda self: self.count)
    @rule(number=st.integers(0, 50))
    def disconnect(self, number: int) -> None:
        found = self.store.dependencies()
        if not found:
            return
        cut = found[number % len(found)]
        try:
            self.store.remove_dependency(cut, "me")
        except NotAllowed:  # it is on the branch of the epic that it would leave
            assert cut.type is DependencyType.PARENT_CHILD and self.store.bead(cut.bead).status is Status.LANDED

    @precondition(lambda self: self.count)
    @rule(a=BEADS, kind=st.sampled_from(REMARKS), ahead=st.sampled_from([None, 10.0, 500.0]))
    def remark(self, a: int, kind: Kind, ahead: float | None) -> None:
        until = None if ahead is None else self.time + ahead
        self.store.record(Event(kind, self.pick(a), data={"reason": "why", "until": until}))

    @precondition(lambda self: self.count)
    @rule(a=BEADS, kind=st.sampled_from(MOVES))
    def move(self, a: int, kind: Kind) -> None:
        before = self.store.bead(self.pick(a))
        try:
            self.store.record(Event(kind, before.id))
        except (NotAllowed, Deadlock):
            assert self.store.bead(before.id) == before
        self.is_in_the_diagram(before, kind)

    def is_in_the_diagram(self, before: Bead, kind: Kind) -> None:
        after = self.store.bead(before.id).status
        assert after is before.status or (before.status, kind, after) in PRINTED

    @precondition(lambda self: self.count)
    @rule(a=BEADS)
    def approve(self, a: int) -> None:
        before = self.store.bead(self.pick(a))
        if before.status is Status.DRAFT:
            self.store.approve([before.id], "me")
            self.is_in_the_diagram(before, Kind.APPROVED)

    @precondition(lambda self: self.count)
    @rule(
        a=BEADS,
        fields=st.fixed_dictionaries(
            {},
            optional={
                "priority": st.integers(0, 4),
                "estimate": st.one_of(st.none(), st.integers(1, 90)),
                "type": st.sampled_from([BeadType.TASK, BeadType.EPIC]),
                "needs_tests": st.booleans(),
                "epic": st.one_of(st.none(), BEADS),
            },
        ),
    )
    def change(self, a: int, fields: dict[str, Any]) -> None:
        if fields.get("epic") is not None:
            fields["epic"] = self.pick(fields["epic"])
        before = self.store.bead(self.pick(a))
        try:
            self.store.change(before.id, fields, "me")
        except (BadBead, Deadlock, NotAllowed):
            assert self.store.bead(before.id) == before
        self.is_in_the_diagram(before, Kind.CHANGED)

    @rule(
        number=st.integers(0, 20),
        end=st.integers(0, 5),
        retry=st.sampled_from([None, None, 30.0]),
        stop=st.booleans(),
        late=st.booleans(),
    )
    def work(self, number: int, end: int, retry: float | None, stop: bool, late: bool) -> None:
        board = self.store.board(Limits())
        queue = [*board.ready, *board.to_review]
        if queue:
            chosen = queue[number % len(queue)]
            role = {"needs_tests": Role.TEST_WRITER, "needs_doer": Role.DOER}.get(chosen.status, Role.REVIEWER)
            attempt = self.store.open_attempt(chosen.id, role, "script", ["Ada", "Bob"], 60.0, None)
            assert attempt is not None
            assert self.store.open_attempt(chosen.id, role, "script", ["Ada"], 60.0, None) is None
            self.attempts.append(attempt)
        if self.attempts and not late:
            attempt = self.attempts.pop(number % len(self.attempts))
            kinds = ENDS[attempt.role]
            kind = kinds[end % len(kinds)]
            open_ = self.store.attempt(attempt.id).outcome is None
            escalation = NewEscalation(EscalationType.REPEATED_FAILURE, "help") if stop else None
            try:
                self.store.close_attempt(
                    attempt,
                    kind,
                    Outcome.COMPLETED,
                    counts=stop,
                    retry_at=None if retry is None else self.time + retry,
                    escalation=escalation,
                )
                assert open_
            except Stale:
                assert not open_

    @rule(number=st.integers(0, 5), to=st.sampled_from([None, Status.NEEDS_DOER]))
    def decide(self, number: int, to: Status | None) -> None:
        waiting = self.store.escalations()
        if waiting:
            chosen = waiting[number % len(waiting)]
            before = self.store.bead(chosen.bead) if chosen.bead is not None else None
            self.store.resolve(chosen.id, "go on", "me", to)
            if before is not None:
                self.is_in_the_diagram(before, Kind.RESOLVED)

    @rule()
    def close_epics(self) -> None:
        for epic in self.store.board(Limits()).epics_done:
            self.store.record(Event(Kind.EPIC_COMPLETED, epic))

    @rule(seconds=st.sampled_from([1.0, 20.0, 100.0, 100_000.0]))
    def pass_time(self, seconds: float) -> None:
        self.time += seconds

    @rule()
    def learn(self) -> None:
        self.store.learn()
        nodes = self.store.nodes()
        if any(node.estimate for node in nodes if node.type != BeadType.EPIC):
            assert self.store.typical_minutes().minutes == typical_of(nodes).minutes

    @invariant()
    def what_is_kept_is_what_is_computed(self) -> None:
        assert self.store.differences() == {}
        nodes, dependencies = self.store.nodes(), self.store.dependencies()
        assert deadlocks(nodes, dependencies) == []
        ready = self.store.ready(1000)
        assert sorted(bead.id for bead in ready) == ready_beads(nodes, dependencies, self.time)
        self.in_order(ready, nodes, dependencies)

    def in_order(self, ready: Any, nodes: Any, dependencies: Any) -> None:
        level = b_levels(nodes, dependencies, self.store.typical_minutes())
        found = self.store.all("SELECT id, ready_since, freed_at, rowid FROM beads")
        kept = {row["id"]: row for row in found}
        blocked = Counter(one.needs for one in dependencies if one.type is DependencyType.BLOCKS)

        def order(bead: Any) -> Any:
            return (
                rank(bead.priority, kept[bead.id]["ready_since"], self.time), -level[bead.id], -blocked[bead.id],
                -kept[bead.id]["freed_at"], bead.created_at, kept[bead.id]["rowid"],
            )  # fmt: skip

        assert [bead.id for bead in ready] == [bead.id for bead in sorted(ready, key=order)]
        board = self.store.board(Limits(), front=1000)
        assert [bead.id for bead in board.ready] == [bead.id for bead in ready]

    @invariant()
    def work_is_held_by_one_open_attempt(self) -> None:
        open_ = {attempt.bead: attempt for attempt in self.store.board(Limits()).attempts}
        for bead in self.store.beads():
            working = bead.status in (Status.WRITING_TESTS, Status.DOING, Status.REVIEWING)
            assert working == (bead.id in open_) == (bead.assignee is not None)
            if working:
                assert open_[bead.id].fence == bead.fence
            assert (bead.closed_at is not None) <= (bead.status in CLOSED)

    def teardown(self) -> None:
        self.store.close()


AnyLife.TestCase.settings = settings(
    max_examples=min(60, settings.default.max_examples),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestAnyLife = AnyLife.TestCase


class LevelsLag(AnyLife):
    """The same where a transaction settles one bead's levels: circles are refused and beads ready all the same."""

    def in_order(self, ready: Any, nodes: Any, dependencies: Any) -> None:
        """The order may lag."""
        assert levels.PART == 1

    @precondition(lambda self: self.count)
    @rule()
    def catch_up(self) -> None:
        levels.update_all(self.store)
        kept = {row["id"]: row["b_level"] for row in self.store.all("SELECT id, b_level FROM beads")}
        assert kept == b_levels(self.store.nodes(), self.store.dependencies(), self.store.typical_minutes())


LevelsLag.TestCase.settings = AnyLife.TestCase.settings


class TestLevelsLag(LevelsLag.TestCase):  # type: ignore[name-defined]
    def run(self, result: Any = None) -> Any:
        with patch.object(levels, "PART", 1):
            return super().run(result)
