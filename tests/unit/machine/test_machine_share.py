"""A daemon that shares its machine: what it says of itself, and when it looks again."""

from types import SimpleNamespace
from typing import Any

from nobrakes.agents.limits import Amount, MachineLimits, MachineRoom
from nobrakes.beads.model import ReadyBead, Run, RunKind, Status
from nobrakes.daemon.model import Board
from nobrakes.machine.worker import LOOK_SECONDS, MachineShare, live_runs

READY = (ReadyBead("a", Status.NEEDS_DOER, "task", priority=2, failures=0, retry_at=None),)
FULL = MachineRoom(MachineLimits(agents=1), taken=1, own=0)


class Machine:
    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.gives = True

    def look(self, at_work: Any) -> MachineRoom:
        self.asked.append(sorted(at_work))
        return FULL

    def take(self, name: str) -> bool:
        return self.gives

    def hold(self, name: str) -> None:
        self.asked.append(f"hold {name}")

    def spent(self, day: float, usd: float, tokens: int) -> None:
        self.asked.append((day, usd, tokens))


def share(machine: Machine, alive: bool = False) -> tuple[MachineShare, list[str]]:
    told: list[str] = []
    ports = SimpleNamespace(
        machine=machine,
        notifier=SimpleNamespace(tell=lambda notice: told.append(notice.text)),
        processes=SimpleNamespace(alive=lambda run: alive),
        store=SimpleNamespace(spent_since=lambda since: Amount(1.5, 30), setting=lambda key: None),
    )
    return MachineShare(ports, lambda text, stops: None), told  # type: ignore[arg-type]


def run(number: int, kind: RunKind = RunKind.AGENT, pid: int | None = 5) -> Run:
    return Run(f"{number}-x", number, kind, 0.0, pid=pid)


def test_agents_that_were_started_have_places_and_nothing_else_has() -> None:
    runs = {1: run(1), 2: run(2, RunKind.VALIDATION), 3: run(3, pid=None)}
    assert live_runs(Board(0.0, runs=runs)) == {"1-x"}


def test_what_was_spent_is_told_when_an_agent_ended_and_when_a_day_begins() -> None:
    machine = Machine()
    one, _ = share(machine)
    for board in (
        Board(90_000.0),
        Board(90_001.0),
        Board(90_002.0, runs={1: run(1)}),  # who begins has cost nothing
        Board(90_003.0),
        Board(180_000.0),
    ):
        one.room(board)
    assert [asked for asked in machine.asked if isinstance(asked, tuple)] == [
        (86_400.0, 1.5, 30),
        (86_400.0, 1.5, 30),
        (172_800.0, 1.5, 30),
    ]


def test_who_waits_looks_again_and_says_so_once() -> None:
    one, told = share(Machine())
    waits = Board(100.0, ready=READY, machine=FULL)
    assert one.wake_at(waits) == one.wake_at(waits) == 100.0 + LOOK_SECONDS
    assert len(told) == 1 and "this machine's agent limit is reached" in told[0]
    assert one.wake_at(Board(100.0, machine=FULL)) is None, "who has nothing to start sleeps"
    one.wake_at(waits)
    assert len(told) == 2


def test_who_lost_a_race_looks_again_until_the_next_look() -> None:
    machine = Machine()
    one, _ = share(machine)
    machine.gives = False
    assert not one.take("bead:a")
    assert one.wake_at(Board(100.0)) == 100.0 + LOOK_SECONDS
    one.room(Board(101.0))
    assert one.wake_at(Board(101.0)) is None


def test_a_start_that_was_cut_off_has_a_place_where_it_lives_and_needs_one_where_it_does_not() -> None:
    machine = Machine()
    machine.gives = False
    assert share(machine, alive=True)[0].take_again(run(1)) and "hold 1-x" in machine.asked
    assert not share(machine)[0].take_again(run(1))
