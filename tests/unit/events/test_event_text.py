"""Events as lines and as JSON."""

import json

import pytest

from nobrakes.beads import work_status
from nobrakes.beads.model import Outcome
from nobrakes.cli.outcome import dumps
from nobrakes.events import words
from nobrakes.events.catalog import TABLE
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.journal import Step
from nobrakes.review.main_monitor import Phase, run_label

AT = 1_900_000_000.25


def test_the_public_schema():
    event = Event(Kind.DOER_STARTED, "nb-1", 7, "nobrakes", {"name": "Ada"}, seq=3, at=AT)
    assert json.loads(dumps(words.as_json(event))) == {
        "ts": "2030-03-17T17:46:40.250Z",
        "event": "doer_spawned",
        "task_id": "nb-1",
        "agent": "Ada",
        "metadata": {"seq": 3, "kind": "doer_started", "attempt": 7, "name": "Ada"},
    }


def test_a_kind_without_a_public_name_keeps_its_own():
    assert words.as_json(Event(Kind.PAUSED))["event"] == "paused"


def test_public_names_are_not_used_twice():
    names = [TABLE[kind].json or kind.value for kind in Kind]
    assert len(set(names)) == len(names)


def test_a_line_says_when_who_what_and_where():
    event = Event(Kind.TEST_WRITER_STARTED, "nb-1", 7, "nobrakes", {}, at=AT)
    line = words.as_line(event, "Parse the header", "Ada")
    assert line[8:] == "  Ada         nb-1     test writer started  Parse the header"


def test_a_line_is_one_line_whatever_the_title_holds():
    event = Event(Kind.NOTIFIED, "nb-1", None, "Ada\x1b[31m", {"text": "two\nlines\x07" + "x" * 10_000})
    line = words.as_line(event, "a\x1b[2Jb", width=100)
    assert "\n" not in line and "\x1b" not in line and len(line) <= 100


@pytest.mark.parametrize(("commit", "word"), [("1" * 40, " found the breaking commit"), (None, "no culprit found")])
def test_a_search_for_who_broke_main_says_whether_it_found_somebody(commit: str | None, word: str) -> None:
    line = words.as_line(Event(Kind.CULPRIT_FOUND, data={"commit": commit, "why": "unsure"}))
    assert word in line and ("no culprit" in line) == (commit is None)


REJECTED = {"outcome": "failed_review", "detail": "test: 2 of 14 tests failed", "name": "Reviewer", "number": 3}


def test_on_a_narrow_screen_the_ending_and_its_reason_come_before_the_title():
    event = Event(Kind.REVIEW_REJECTED, "budget", 9, "nobrakes", REJECTED, at=AT)
    title = "Months that went over their budget"
    line = words.as_line(event, title, "Reviewer", 80)
    assert line[10:] == "Reviewer    budget   rejected: a check failed: test: 2 of 14 tests fa…"
    assert words.as_line(event, title, "Reviewer", 110).endswith("2 of 14 tests failed  Months that went over th…")


@pytest.mark.parametrize(
    ("event", "name", "who"),
    [
        (Event(Kind.MERGED, "a", 1), "Reviewer", "Reviewer"),
        (Event(Kind.ESCALATED, "a", 1), "Ada", "Ada"),
        (Event(Kind.RESOLVED, "a", 1, "kim"), "Ada", "kim"),
        (Event(Kind.MAIN_GREEN), "", "nobrakes"),
        (Event(Kind.REVIEW_REJECTED, "a", 1, data=REJECTED), "", "Reviewer"),
    ],
)
def test_a_line_and_the_json_name_who_did_it(event: Event, name: str, who: str) -> None:
    assert words.as_line(event, "", name)[10:].startswith(who + " ")
    assert words.as_json(event, name)["agent"] == who


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"step": "main", "seconds": 41.2}, "checks start on main (last time 41 s)"),
        ({"step": "validate_rebased", "seconds": None}, "checks start on the branch on top of main"),
        (
            {"step": "validate_rebased", "seconds": None, "epic": "shop"},
            "checks start on the branch on top of the branch of shop",
        ),
        (
            {"step": "red_proof", "seconds": 125.0},
            "checks start on the new tests, which should fail (last time 2 min 5 s)",
        ),
    ],
)
def test_what_is_slow_says_that_it_begins_and_how_long_it_took(data: dict[str, object], said: str) -> None:
    assert words.what(Event(Kind.CHECKS_BEGAN, "a", 1, data=data)).removesuffix(" last time") == said.removesuffix(
        " last time"
    )


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([{"name": "test", "outcome": "pass", "seconds": 12.4}], "checking on top of main: passed in 12 s"),
        (
            [{"name": "lint", "outcome": "fail", "reason": "exit code 1"}],
            "checking on top of main: lint: exit code 1",
        ),
        ([], "checking on top of main"),
    ],
)
def test_a_step_of_a_review_says_what_came_of_it(results: list[dict[str, object]], said: str) -> None:
    assert words.what(Event(Kind.REVIEW_STEP, "a", 1, data={"step": "validate_rebased", "results": results})) == said


def test_every_step_ending_and_phase_has_words_of_its_own():
    asked = {*map(str, Step), *map(run_label, Phase)} - {"main_rest", "main_land"}
    assert asked <= set(work_status.STAGES) and set(map(str, Outcome)) == set(work_status.ENDINGS)
    assert not any("_" in word for word in (*work_status.STAGES.values(), *work_status.ENDINGS.values()))
