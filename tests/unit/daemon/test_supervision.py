"""Watching agents: silence, time, and the two steps of stopping, without asking anybody."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import Attempt, Outcome, Role, Run, RunKind
from nobrakes.daemon import deciders
from nobrakes.daemon.model import Action, Board, Kill, Limits, RenewLeases, Resume, Sample, Terminate

ATTEMPT = Attempt(7, "b", 1, Role.DOER, "Ada", fence=1, token="t", started_at=0.0)
RUN = Run("7-1", 7, RunKind.AGENT, 0.0, pid=99, hard_deadline=3600.0, idle_seconds=600.0)
LIMITS = Limits(grace_seconds=10.0, lease_seconds=120.0)


def board(now: float, run: Run = RUN, *, stopping: bool = False) -> Board:
    return Board(now, LIMITS, attempts=(ATTEMPT,), runs={7: run}, stopping=stopping)


def asked(state: Board) -> list[Action]:
    return [action for action in deciders.plan_supervision(state) if not isinstance(action, RenewLeases)]


def test_a_busy_agent_is_left_alone() -> None:
    assert asked(board(100.0)) == []


def test_a_quiet_agent_is_looked_at_a_few_times_before_it_has_stalled() -> None:
    run, looks, now = RUN, [], 0.0
    while not any(isinstance(action, Terminate) for action in asked(board(now, run))):
        if asked(board(now, run)) == [Sample("7-1")]:
            run = replace(run, sampled_at=now)  # and nothing new was seen
            looks.append(now)
        wake = deciders.wake_at(replace(board(now, run), attempts=()))
        assert wake is not None
        now = max(now, wake)
    assert looks == [150.0, 300.0, 450.0, 600.0]
    assert asked(board(now, run)) == [Terminate("7-1", Outcome.STALLED)]


def test_an_agent_that_has_finished_and_lives_on_is_ended_as_completed_and_is_neither_silent_nor_late() -> None:
    late = replace(board(4000.0, replace(RUN, sampled_at=4000.0)), attempts=())
    for finished, expected in ((4010.0, []), (4000.0, [Terminate("7-1", Outcome.COMPLETED)])):
        state = replace(late, attempts=(ATTEMPT,), finished={"7-1": finished})
        assert asked(state) == expected
        assert deciders.wake_at(replace(late, finished={"7-1": finished})) == finished
    stopped = replace(board(4000.0, stopping=True), finished={"7-1": 4000.0})
    assert asked(stopped) == [Terminate("7-1", Outcome.INTERRUPTED)]


def test_an_agent_that_is_being_closed_is_neither_silent_nor_late_nor_started_again() -> None:
    for state in (board(700.0, replace(RUN, sampled_at=700.0)), board(4000.0), board(50.0, stopping=True)):
        assert asked(state)
        renewed = [
            action for action in deciders.plan_supervision(state, {"7-1"}) if not isinstance(action, RenewLeases)
        ]
        assert renewed == []
        assert deciders.wake_at(replace(state, attempts=()), {"7-1"}) is None


def test_a_sign_of_life_begins_the_silence_again() -> None:
    seen = replace(RUN, sampled_at=590.0, active_at=590.0)
    assert asked(board(600.0, seen)) == []
    assert deciders.next_sample(seen) == 740.0


def test_a_daemon_that_was_away_looks_before_it_calls_an_agent_silent() -> None:
    assert asked(board(3000.0)) == [Sample("7-1")]


def test_an_agent_that_takes_too_long_is_stopped_however_busy() -> None:
    assert asked(board(3600.0, replace(RUN, active_at=3599.0))) == [Terminate("7-1", Outcome.TIMED_OUT)]


def test_stopping_is_term_then_grace_then_kill() -> None:
    assert asked(board(50.0, stopping=True)) == [Terminate("7-1", Outcome.INTERRUPTED)]
    stopping = replace(RUN, stopping=Outcome.INTERRUPTED, term_at=50.0)
    assert asked(board(59.9, stopping, stopping=True)) == []
    assert asked(board(60.0, stopping, stopping=True)) == [Kill("7-1")]


def test_a_term_is_sent_once_whatever_else_comes_due() -> None:
    stopping = replace(RUN, stopping=Outcome.STALLED, term_at=3599.0)
    assert asked(board(3600.0, stopping)) == []


def test_a_run_whose_attempt_was_taken_from_it_is_stopped() -> None:
    assert asked(replace(board(10.0), attempts=())) == [Terminate("7-1", Outcome.CANCELLED)]


def test_an_attempt_without_a_living_child_is_gone_on_with() -> None:
    assert asked(replace(board(10.0), runs={})) == [Resume(7)]
    assert asked(board(10.0, replace(RUN, pid=None))) == [Resume(7)]


def test_leases_are_renewed_in_time() -> None:
    assert deciders.plan_supervision(board(10.0))[-1] == RenewLeases((7,))
    wake = deciders.wake_at(board(10.0))
    assert wake is not None and wake <= 10.0 + LIMITS.lease_seconds / 2


def test_with_nothing_to_watch_there_is_no_reason_to_wake() -> None:
    assert deciders.wake_at(Board(10.0)) is None


moments = st.floats(0, 5000).map(lambda t: round(t, 3))
runs = st.builds(
    replace,
    st.just(RUN),
    active_at=moments,
    sampled_at=moments,
    hard_deadline=st.just(0.0) | moments,
    idle_seconds=st.just(0.0) | st.floats(1, 2000),
    term_at=st.none() | moments,
)


@given(runs, moments, moments)
def test_the_loop_never_sleeps_past_anything_that_comes_due(run: Run, now: float, later: float) -> None:
    """Whatever the deciders ask for at a moment before `wake_at`, they ask for now."""
    state = replace(board(now, run), limits=replace(LIMITS, lease_seconds=1e9))
    wake = deciders.wake_at(state)
    assert wake is not None
    if now <= later < wake:
        assert asked(replace(state, now=later)) == asked(state)


def test_the_loop_wakes_for_each_thing_that_can_come_due() -> None:
    calm = replace(board(0.0), limits=replace(LIMITS, lease_seconds=1e9))
    for run, due in (
        (replace(RUN, idle_seconds=0.0), 3600.0),
        (replace(RUN, hard_deadline=0.0), 150.0),
        (replace(RUN, hard_deadline=100.0), 100.0),
        (replace(RUN, term_at=5.0), 15.0),
    ):
        assert deciders.wake_at(replace(calm, runs={7: run})) == due


@given(runs, moments)
def test_whatever_is_asked_for_is_asked_once_per_run(run: Run, now: float) -> None:
    assert len(asked(board(now, run))) <= 1


@given(runs, moments)
def test_a_look_that_sees_nothing_is_followed_by_sleep_or_by_an_end(run: Run, now: float) -> None:
    """A silent agent must not keep the daemon awake."""
    state = board(now, run)
    if asked(state) == [Sample(run.id)]:
        looked = replace(run, sampled_at=now)
        after = replace(state, runs={7: looked})
        wake = deciders.wake_at(after)
        assert wake is not None
        assert wake > now or asked(after) == [Terminate(run.id, Outcome.STALLED)]
