"""What keeps work from going on: each thing once, the heaviest first, with what to type about it."""

from dataclasses import replace

from nobrakes.agents.limits import Amount, Cap, Caps, Cooldown, MachineLimits, MachineRoom, Spent
from nobrakes.beads.model import Attempt, Outcome, Role
from nobrakes.daemon.model import Board, Limits
from nobrakes.decisions.blockers import Blocker, Kind, board_blockers, cooldown_blocker, in_order

NOW = 1_750_000_000.0
WORKER = Attempt(1, "b1", 1, Role.DOER, "Ada", 1, "script", NOW)


def board(**more: object) -> Board:
    return replace(Board(NOW), **more)


def test_the_heaviest_is_told_first_and_equals_stay_as_they_came() -> None:
    found = [Blocker(kind, word) for kind, word in ((Kind.HELD, "a"), (Kind.PAUSED, "b"), (Kind.HELD, "c"))]
    assert [one.what for one in in_order(found)] == ["b", "a", "c"]
    assert [one.stops for one in in_order(found)] == [True, False, False]


def test_what_stops_all_is_told_first_and_then_what_most_beads_wait_for() -> None:
    held, sign_off, drafts = Blocker(Kind.HELD, "held", behind=9), Blocker(Kind.SIGN_OFF, "plan", behind=3), Kind.DRAFTS
    found = [
        sign_off,
        held,
        Blocker(Kind.MAIN_RED, "red"),
        Blocker(drafts, "drafts", behind=5),
        Blocker(Kind.PAUSED, "p"),
    ]
    assert [one.what for one in in_order(found)] == ["p", "red", "held", "drafts", "plan"]


def test_a_pause_refuses_a_run_unless_somebody_has_to_be_looked_after() -> None:
    [rests] = board_blockers(board(paused=True), "Eve paused it")
    assert (rests.kind, rests.why, rests.commands, rests.refuses) == (
        *(Kind.PAUSED, "Eve paused it", ("nobrakes resume",)),
        True,
    )
    [works] = board_blockers(board(paused=True, attempts=(WORKER,)))
    assert not works.refuses


def test_a_stop_is_told_in_place_of_its_pause() -> None:
    assert [one.kind for one in board_blockers(board(paused=True, stopping=True))] == [Kind.STOPPING]


def test_no_doer_at_all_is_undone_by_the_limit() -> None:
    [found] = board_blockers(board(limits=Limits(doers=0)))
    assert (found.kind, found.commands, found.refuses) == (Kind.NO_DOERS, ("nobrakes set doers=1",), True)


def test_a_day_ends_by_itself_and_a_run_begins_again() -> None:
    caps = Caps(day=Cap(usd=2), run=Cap(usd=1))
    day, run = board_blockers(board(limits=Limits(caps=caps), spent=Spent(day=Amount(usd=3), run=Amount(usd=1))))
    assert day.until is not None and day.until > NOW and day.commands == ("nobrakes providers lift day.usd",)
    assert run.until is None and run.commands == ("nobrakes run", "nobrakes providers lift run.usd")
    assert not day.refuses and not run.refuses, "a person may wait for it"
    assert "more than you allowed" in day.why and "more than you allowed" in run.why


def test_a_provider_that_wants_a_person_says_what_for() -> None:
    closed = Cooldown("anthropic", Outcome.AUTH, "401", NOW, NOW + 60, 1, False)
    found = cooldown_blocker(closed, NOW)
    assert (found.cure, found.until, found.commands) == (
        *("log in again, or renew the key", NOW + 60),
        ("nobrakes providers open anthropic",),
    )
    assert "nobrakes is trying again" in cooldown_blocker(closed, NOW + 61).what


def test_places_that_others_hold_are_raised_by_one() -> None:
    room = MachineRoom(MachineLimits(2, None, None), 2, 0, 0.0, 0)
    [found] = board_blockers(board(machine=room))
    assert (found.kind, found.commands[-1]) == (Kind.NO_PLACE, "nobrakes machine set agents=3")
    assert "other repositories" in found.why


def test_nothing_in_the_way_is_nothing() -> None:
    assert board_blockers(board()) == []
