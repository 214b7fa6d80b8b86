"""The memory of agents is measured where it is limited and somebody waits to start, and not each time anybody looks."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from nobrakes.agents.limits import LOOK_SECONDS, is_full
from nobrakes.beads.model import ReadyBead, Run, RunKind, Status
from nobrakes.daemon.model import Board, Limits
from nobrakes.errors import NoAnswer
from nobrakes.machine.worker import HOLDS_SECONDS, MemoryWatch

RUNS = {1: Run("1-agent", 1, RunKind.AGENT, 0.0, 11), 2: Run("2-checks", 2, RunKind.VALIDATION, 0.0, 12)}
WAITS = Board(
    100.0, Limits(doers=3, agents_mb=500), ready=(ReadyBead("b2", Status.NEEDS_DOER, "task", 2, 0),), runs=RUNS
)


class Measured:
    """A watch whose agents hold 600 MB each: of whom that was asked, and what a person was told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.told: list[str] = []
        ports: Any = SimpleNamespace(
            processes=SimpleNamespace(memory_mb=self._measure),
            notifier=SimpleNamespace(tell=lambda notice: self.told.append(notice.text)),
        )
        self.watch = MemoryWatch(ports)

    def _measure(self, run: Run) -> int:
        self.asked.append(run.id)
        return 600


def test_agents_alone_are_measured_and_that_holds_for_a_moment() -> None:
    one = Measured()
    for seconds in (0.0, HOLDS_SECONDS / 2, HOLDS_SECONDS):
        assert one.watch.seen(replace(WAITS, now=WAITS.now + seconds)).memory_mb == 600
    assert one.asked == ["1-agent", "1-agent"]
    more = {**RUNS, 3: Run("3-agent", 3, RunKind.AGENT, 0.0, 13)}
    later = replace(WAITS, now=WAITS.now + HOLDS_SECONDS, runs=more)
    assert one.watch.seen(later).memory_mb == 1200, "another one has begun, and is measured at once"


def test_nobody_is_measured_without_a_limit_or_where_nobody_may_start() -> None:
    one = Measured()
    assert one.watch.seen(replace(WAITS, limits=replace(WAITS.limits, agents_mb=0))).memory_mb == 0
    rests = one.watch.seen(replace(WAITS, ready=()))
    assert one.watch.wake_at(rests) is None and not one.asked and not one.told


def test_a_person_is_told_when_it_begins_and_it_is_looked_at_again() -> None:
    one = Measured()
    for now in (100.0, 102.0):
        assert one.watch.wake_at(one.watch.seen(replace(WAITS, now=now))) == now + LOOK_SECONDS
    assert one.told == ["no agent starts: the running agents use 600 MB, and limits.agents_mb is 500"]
    assert one.watch.wake_at(one.watch.seen(replace(WAITS, ready=()))) is None
    one.watch.wake_at(one.watch.seen(WAITS))
    assert len(one.told) == 2, "and again when it begins again"


def test_memory_that_cannot_be_measured_counts_as_full() -> None:
    one = Measured()

    def fails(run: Run) -> int:
        raise NoAnswer("`ps` did not answer")

    one.watch.ports.processes.memory_mb = fails  # type: ignore[method-assign]
    seen = one.watch.seen(WAITS)
    assert is_full(seen.memory_mb, WAITS.limits.agents_mb) and one.watch.wake_at(seen) is not None
