"""When a run's checks are looked at, and which of them has had its time."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from nobrakes.beads.model import Run, RunKind
from nobrakes.checks.contract import Check
from nobrakes.checks.worker.steps import steps_of
from nobrakes.checks.worker.validation import PREPARING_SECONDS, CheckClock
from nobrakes.host.port import Ending, StepEnd

RUN = Run("1-check1", 1, RunKind.VALIDATION, 0.0, 7, "m", active_at=0.0)


def clock(*checks: Check) -> CheckClock:
    return CheckClock(cast(Any, SimpleNamespace(timed=lambda run: steps_of(checks))))


class Looks:
    """Counts how often somebody looks."""

    def __init__(self) -> None:
        self.count = 0

    def at(self, found: Ending) -> Callable[[], Ending]:
        def look() -> Ending:
            self.count += 1
            return found

        return look


def ending(checks: tuple[Check, ...], ended: int = 0, running: int = 0) -> Ending:
    """So many checks have ended, and so many after them run."""
    ends = [StepEnd(c.name, i < ended + running, 0 if i < ended else None, 0.0, "") for i, c in enumerate(checks)]
    return Ending(tuple(ends), None, False)


def test_a_run_that_prepares_is_looked_at_again_soon() -> None:
    checks = (Check("tests", "x", timeout=600.0),)
    watch, looks = clock(*checks), Looks()
    assert not watch.is_overdue(RUN, looks.at(ending(checks)), 100.0)
    assert not watch.is_overdue(RUN, looks.at(ending(checks)), 100.0 + PREPARING_SECONDS / 2)
    assert looks.count == 1
    assert not watch.is_overdue(RUN, looks.at(ending(checks)), 100.0 + PREPARING_SECONDS)
    assert looks.count == 2


def test_a_check_has_its_time_from_when_it_was_seen() -> None:
    checks = (Check("tests", "x", timeout=600.0),)
    watch, looks = clock(*checks), Looks()
    runs = looks.at(ending(checks, running=1))
    assert not watch.is_overdue(RUN, runs, 100.0)
    assert watch.wake_at() == [700.0]
    assert not watch.is_overdue(RUN, runs, 699.0)
    assert looks.count == 1  # it could not have had its time
    assert watch.is_overdue(RUN, runs, 700.0)


def test_a_short_check_after_a_long_one_is_seen_in_its_own_time() -> None:
    checks = (Check("tests", "x", timeout=600.0), Check("lint", "y", timeout=10.0))
    watch, looks = clock(*checks), Looks()
    assert not watch.is_overdue(RUN, looks.at(ending(checks, running=1)), 100.0)
    assert min(watch.wake_at()) == 110.0  # the first may end at any moment, and lint hang
    assert not watch.is_overdue(RUN, looks.at(ending(checks, ended=1, running=1)), 110.0)
    assert watch.wake_at() == [120.0]
    assert watch.is_overdue(RUN, looks.at(ending(checks, ended=1, running=1)), 120.0)


def test_neighbours_are_looked_for_at_once() -> None:
    checks = tuple(Check(name, "x", timeout=600.0, parallel=True) for name in ("a", "b"))
    watch = clock(*checks)
    assert not watch.is_overdue(RUN, Looks().at(ending(checks, running=1)), 100.0)
    assert min(watch.wake_at()) == 100.0 + PREPARING_SECONDS


def test_what_is_over_is_forgotten() -> None:
    checks = (Check("tests", "x", timeout=600.0),)
    watch, looks = clock(*checks), Looks()
    watch.is_overdue(RUN, looks.at(ending(checks, running=1)), 100.0)
    watch.keep(set())
    assert watch.wake_at() == []
    watch.is_overdue(RUN, looks.at(ending(checks, running=1)), 101.0)
    assert looks.count == 2
