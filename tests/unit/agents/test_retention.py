"""Logs of merged work go when they are old or many; others stay."""

from nobrakes.agents.limits import DAY_SECONDS, let_go

BEADS = {1: "old", 2: "old", 3: "open", 4: "fresh", 5: "fresh", 6: "last"}
RUNS = [
    "1-agent",
    "2-validation-1",
    "2-validation-2",
    "3-agent",
    "4-agent",
    "5-validation-1",
    "6-agent",
    "asked-1",
    "x",
]
MERGED = {"old": 0.0, "fresh": 99 * DAY_SECONDS, "last": 99 * DAY_SECONDS}


def test_what_is_old_goes_and_what_is_not_merged_stays() -> None:
    assert let_go(RUNS, BEADS, MERGED, 100 * DAY_SECONDS, 30, 200) == ["1-agent", "2-validation-1", "2-validation-2"]
    assert let_go(RUNS, BEADS, MERGED, 100 * DAY_SECONDS, 300, 200) == []


def test_so_many_newest_beads_keep_theirs() -> None:
    gone = let_go(RUNS, BEADS, MERGED, 100 * DAY_SECONDS, 300, 1)
    assert gone == ["1-agent", "2-validation-1", "2-validation-2"], "the last attempt's stay in any case"
    assert "4-agent" in let_go(RUNS, BEADS, {**MERGED, "last": 100 * DAY_SECONDS}, 100 * DAY_SECONDS, 300, 1)


def test_nothing_of_the_last_attempt_and_of_what_nobody_knows_goes() -> None:
    assert let_go(RUNS, BEADS, MERGED, 100 * DAY_SECONDS, 0, 0)[-1] == "5-validation-1"
    assert let_go(RUNS, {}, MERGED, 100 * DAY_SECONDS, 0, 0) == [] and let_go([], BEADS, MERGED, 0.0, 0, 0) == []
