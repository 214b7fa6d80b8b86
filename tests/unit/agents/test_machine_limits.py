"""What all repositories of a machine may do together: which agents still start, who stops, who waits."""

from dataclasses import replace

import pytest

from nobrakes.agents import limits
from nobrakes.agents.limits import MachineLimits, MachineRoom
from nobrakes.beads.model import Attempt, Outcome, ReadyBead, Role, Run, RunKind, Status
from nobrakes.daemon import deciders
from nobrakes.daemon.deciders import is_idle
from nobrakes.daemon.model import Board, Limits, StartAgent, TellCap
from nobrakes.decisions.blockers import Kind, board_blockers
from tests.support.stopped import why_stopped

DAY = 86_400.0
NOW = 10 * DAY + 3600


def waits(bead: str) -> ReadyBead:
    return ReadyBead(bead, Status.NEEDS_DOER, "task", priority=2, failures=0, retry_at=None)


READY = Board(now=NOW, limits=Limits(doers=4), ready=(waits("a"), waits("b"), waits("c")))
ATTEMPT = Attempt(1, "a", 1, Role.DOER, "Ada", 1, "t", 0.0)
RUN = Run("1-agent", 1, RunKind.AGENT, 0.0, pid=7)


def room(agents: int | None = None, taken: int = 0, own: int = 0, **more: object) -> MachineRoom:
    usd, tokens = more.pop("usd_per_day", None), more.pop("tokens_per_day", None)
    return MachineRoom(MachineLimits(agents, usd, tokens), taken, own, **more)  # type: ignore[arg-type]


def started(board: Board) -> list[str]:
    return [action.bead for action in deciders.plan_assignments(board) if isinstance(action, StartAgent)]


@pytest.mark.parametrize(("taken", "beads"), [(0, ["a", "b", "c"]), (1, ["a", "b"]), (3, []), (5, [])])
def test_no_more_agents_start_than_there_are_places(taken: int, beads: list[str]) -> None:
    assert started(replace(READY, machine=room(3, taken))) == beads


def test_without_a_limit_each_repository_has_its_own_alone() -> None:
    assert started(READY) == started(replace(READY, machine=room(None, 50))) == ["a", "b", "c"]


def test_who_waits_for_others_knows_it_and_who_waits_for_itself_does_not() -> None:
    assert deciders.waits_for_place(replace(READY, machine=room(2, 2, 1)))
    assert not deciders.waits_for_place(replace(READY, machine=room(2, 2, 2))), "the end of its own agent wakes it"
    assert not deciders.waits_for_place(replace(READY, machine=room(2, 1)))
    assert not deciders.waits_for_place(replace(READY, machine=room(2, 2), ready=()))
    assert not deciders.waits_for_place(replace(READY, machine=room(2, 2), paused=True))
    assert not deciders.waits_for_place(READY)


def test_a_run_that_waits_for_a_place_is_not_idle() -> None:
    assert not is_idle(replace(READY, machine=room(1, 1)))
    assert is_idle(replace(READY, machine=room(1, 1), ready=()))


def test_a_limit_of_the_day_starts_nothing_and_is_told_once() -> None:
    board = replace(READY, machine=room(usd_per_day=20.0, usd=20.5))
    (told,) = deciders.plan_assignments(board)
    assert isinstance(told, TellCap) and told.reached.name == "machine.usd_per_day" and told.reached.until == 11 * DAY
    known = room(usd_per_day=20.0, usd=20.5, told={"machine.usd_per_day": told.reached.period})
    assert deciders.plan_assignments(replace(board, machine=known)) == []
    assert len(deciders.plan_assignments(replace(board, machine=known, now=NOW + DAY))) == 1, (
        "another day is another period"
    )
    assert deciders.plan_turns(board) == []
    assert limits.machine_wake_at(board.machine, NOW) == 11 * DAY


def test_who_is_at_work_is_asked_to_stop_for_money_and_never_for_a_place() -> None:
    at_work = replace(READY, attempts=(ATTEMPT,), runs={1: RUN})
    assert why_stopped(replace(at_work, machine=room(1, 9)), ATTEMPT, RUN) is None
    spent = replace(at_work, machine=room(tokens_per_day=100, tokens=100))
    assert why_stopped(spent, ATTEMPT, RUN) is Outcome.CAPPED
    assert why_stopped(replace(at_work, machine=room(tokens_per_day=100, tokens=99)), ATTEMPT, RUN) is None


def test_a_person_is_told_what_to_type_and_when_it_ends() -> None:
    text = limits.reached_text("machine.usd_per_day", 20.5, 20.0)
    assert "20.5 of 20" in text and "nobrakes machine set usd_per_day=" in text and "00:00 UTC" in text
    assert "3 of 3" in limits.waiting_text(room(3, 3, 1)) and "2 of them" in limits.waiting_text(room(3, 3, 1))


def test_limits_that_cannot_be_read_start_nobody_and_stop_nobody() -> None:
    board = replace(READY, machine=room(unknown="user.db is newer", mend="Update nobrakes."))
    assert (
        started(board) == [] and deciders.plan_turns(board) == [] and limits.machine_reached(board.machine, NOW) == []
    )
    at_work = replace(board, attempts=(ATTEMPT,), runs={1: RUN})
    assert why_stopped(at_work, ATTEMPT, RUN) is None and not is_idle(at_work)
    assert is_idle(board) and not is_idle(replace(board, to_review=(waits("z"),))), "what was handed in goes on"
    assert not is_idle(replace(board, machine=room(unknown="locked", passes=True)))
    (found,) = board_blockers(board)
    assert found.kind is Kind.MACHINE and found.refuses and found.stops and "newer" in found.why and found.cure
    (beside,) = board_blockers(replace(board, to_review=(waits("z"),)))
    assert not beside.refuses
