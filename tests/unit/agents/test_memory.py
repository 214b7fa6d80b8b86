"""While agents hold as much memory as they may, no other one starts, and nobody is stopped for it."""

from dataclasses import replace

from nobrakes.agents import limits
from nobrakes.beads.model import Attempt, ReadyBead, Role, Status
from nobrakes.daemon import deciders
from nobrakes.daemon.deciders import is_idle
from nobrakes.daemon.model import AgentChoice, Board, Limits, StartAgent, StartTurn, Terminate
from nobrakes.decisions.blockers import Kind, board_blockers
from nobrakes.sessions.model import Session, SessionKind, State

LIMITS = Limits(doers=3, agents_mb=1000, agent_choice=AgentChoice({"doer": ("claude",)}, {}))
AT_WORK = Attempt(1, "b1", 1, Role.DOER, "Ada", 1, "t", 0.0)
TALK = Session(1, SessionKind.PLANNING, "person:me", "t", "claude", State.READY, "anthropic")
BOARD = Board(
    100.0,
    LIMITS,
    ready=(ReadyBead("b2", Status.NEEDS_DOER, "task", 2, 0),),
    attempts=(AT_WORK,),
    sessions=(TALK,),
)


def test_nothing_starts_at_the_limit_and_all_starts_below_it() -> None:
    full = replace(BOARD, memory_mb=1000)
    assert not deciders.plan_assignments(full) and not deciders.plan_turns(full)
    below = deciders.plan_assignments(replace(BOARD, memory_mb=999))
    assert [type(action) for action in below] == [StartTurn, StartAgent]


def test_nobody_is_stopped_for_it_and_it_is_not_idle() -> None:
    full = replace(BOARD, memory_mb=9000)
    assert not any(isinstance(one, Terminate) for one in deciders.plan_supervision(full)) and not is_idle(full)


def test_without_a_limit_nothing_is_full() -> None:
    free = replace(BOARD, limits=replace(LIMITS, agents_mb=0), memory_mb=10**6)
    assert not limits.is_full(free.memory_mb, free.limits.agents_mb) and deciders.plan_assignments(free)
    assert not limits.is_full(0, 1000)


def test_the_blocker_says_how_much_and_what_to_type() -> None:
    [found] = board_blockers(replace(BOARD, memory_mb=1200))
    assert found.kind is Kind.MEMORY and "1200 MB" in found.what and "agents_mb is 1000" in found.what
    assert found.commands == ("nobrakes status", "nobrakes set agents_mb=2200") and not found.refuses and found.stops
