"""When sprints are due, over leaps of the clock, and what comes of a time that was missed."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from nobrakes.errors import UsageError
from nobrakes.projects.model import Due, DueEnd, Schedule, clock_time, comes, due_times, named_days, next_due, wakes

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3600.0


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


NIGHTLY = Schedule(1, "02:30", (), "Europe/Berlin", 1, 4.0, True, {}, "you", at("2026-01-01T12:00"))


def test_a_time_of_the_wall_clock_that_leaps_comes_once() -> None:
    spring = due_times(NIGHTLY, BERLIN, at("2026-03-28T00:00"), at("2026-03-31T00:00"))
    assert spring == [at("2026-03-28T01:30"), at("2026-03-29T01:30"), at("2026-03-30T00:30")], "02:30 is 03:30 that day"
    autumn = due_times(NIGHTLY, BERLIN, at("2026-10-24T12:00"), at("2026-10-26T12:00"))
    assert autumn == [at("2026-10-25T00:30"), at("2026-10-26T01:30")], "02:30 comes twice, and is due once"
    mondays = replace(NIGHTLY, days=named_days("Monday, thu"))
    assert mondays.days == ("mon", "thu")
    assert next_due(mondays, BERLIN, at("2026-11-25T12:00")) == at("2026-11-26T01:30")


def test_a_due_time_begins_once_or_is_told() -> None:
    due = at("2026-01-02T01:30")
    assert comes(NIGHTLY, BERLIN, due - 1, False, "") is None
    assert comes(NIGHTLY, BERLIN, due, False, "") == Due(1, due, DueEnd.STARTED)
    assert comes(NIGHTLY, BERLIN, due + 3.9 * HOUR, False, "") == Due(1, due, DueEnd.STARTED), "a little late"
    assert comes(replace(NIGHTLY, last_due=due), BERLIN, due + HOUR, False, "") is None, "what was written down is over"
    assert comes(NIGHTLY, BERLIN, due + HOUR, True, "") is None, "paused: it may still begin"
    late = comes(NIGHTLY, BERLIN, due + 4 * HOUR, True, "")
    assert late is not None and late.came is DueEnd.MISSED and "within 4 h" in late.why
    assert comes(NIGHTLY, BERLIN, due, False, "the brief changed") == Due(1, due, DueEnd.REFUSED, "the brief changed")
    assert wakes(NIGHTLY, BERLIN, due + HOUR) == [due + 24 * HOUR, due + 4 * HOUR]


def test_of_many_that_were_missed_the_last_alone_may_begin() -> None:
    back = at("2026-01-09T02:00")
    assert comes(NIGHTLY, BERLIN, back, False, "") == Due(
        1, at("2026-01-09T01:30"), DueEnd.STARTED, "7 earlier starts were missed, too"
    )
    years = comes(NIGHTLY, BERLIN, at("2036-01-09T12:00"), False, "")
    assert years is not None and years.came is DueEnd.MISSED


def test_what_is_no_time_and_no_day_is_refused() -> None:
    for text in ("", "3", "24:00", "12:60", "1:2", "\u0663:00"):
        with pytest.raises(UsageError):
            clock_time(text)
    assert f"{clock_time('3:05'):%H:%M}" == "03:05"
    with pytest.raises(UsageError):
        named_days("mon,someday")
