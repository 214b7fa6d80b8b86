"""Which sessions begin their next turn, and what keeps them from it."""

from dataclasses import replace

from nobrakes.agents.limits import Amount, Cap, Caps, Cooldown, Spent
from nobrakes.beads.model import Outcome, ReadyBead, Run, RunKind, Status
from nobrakes.daemon import deciders
from nobrakes.daemon.deciders import is_idle
from nobrakes.daemon.model import AgentChoice, Board, Limits, ResumeTurn, StartAgent, StartTurn, Terminate
from nobrakes.sessions.model import Session, SessionKind, State, Talk, Turn
from tests.support.stopped import why_stopped

LIMITS = Limits(doers=2, sessions=2, agent_choice=AgentChoice({"doer": ("claude",)}, {}))


def session(number: int, state: State = State.READY, **fields: object) -> Session:
    return replace(
        Session(number, SessionKind.PLANNING, "person:me", "t", "claude", state, "anthropic"),
        **fields,  # type: ignore[arg-type]
    )


def talk(number: int, **fields: object) -> Talk:
    turn = Turn(10 + number, number, 1, f"s{10 + number}.{number}.x", False, "anthropic", 0.0)
    return Talk(session(number, State.RUNNING, **fields), turn)


def board(*sessions: Session, **fields: object) -> Board:
    return replace(Board(100.0, LIMITS, sessions=sessions), **fields)  # type: ignore[arg-type]


def test_the_oldest_begin_as_many_as_have_a_place() -> None:
    assert deciders.plan_turns(board(session(1), session(2), session(3))) == [StartTurn(1), StartTurn(2)]
    assert deciders.plan_turns(board(session(2), session(3), talks=(talk(1),))) == [StartTurn(2)]


def test_nothing_begins_while_paused_stopping_or_under_a_cap() -> None:
    waits = board(session(1))
    assert deciders.plan_turns(replace(waits, paused=True)) == deciders.plan_turns(replace(waits, stopping=True)) == []
    spent = replace(waits, limits=replace(LIMITS, caps=Caps(day=Cap(usd=5))), spent=Spent(day=Amount(usd=5.0)))
    assert deciders.plan_turns(spent) == []


def test_a_wait_of_its_own_is_kept() -> None:
    later = session(1, retry_at=130.0)
    assert deciders.plan_turns(board(later)) == [] and deciders.turns_wake_at(board(later)) == 130.0
    assert not is_idle(board(later)) and is_idle(replace(board(later), limits=replace(LIMITS, sessions=0)))
    assert deciders.plan_turns(replace(board(later), now=130.0)) == [StartTurn(1)]


def test_nobody_begins_at_a_provider_that_cools_down_and_one_goes_ahead_behind_it() -> None:
    closed = Cooldown("anthropic", Outcome.RATE_LIMITED, "", 0.0, 200.0, 1, told=False)
    waits = board(session(1), session(2), gates={"anthropic": closed})
    assert deciders.plan_turns(waits) == []
    assert deciders.plan_turns(replace(waits, now=201.0)) == [StartTurn(1)]


def test_a_run_does_not_end_before_a_session_whose_wait_ends_by_itself() -> None:
    closed = Cooldown("anthropic", Outcome.RATE_LIMITED, "", 0.0, 200.0, 1, told=False)
    assert not is_idle(board(session(1), gates={"anthropic": closed}))
    spent = Spent(day=Amount(usd=5.0), run=Amount(usd=5.0))
    assert not is_idle(board(session(1), limits=replace(LIMITS, caps=Caps(day=Cap(usd=5))), spent=spent))
    of_run = board(session(1, retry_at=130.0), limits=replace(LIMITS, caps=Caps(run=Cap(usd=5))), spent=spent)
    assert is_idle(of_run), "the run's cap ends with the run alone"


def test_beads_and_sessions_share_what_starts_in_an_hour_and_who_goes_ahead() -> None:
    ready = (ReadyBead("a", Status.NEEDS_DOER, "task", 1, 0),)
    both = board(session(1), ready=ready, providers={"claude": "anthropic"})
    assert deciders.plan_assignments(both) == [
        StartTurn(1),
        StartAgent("a", deciders.ROLE_FOR[Status.NEEDS_DOER], "claude"),
    ]
    one = replace(both, limits=replace(LIMITS, caps=Caps(calls_per_hour=1)))
    assert deciders.plan_assignments(one) == [StartTurn(1)]
    opening = Cooldown("anthropic", Outcome.NETWORK, "", 0.0, 50.0, 1, told=False)
    assert deciders.plan_assignments(replace(both, gates={"anthropic": opening})) == [StartTurn(1)]


def run(number: int, **fields: object) -> Run:
    kept = Run(f"s{10 + number}-agent", 0, RunKind.AGENT, 0.0, pid=7, turn=10 + number)
    return replace(kept, **fields)  # type: ignore[arg-type]


def test_its_agent_is_watched_like_any_other() -> None:
    at_work = board(talks=(talk(1),), turn_runs={11: run(1, hard_deadline=90.0)})
    assert deciders.plan_supervision(at_work) == [Terminate("s11-agent", Outcome.TIMED_OUT)]
    asked = board(talks=(talk(1, stop_asked=True),), turn_runs={11: run(1)})
    assert deciders.plan_supervision(asked) == [Terminate("s11-agent", Outcome.INTERRUPTED)]
    ended = board(talks=(talk(1, ended_at=99.0),), turn_runs={11: run(1)})
    assert deciders.plan_supervision(ended) == [Terminate("s11-agent", Outcome.CANCELLED)]
    assert deciders.plan_supervision(board(talks=(talk(1),))) == [ResumeTurn(11)]


def test_a_cap_of_the_day_stops_it_softly_and_a_beads_cap_is_none_of_its() -> None:
    capped = replace(LIMITS, caps=Caps(day=Cap(usd=5), bead=Cap(usd=1)))
    at_work = board(limits=capped, talks=(talk(1),), turn_runs={11: run(1)}, spent=Spent(day=Amount(usd=5.0)))
    assert why_stopped(at_work, at_work.talks[0], run(1)) is Outcome.CAPPED
    assert why_stopped(replace(at_work, spent=Spent()), at_work.talks[0], run(1)) is None
