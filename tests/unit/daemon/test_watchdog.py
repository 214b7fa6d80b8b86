"""What the watchdog decides: whom it starts, whom it lets rest, and how long it waits."""

import pytest

from nobrakes.daemon.deciders import Facts, Waiting, after_failure, at_rest, minutes, still_waits


def test_it_waits_longer_each_time_and_at_most_half_an_hour() -> None:
    assert [minutes(n) for n in range(1, 9)] == [1, 2, 4, 8, 16, 30, 30, 30]
    assert minutes(10**6) == 30


def test_failures_in_a_row_add_up() -> None:
    first = after_failure(Waiting(), 1000.0)
    assert first == Waiting(1, 1060.0)
    assert after_failure(first, 1060.0) == Waiting(2, 1180.0)
    assert still_waits(first, 1059.9) and not still_waits(first, 1060.0)


def test_a_clock_that_was_set_back_holds_nothing_up() -> None:
    assert not still_waits(Waiting(1, 10_000.0), 0.0)
    assert still_waits(Waiting(9, 1800.0), 0.0)


@pytest.mark.parametrize(
    "facts, why",
    [
        (Facts(7, True, False), "is running (process 7)"),
        (Facts(7, False, True), "is running (process 7)"),
        (Facts(None, False, False), "a person stopped it"),
        (Facts(None, True, True), "paused"),
        (Facts(None, True, False), ""),
    ],
)
def test_only_a_daemon_that_is_wanted_is_missed(facts: Facts, why: str) -> None:
    found = at_rest(facts)
    assert why in found if why else found == ""
