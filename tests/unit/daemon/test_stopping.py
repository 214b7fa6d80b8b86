"""Who is at work and is asked to stop softly: under a reached cap, or with a context that is nearly full."""

from dataclasses import replace
from typing import Any

import pytest

from nobrakes.agents.limits import Amount, Cap, Caps, Spent
from nobrakes.beads.model import Attempt, Outcome, Role, Run, RunKind
from nobrakes.daemon import deciders
from nobrakes.daemon.model import Board, Limits, RenewLeases, Terminate
from tests.support.stopped import why_stopped

NOW = 20_000 * 86_400.0 + 5000.0


NONE, NOTHING = Caps(), Spent()


def board(caps: Caps = NONE, spent: Spent = NOTHING, kind: RunKind = RunKind.AGENT, **fields: Any) -> Board:
    attempts = tuple(
        Attempt(n, bead, 1, Role.DOER, name, fence=1, token="t", started_at=NOW, tokens=tokens)
        for n, bead, name, tokens in ((1, "a", "Ada", 100), (2, "b", "Bo", 50))
    )
    runs = {n: Run(f"{n}-1", n, kind, NOW, pid=90 + n, hard_deadline=NOW + 3600.0) for n in (1, 2)}
    return Board(NOW, Limits(caps=caps, context_share=0.8), attempts=attempts, runs=runs, spent=spent, **fields)


def stopped(state: Board) -> dict[str, Outcome]:
    actions = [action for action in deciders.plan_supervision(state) if not isinstance(action, RenewLeases)]
    assert all(isinstance(action, Terminate) for action in actions)
    return {action.run: action.why for action in actions if isinstance(action, Terminate)}


def test_without_a_cap_everybody_works_on() -> None:
    amount = Amount(1e9, 10**12, 1e9)
    assert stopped(board(spent=Spent(amount, amount, {"a": amount}, calls=10**6))) == {}


@pytest.mark.parametrize("part", ["usd", "tokens", "minutes"])
@pytest.mark.parametrize("scope", ["day", "run"])
def test_a_days_or_a_runs_cap_stops_all(scope: str, part: str) -> None:
    caps = replace(Caps(), **{scope: replace(Cap(), **{part: 10})})
    assert stopped(board(caps, replace(Spent(), **{scope: replace(Amount(), **{part: 9.9})}))) == {}
    found = stopped(board(caps, replace(Spent(), **{scope: replace(Amount(), **{part: 10})})))
    assert found == {"1-1": Outcome.CAPPED, "2-1": Outcome.CAPPED}


def test_a_beads_cap_stops_who_works_on_it() -> None:
    spent = Spent(beads={"a": Amount(minutes=30), "b": Amount(minutes=29)})
    assert stopped(board(Caps(bead=Cap(minutes=30)), spent)) == {"1-1": Outcome.CAPPED}


def test_the_tokens_of_one_attempt() -> None:
    assert stopped(board(Caps(attempt=Cap(tokens=100)))) == {"1-1": Outcome.TURN_LIMIT}


def test_so_many_starts_an_hour_stop_nobody() -> None:
    assert stopped(board(Caps(calls_per_hour=1), Spent(calls=2))) == {}


def test_a_context_that_is_nearly_full() -> None:
    assert stopped(board(contexts={1: 0.79, 2: 0.8})) == {"2-1": Outcome.GAVE_UP_CONTEXT}


def test_checks_cost_no_tokens_and_go_on() -> None:
    caps, spent = Caps(day=Cap(usd=1)), Spent(day=Amount(usd=1))
    assert stopped(board(caps, spent, RunKind.RED_PROOF, contexts={1: 1.0})) == {}


def test_who_is_being_stopped_is_not_stopped_again() -> None:
    state = board(contexts={1: 1.0})
    state = replace(
        state, runs={**state.runs, 1: replace(state.runs[1], term_at=NOW, stopping=Outcome.GAVE_UP_CONTEXT)}
    )
    assert stopped(state) == {}


@pytest.mark.parametrize("kind", [RunKind.AGENT, RunKind.RED_PROOF, RunKind.CHEAT])
def test_a_person_stops_one_attempt_whatever_it_runs(kind: RunKind) -> None:
    assert stopped(board(kind=kind, stop_asked=frozenset({2, 77}))) == {"2-1": Outcome.INTERRUPTED}


def test_a_doer_whose_tests_fail_alike_three_times_gives_up_and_a_test_writer_does_not() -> None:
    for role, rounds, most, expected in (
        (Role.DOER, 3, 3, Outcome.GAVE_UP_TESTS),
        (Role.DOER, 2, 3, None),
        (Role.DOER, 9, 0, None),
        (Role.TEST_WRITER, 9, 3, None),
    ):
        attempt = Attempt(7, "b", 1, role, "Ada", 1, "t", 0.0)
        run = Run("7-agent", 7, RunKind.AGENT, 0.0, pid=1)
        board = Board(10.0, Limits(failed_rounds=most), attempts=(attempt,), failed_rounds={7: rounds})
        assert why_stopped(board, attempt, run) is expected
