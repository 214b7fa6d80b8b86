"""The sum of a day is the same as if all were added up, and costs the same after a thousand attempts as after a few."""

import random
from itertools import count
from typing import Any

import pytest

from nobrakes.agents.db import spending
from nobrakes.agents.limits import Amount, Cap, Caps
from nobrakes.beads.model import Attempt, Bead, Outcome, Role, Status
from nobrakes.daemon.model import Limits
from nobrakes.events.kinds import Kind
from nobrakes.store import open_memory
from tests.support.dose import everyday
from tests.support.hand_clock import DAY, Hand

ALL = Limits(caps=Caps(day=Cap(usd=1e9), run=Cap(usd=1e9)))
WHOLE = """SELECT coalesce(sum(cost_usd), 0), coalesce(sum(tokens), 0), coalesce(sum(coalesce(ended_at, :now) - started_at), 0)
FROM (SELECT cost_usd, tokens, started_at, ended_at FROM attempts WHERE started_at >= :since AND role <> 'reviewer'
UNION ALL SELECT cost_usd, tokens, started_at, ended_at FROM turns WHERE started_at >= :since)"""


@pytest.fixture
def store(clock: Hand) -> Any:
    made = open_memory(lambda: clock.time)
    made.put([Bead(f"b{n}", "x", status=Status.NEEDS_DOER, needs_tests=False) for n in range(20)], [], "me")
    return made


def begins(store: Any, bead: str) -> Attempt:
    made = store.open_attempt(bead, Role.DOER, "first", ["Ada", "Bo"], 60.0, None, "north", "large")
    assert made is not None
    return made  # type: ignore[no-any-return]


def ends(store: Any, attempt: Attempt, usd: float, tokens: int) -> None:
    store.spend(attempt.id, usd, tokens)
    store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)


def whole(store: Any, since: float, now: float) -> Amount:
    usd, tokens, seconds = store.one(WHOLE, {"since": since, "now": now})
    return Amount(pytest.approx(usd, abs=2e-6), tokens, pytest.approx(seconds / 60))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", everyday(*range(2), ci=range(2, 6)))
def test_the_sum_is_that_of_all(store: Any, clock: Hand, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(spending, "FEW", 3)
    chance = random.Random(seed)
    store.set_setting(spending.RUN_SINCE, repr(clock.time + 500))
    open_: dict[str, Attempt] = {}
    kept = 0
    for _ in range(250):
        clock.time += chance.choice((1, 40, 700))
        bead = f"b{chance.randrange(20)}"
        match chance.randrange(8):
            case 0 | 1 | 2 if bead not in open_:
                open_[bead] = begins(store, bead)
            case 3 | 4 | 5 if open_:
                ends(store, open_.pop(chance.choice(sorted(open_))), chance.random(), chance.randrange(9999))
            case 6 if open_:
                store.spend(chance.choice(list(open_.values())).id, chance.random(), 17)
            case 7:
                store.spend(chance.randrange(1, 1 + max(1, store.one("SELECT max(id) FROM attempts")[0] or 1)), 0.5, 3)
                jump = chance.choice((-4000.0, 5000.0))
                clock.time += jump
                store.move_times(jump)
        day = spending.day_start(clock.time)
        assert store.spent_since(day) == whole(store, day, clock.time)
        spent, run = store.board(ALL).spent, float(store.setting(spending.RUN_SINCE))
        assert (spent.day, spent.run) == (whole(store, day, clock.time), whole(store, run, clock.time))
        kept += store.setting("summed:day:attempts") is not None
    assert kept > 50, "there was a sum to go on from"


def test_an_hour_of_three_times_as_many_attempts_costs_the_same(store: Any, clock: Hand) -> None:
    costs = []
    for many in (150, 450):
        while (store.one("SELECT max(id) FROM attempts")[0] or 0) < many:
            clock.time += 1
            ends(store, begins(store, "b1"), 0.25, 10)
            if store.bead("b1").status is not Status.NEEDS_DOER:
                store.retry("b1", "me")
            store.spent_since(DAY)
        steps = count(1)
        store.connection.set_progress_handler(lambda steps=steps: next(steps) and 0, 10)
        assert store.spent_since(DAY) == Amount(0.25 * many, 10 * many, 0.0)
        store.connection.set_progress_handler(None, 0)
        costs.append(next(steps))
    assert costs[1] < 2 * costs[0] and costs[1] * 10 < 20 * 2 * spending.FEW, costs


def test_who_works_long_keeps_nothing_out_of_the_sum(store: Any, clock: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spending, "FEW", 3)
    long = begins(store, "b0")
    for number in range(1, 12):
        clock.time += 60
        ends(store, begins(store, f"b{number}"), 1.0, 1)
        assert store.spent_since(DAY).usd == number
    assert store.setting("summed:day:attempts") is None
    ends(store, long, 5.0, 1)
    assert store.spent_since(DAY).usd == 16.0 and store.setting("summed:day:attempts") is not None
    clock.time += 86_400
    assert store.spent_since(DAY + 86_400) == Amount()
