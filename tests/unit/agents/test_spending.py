"""What was spent, and what holds agents back: kept in the store, answered from its indexes."""

from itertools import product
from typing import Any

import pytest

from nobrakes.agents.db import spending
from nobrakes.agents.limits import Amount, Breaker, Cap, Caps, State
from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.beads.proposals import ByHand
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.events.kinds import Kind
from nobrakes.store import open_memory
from tests.support.hand_clock import DAY, Hand

ALL = Limits(caps=Caps(bead=Cap(usd=1), day=Cap(usd=1), run=Cap(usd=1), calls_per_hour=1))


@pytest.fixture
def store(clock: Hand) -> Any:
    made = open_memory(lambda: clock.time)
    made.put([Bead(b, b, status=Status.NEEDS_DOER, needs_tests=False) for b in ("a", "b")], [], "me")
    return made


def works(store: Any, clock: Hand, bead: str, usd: float, minutes: float = 10.0) -> None:
    """One attempt on the bead, from its start to its failure."""
    attempt = store.open_attempt(bead, Role.DOER, "first", ["Ada"], 60.0, None, "north", "large")
    assert (attempt.provider, attempt.model) == ("north", "large")
    clock.time += minutes * 60
    store.spend(attempt.id, usd, 1000)
    store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)


def test_sums_are_those_of_the_day_the_run_the_beads_and_the_hour(store: Any, clock: Hand) -> None:
    clock.time = DAY - 3600
    works(store, clock, "a", 4.0)
    clock.time = DAY + 3600 * 5
    store.set_setting(spending.RUN_SINCE, repr(clock.time + 1000))
    works(store, clock, "a", 1.0)
    clock.time += 3600
    works(store, clock, "a", 0.5)
    works(store, clock, "b", 0.25)
    spent = store.board(ALL).spent
    assert spent.day == Amount(1.75, 3000, 30.0) and spent.run == Amount(0.75, 2000, 20.0)
    assert spent.beads == {"a": Amount(5.5, 3000, 30.0), "b": Amount(0.25, 1000, 10.0)}
    assert spent.calls == 2


def test_what_a_person_hands_in_is_no_call_of_an_agent(store: Any, clock: Hand) -> None:
    works(store, clock, "a", 1.0)
    store.hand_in(ByHand("a", "Eve", store.bead("a").fence + 1, "c" * 40, "d" * 40))
    store.hand_in(ByHand("b", "Eve", store.bead("b").fence + 1, "c" * 40, "d" * 40))
    assert store.board(ALL).spent.calls == 1


def test_an_agent_at_work_spends_minutes(store: Any, clock: Hand) -> None:
    store.open_attempt("a", Role.DOER, "first", ["Ada"], 60.0, None, "north")
    clock.time += 120
    assert store.board(ALL).spent.day.minutes == 2.0


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
def test_a_clock_that_is_set_adds_no_minutes_and_takes_none(store: Any, clock: Hand, jump: float) -> None:
    store.open_attempt("a", Role.DOER, "first", ["Ada"], 60.0, None, "north")
    clock.time += 120
    clock.time += jump
    store.move_times(jump)
    spent = store.board(ALL).spent
    assert (spent.beads["a"].minutes, spent.day.minutes, spent.calls) == (2.0, 2.0, 1)


def test_calls_of_a_later_hour_do_not_count_when_the_clock_went_back(store: Any, clock: Hand) -> None:
    works(store, clock, "a", 4.0)
    clock.time -= 86_400
    assert store.board(ALL).spent.calls == 0


def test_without_caps_nothing_is_summed_up(store: Any, clock: Hand) -> None:
    works(store, clock, "a", 4.0)
    assert store.board(Limits()).spent.day == Amount()


def test_the_sums_never_scan_the_attempts(store: Any) -> None:
    after = {"after_attempts": 1, "after_turns": 1}
    for sql, values in (
        *(
            (spending._later(*goes_on), {"since": 1.0, "now": 1.0, **after})
            for goes_on in product((True, False), repeat=2)
        ),
        (spending._BEADS_SPENDING, {"beads": "[]", "now": 1.0}),
        (spending._CALLS, (1.0,)),
    ):
        plan = [row["detail"] for row in store.all(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert all(step.startswith("SEARCH") for step in plan if "attempts" in step or "turns" in step), plan


def test_whoever_decides_a_beads_escalation_lets_its_agents_try_again(store: Any) -> None:
    store.save_breaker("bead:a", "north", Breaker(State.OPEN, 3, 3, "failed"))
    asked = store.escalate(NewEscalation(EscalationType.BREAKER_OPEN, "a"), "a", None, "nobrakes")
    assert store.bead("a").status is Status.ESCALATED
    store.resolve(asked.id, "again", "me")
    assert store.board(Limits()).breakers[("bead:a", "north")].state is State.HALF_OPEN


def test_a_closed_breaker_without_a_mark_is_forgotten(store: Any) -> None:
    store.save_breaker("bead:a", "north", Breaker(State.CLOSED, 1, 1, "failed"))
    assert store.breakers("bead:a") == {"north": Breaker(State.CLOSED, 1, 1, "failed")}
    store.save_breaker("bead:a", "north", Breaker())
    assert store.breakers("bead:a") == {}
