"""A jump of the wall clock is seen by a clock that nobody sets; what is measured is moved along, also over a restart."""

from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Role, Run, RunKind, Status
from nobrakes.daemon.model import Limits
from nobrakes.daemon.worker.loop import JUMP, Jumps
from nobrakes.events.kinds import Event, Kind
from nobrakes.host.command import steady
from nobrakes.review.journal import Journal
from nobrakes.store import open_memory
from tests.contracts.store.store_beads import bead, claim

HOUR = 3600.0


class Machine:
    """A wall clock, a steady clock, and a store that goes by the first."""

    def __init__(self) -> None:
        self.wall, self.awake, self.boot = 1_800_000_000.0, 50.0, "first"
        self.told: list[Any] = []
        self.store = open_memory(lambda: self.wall)
        self.store.put([bead("a"), bead("r", status=Status.NEEDS_REVIEW)], [], "me")
        doing, self.review = claim(self.store, "a"), claim(self.store, "r", Role.REVIEWER)
        at = self.wall
        self.store.plan_run(
            Run("1-agent", doing.id, RunKind.AGENT, at, hard_deadline=at + HOUR, idle_seconds=600, active_at=at)
        )
        waiting = Journal().with_values(
            waiting="busy", waiting_until=at + 5, waiting_since=at - 60, passing_since=at - 60
        )
        self.store.journal(self.review.id, waiting.as_data())
        self.jumps = self.started()
        self.jumps.settle()

    def started(self) -> Jumps:
        ports: Any = SimpleNamespace(
            store=self.store,
            steady=lambda: (self.boot, self.awake),
            notifier=SimpleNamespace(tell=self.told.append),
        )
        return Jumps(ports)

    def passes(self, seconds: float, jump: float = 0.0) -> None:
        self.wall += seconds + jump
        self.awake += seconds


@pytest.mark.parametrize("jump", [7 * HOUR, -7 * HOUR, JUMP + 1])
@pytest.mark.parametrize("is_new", [False, True], ids=["same-daemon", "next-daemon"])
def test_what_is_measured_is_moved_along(jump: float, is_new: bool) -> None:
    machine = Machine()
    start = machine.wall
    machine.passes(10.0, jump)
    jumps = machine.started() if is_new else machine.jumps
    assert jumps.settle() == pytest.approx(jump)
    assert jumps.settle() == machine.started().settle() == 0.0
    (run,) = machine.store.runs()
    assert (run.active_at, run.hard_deadline) == (pytest.approx(start + jump), pytest.approx(start + HOUR + jump))
    assert run.sampled_at == 0.0 and run.term_at is None
    assert machine.store.bead("a").lease_until == pytest.approx(start + 60 + jump)
    journal = Journal.of(machine.store.attempt(machine.review.id).data)
    assert journal.merging.waiting_since == journal.merging.passing_since == pytest.approx(start - 60 + jump)
    assert journal.merging.waiting_until == pytest.approx(start + 5 + min(jump, 0.0)), "nothing waits longer for a jump"
    assert len(machine.told) == 1 and "clock jumped" in machine.told[0].text


def test_a_clock_that_is_put_right_slowly_and_another_boot_move_nothing() -> None:
    machine = Machine()
    for _ in range(3):
        machine.passes(100.0, 0.1)
        assert machine.jumps.settle() == 0.0
    machine.boot, machine.awake = "second", 3.0
    machine.passes(8 * HOUR)
    assert machine.started().settle() == 0.0
    (run,) = machine.store.runs()
    assert run.active_at == 1_800_000_000.0 and machine.told == []


def test_the_steady_clock_goes_on_and_a_boot_has_one_name() -> None:
    (first, before), (second, after) = steady(), steady()
    assert first == second and after >= before


@pytest.mark.parametrize("boot", ["first", "second"], ids=["same-boot", "after-a-restart"])
def test_a_clock_that_went_a_day_ahead_and_back_leaves_counters_that_agree(boot: str) -> None:
    machine = Machine()
    store, day = machine.store, 24 * HOUR
    store.put([bead("old"), bead("later")], [], "me")
    store.record(Event(Kind.DEFERRED, "later", actor="me", data={"until": machine.wall + 2 * HOUR}))
    machine.passes(1.0, day + 60.0)
    machine.jumps.settle()
    store.put([bead("young")], [], "me")
    store.board(Limits())
    machine.passes(1.0, -day - 60.0)
    machine.boot = boot
    machine.jumps.settle()
    assert store.check() == []
    assert "later" not in {one.id for one in store.board(Limits()).ready}
