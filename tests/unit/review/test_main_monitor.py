"""When main is looked at, and what follows from what its runs say."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import ReadyBead, Status
from nobrakes.daemon.deciders import is_idle
from nobrakes.daemon.model import Board
from nobrakes.review.main_monitor import (
    AGAIN_SECONDS,
    IDLE_SECONDS,
    Phase,
    Verdict,
    Watch,
    after,
    again_at,
    at_rest,
    due_at,
    is_mended,
    look,
    may_begin,
    wanted,
)

GREEN, RED, UNSURE = Verdict.GREEN, Verdict.RED, Verdict.UNSURE
HOUR = 3600.0


def due(watch: Watch, main: str = "tip", ours_at: float | None = None, now: float = 1000.0) -> float:
    return due_at(watch, Board(now), main, ours_at, 1000.0, 24.0)


def test_a_tip_that_somebody_else_made_is_looked_at_once_nobody_works() -> None:
    assert due(Watch()) == 1000.0 + IDLE_SECONDS
    assert due(Watch(tip="before", green="before", looked_at=999.0)) == 1000.0 + IDLE_SECONDS


def test_a_tip_that_was_seen_or_landed_is_looked_at_after_its_hours() -> None:
    assert due(Watch(tip="tip", looked_at=500.0)) == 500.0 + 24 * HOUR
    assert due(Watch(tip="before", looked_at=990.0), ours_at=600.0) == 600.0 + 24 * HOUR
    assert due(Watch(tip="tip", looked_at=700.0), ours_at=600.0) == 700.0 + 24 * HOUR
    late = 100 * HOUR
    assert due_at(Watch(tip="tip", looked_at=9.0), Board(late), "tip", None, late, 24.0) == late + IDLE_SECONDS


def test_nobody_is_waited_for_longer_than_main_may_go_unseen() -> None:
    assert due_at(Watch(), Board(1000.0), "tip", None, 1000.0, 2 / HOUR) == 1002.0


def test_a_frozen_queue_looks_at_what_is_new_at_once_and_at_the_rest_each_hour() -> None:
    frozen = Watch(tip="red", searched="red", frozen=True, looked_at=500.0)
    assert due(frozen, main="repair") == 1000.0
    assert due(frozen, main="red") == 500.0 + AGAIN_SECONDS


def test_checks_that_cannot_be_run_are_tried_after_as_long_as_they_could_not_an_hour_at_most() -> None:
    looked, times = Watch(frozen=True, started_at=1000.0, looked_at=1000.0), []
    for _ in range(9):
        at = again_at(looked, 1000.0)
        times.append((at - looked.looked_at) / 60)
        looked = replace(looked, started_at=at, looked_at=at)
    assert times == [1, 1, 2, 4, 8, 16, 32, 60, 60]


def test_a_look_begins_only_while_nobody_works() -> None:
    waits = (ReadyBead("a", Status.NEEDS_REVIEW, "task", 2, 0),)
    assert may_begin(Watch(), Board(0.0))
    assert not may_begin(Watch(), Board(0.0, to_review=waits))
    assert not may_begin(Watch(), Board(0.0, paused=True)) and not may_begin(Watch(), Board(0.0, stopping=True))
    assert may_begin(Watch(frozen=True), Board(0.0, to_review=waits, frozen=True))


def test_what_waits_for_a_green_main_keeps_no_run_from_ending() -> None:
    waits = (ReadyBead("a", Status.NEEDS_REVIEW, "task", 2, 0),)
    assert not is_idle(Board(0.0, to_review=waits))
    assert is_idle(Board(0.0, to_review=waits, frozen=True))
    assert not is_idle(Board(0.0, to_review=waits, frozen=True, elsewhere=frozenset("a"))), "it is for another branch"


def run(watch: Watch, *seen: Verdict) -> Watch:
    for one in seen:
        watch = after(watch, one, 5.0)
    return watch


def test_green_is_remembered_and_over() -> None:
    seen = run(look(Watch(green="old"), "tip"), GREEN)
    assert (seen.phase, seen.green, seen.frozen, seen.looked_at) == (Phase.REST, "tip", False, 5.0)


def test_red_once_is_run_again_and_freezes_nothing() -> None:
    once = run(look(Watch(green="old"), "tip"), RED)
    assert (once.phase, once.frozen, wanted(once)) == (Phase.CONFIRM, False, "tip")
    assert run(once, GREEN) == replace(run(look(Watch(green="old"), "tip"), GREEN), results=once.results)


def test_red_three_times_freezes_and_asks_the_last_green_tip() -> None:
    twice = run(look(Watch(green="old"), "tip"), RED, RED)
    assert (twice.phase, twice.frozen, wanted(twice)) == (Phase.CONFIRM, False, "tip")
    assert run(twice, GREEN) == replace(run(look(Watch(green="old"), "tip"), GREEN), results=twice.results)
    red = run(twice, RED)
    assert (red.phase, red.frozen, wanted(red)) == (Phase.KNOWN, True, "old")


@pytest.mark.parametrize("seen", [(UNSURE,), (RED, UNSURE)])
def test_what_nobody_can_tell_freezes_nothing(seen: tuple[Verdict, ...]) -> None:
    told = run(look(Watch(green="old"), "tip"), *seen)
    assert (told.phase, told.frozen, told.green) == (Phase.REST, False, "old")


@pytest.mark.parametrize("seen", [RED, UNSURE])
def test_a_known_green_tip_that_is_not_green_any_more_blames_nobody(seen: Verdict) -> None:
    told = run(replace(run(look(Watch(green="old"), "tip"), RED, RED, RED), line=("a", "tip")), seen)
    assert (told.phase, told.frozen, told.culprit, told.searched) == (Phase.REST, True, "", "tip")


@pytest.mark.parametrize("length", range(1, 40))
def test_the_search_finds_each_culprit_in_few_runs(length: int) -> None:
    line = tuple(f"c{number}" for number in range(length))
    for bad in range(length):
        watch = replace(run(look(Watch(green="old"), line[-1]), RED, RED, RED), line=line)
        watch = run(watch, GREEN)
        runs = 0
        while watch.phase is Phase.SEARCH:
            watch = run(watch, RED if int(wanted(watch)[1:]) >= bad else GREEN)
            runs += 1
        assert (watch.phase, watch.culprit) == (Phase.PROVE, f"c{bad}")
        assert runs <= (length - 1).bit_length()


def test_a_search_that_cannot_tell_blames_nobody() -> None:
    watch = replace(run(look(Watch(green="old"), "c3"), RED, RED, RED), line=("c0", "c1", "c2", "c3"))
    told = run(watch, GREEN, UNSURE)
    assert (told.phase, told.frozen, told.culprit) == (Phase.REST, True, "")


@pytest.mark.parametrize("seen", [RED, UNSURE])
def test_what_does_not_heal_main_does_not_land(seen: Verdict) -> None:
    told = run(Watch(phase=Phase.PROVE, tip="tip", frozen=True, candidate="revert"), seen)
    assert (told.phase, told.frozen, told.searched) == (Phase.REST, True, "tip")


def test_a_repair_lands_only_if_main_fails_once_more_after_it_passed() -> None:
    again = run(Watch(phase=Phase.PROVE, tip="tip", frozen=True, culprit="tip", candidate="revert"), GREEN)
    assert (again.phase, wanted(again)) == (Phase.RECHECK, "tip")
    assert run(again, RED).phase is Phase.LAND
    healed = run(again, GREEN)
    assert (healed.phase, healed.frozen, healed.green, healed.candidate) == (Phase.REST, False, "tip", "")
    unsure = run(again, UNSURE)
    assert (unsure.phase, unsure.frozen, unsure.searched) == (Phase.REST, True, "tip")


def test_while_frozen_green_lets_go_and_red_stays() -> None:
    frozen = at_rest(Watch(green="old", tip="tip", frozen=True, culprit="tip"), 1.0)
    healed = run(look(frozen, "repair"), GREEN)
    assert (healed.phase, healed.frozen, healed.green, healed.culprit) == (Phase.REST, False, "repair", "")
    assert run(look(frozen, "tip"), RED) == replace(at_rest(look(frozen, "tip"), 5.0), commit="")
    assert run(look(frozen, "more"), RED).phase is Phase.KNOWN, "what is new is searched"


def test_what_is_kept_is_read_again() -> None:
    watch = replace(run(look(Watch(green="old"), "c1"), RED, RED), line=("c0", "c1"), results=({"name": "x"},))
    assert Watch.of({**watch.as_data(), "unknown": 1}) == watch
    assert Watch.of({}) == Watch()


def test_what_was_made_of_another_tip_is_forgotten() -> None:
    lost = look(Watch(phase=Phase.LAND, tip="tip", frozen=True, candidate="revert", onto="tip"), "theirs")
    assert (lost.phase, lost.tip, lost.candidate, lost.onto) == (Phase.LOOK, "theirs", "", "")


def test_a_frozen_main_is_looked_at_again_when_its_checks_are_others() -> None:
    frozen = Watch(frozen=True, tip="tip", searched="tip", contract="of yesterday")
    assert is_mended(frozen, "of today")
    assert not is_mended(frozen, "of yesterday")
    assert not is_mended(replace(frozen, frozen=False), "of today")
