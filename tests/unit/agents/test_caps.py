"""What agents may cost: when nothing new is started, who is told, and when it goes on."""

from dataclasses import replace

import pytest

from nobrakes.agents.limits import (
    Amount,
    Cap,
    Caps,
    Spent,
    bead_cap_reached,
    calls_left,
    ends_at,
    period_of,
    reached,
    untold,
    wake_at,
)

NOW = 20_000 * 86_400.0 + 5000.0
DAY, HOUR = 20_000 * 86_400.0, 20_000 * 86_400.0 + 3600


def names(caps: Caps, spent: Spent) -> list[str]:
    return [one.name for one in reached(caps, spent, NOW)]


@pytest.mark.parametrize("part", ["usd", "tokens", "minutes"])
@pytest.mark.parametrize("scope", ["day", "run"])
def test_a_cap_is_reached_when_so_much_was_spent(scope: str, part: str) -> None:
    caps = replace(Caps(), **{scope: replace(Cap(), **{part: 10})})
    assert names(caps, replace(Spent(), **{scope: replace(Amount(), **{part: 9.99})})) == []
    assert names(caps, replace(Spent(), **{scope: replace(Amount(), **{part: 10})})) == [f"{scope}.{part}"]


def test_without_caps_nothing_is_reached() -> None:
    amount = Amount(1e9, 10**12, 1e9)
    assert names(Caps(), Spent(amount, amount, {"a": amount}, 10**6)) == []
    assert bead_cap_reached(Caps(), Spent(beads={"a": amount}), "a") is None


def test_a_bead_has_its_own() -> None:
    caps = Caps(bead=Cap(tokens=100))
    spent = Spent(beads={"a": Amount(tokens=100), "b": Amount(tokens=99)})
    found = bead_cap_reached(caps, spent, "a")
    assert found is not None and found.name == "bead.tokens"
    assert bead_cap_reached(caps, spent, "b") is None and bead_cap_reached(caps, spent, "c") is None


def test_an_hour_has_so_many_calls_and_the_next_one_as_many() -> None:
    caps = Caps(calls_per_hour=100)
    assert calls_left(caps, Spent(calls=98), NOW) == 2 and calls_left(Caps(), Spent(calls=98), NOW) is None
    assert names(caps, Spent(calls=100)) == ["calls_per_hour"]
    assert wake_at(caps, Spent(calls=100), NOW) == HOUR + 3600


def test_the_loop_wakes_with_the_next_day_and_never_for_the_run() -> None:
    spent = Spent(day=Amount(5), run=Amount(5))
    assert wake_at(Caps(day=Cap(usd=5)), spent, NOW) == DAY + 86_400
    assert wake_at(Caps(run=Cap(usd=5)), spent, NOW) is None


def test_a_person_is_told_once_in_a_period() -> None:
    caps, spent = Caps(day=Cap(usd=5)), Spent(day=Amount(5))
    (told,) = untold(caps, spent, NOW)
    after = replace(spent, told={told.name: told.period})
    assert untold(caps, after, NOW) == []
    assert [one.name for one in untold(caps, after, NOW + 86_400)] == ["day.usd"]


def test_a_cap_that_a_person_lifted_holds_again_in_the_next_period() -> None:
    caps = Caps(day=Cap(usd=5), run=Cap(tokens=9), calls_per_hour=3)
    spent = Spent(day=Amount(5), run=Amount(tokens=9), calls=3, run_since=NOW - 60)
    for name in ("day.usd", "run.tokens", "calls_per_hour"):
        lifted = replace(spent, lifted={name: period_of(name, spent, NOW)})
        assert [one.name for one in reached(caps, lifted, NOW)] == [n for n in names(caps, spent) if n != name]
        later = {"day.usd": 86_400, "calls_per_hour": 3600}.get(name)
        assert later is None or name in [one.name for one in reached(caps, lifted, NOW + later)]
    hour = replace(spent, lifted={"calls_per_hour": period_of("calls_per_hour", spent, NOW)})
    assert (calls_left(caps, hour, NOW), calls_left(caps, hour, NOW + 3600)) == (None, 0)
    assert ends_at("run.usd", NOW) is None and ends_at("day.usd", NOW) == DAY + 86_400
