"""The public events of a feature's whole way: from the first question to its merged pull requests."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.generate.public_page import OTHER_WORDS
from nobrakes.events.payloads import Name
from tests.acceptance.test_forge_failures import CLEAN, FINDS, READY
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")

ASKED_FOR = """
stage.discovery stage.planning stage.review stage.implementation stage.pr_creation stage.pr_review
question.asked question.answered questions.batch
plan.created plan.step_added plan.step_updated plan.step_reordered plan.approved
review.started review.findings review.iteration_complete review.signoff_required review.approved
execution.step_started execution.step_completed execution.paused_blocker execution.resumed execution.status
todo.collected todo.blocker_encountered todo.replanning_triggered
pr.created pr.review_started pr.issue_found pr.approved
"""
PLAN = """nobrakes agent propose - <<'PLAN'
beads:
  - {id: one, title: The one, needs_tests: false}
  - {id: two, title: The two, needs_tests: false}
PLAN
"""


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.configure("poll_seconds = 1", "poll_seconds = 60")
    made.configure('test_writer = "script"', 'shaper = "script"\ntest_writer = "script"')
    made.config.write_text(made.config.read_text() + "[forge]\nmost_rounds = 1\nmost_domains = 1\n")
    yield made
    made.hub.close_down()


def events(team: Team) -> list[tuple[str, dict[str, Any]]]:
    lines = team.nobrakes("events", "--public").stdout.splitlines()
    return [(one["event"], one["metadata"]) for one in map(json.loads, lines)]


def answer_all(team: Team, text: str) -> None:
    for one in team.open():
        team.nobrakes("answer", str(one["id"]), text)
    team.run_on()


def test_each_word_for_a_features_way_is_an_event_that_its_story_records(team: Team) -> None:
    team.does("session~1", 'nobrakes agent ask "Who?"; nobrakes agent ask "Where?"; echo "NOBRAKES: BLOCKED"\n', 1)
    team.does("session~1", PLAN + READY, 2)
    team.does("session~2", FINDS)
    team.does("session~1", READY)
    for session in range(3, 9):
        team.does(f"session~{session}", CLEAN)
    feature = team.ask("forge", "new", "Login", "-d", "People log in.")["id"]
    team.run_on()
    answer_all(team, "Everybody")
    answer_all(team, "accept the risk: it is small")
    team.nobrakes("forge", "sign-off", feature, "--take-risk")
    team.nobrakes("commit-strategy", "--yes")
    team.nobrakes("edit", "two", "--notes", "Soon.")
    team.nobrakes("depend", "two", "one")
    team.does("one", 'nobrakes agent blocked "No server for it"\n', 1)
    team.run_on()
    team.nobrakes("forge", "checkpoint", feature)
    team.run_on()
    answer_all(team, "give guidance: make one")
    team.hub.check(team.hub.head(1), "build", None)
    team.hub.review(1, "ann", "", state="APPROVED")
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    team.does("one", "echo better >src/one; commit Better", turn=3)
    team.run_on()
    for _ in range(3):
        for one in team.hub.open_ones():
            team.hub.merge(one["number"])
        team.run_on()

    told = events(team)
    ours = {one: OTHER_WORDS.get(one, ((one,), ""))[0] for one in ASKED_FOR.split()}
    public = {name.value for name in Name}
    assert {here for names in ours.values() for here in names} <= public and not OTHER_WORDS.keys() & public
    missing = {word: names for word, names in ours.items() if not {*names} <= {name for name, _ in told}}
    assert not missing and told[-1] and "stage.done" in [name for name, _ in told], (missing, team.run_on())
    by_name = dict(reversed(told))  # the first of each
    assert (
        by_name["review.iteration_complete"]["iteration_number"],
        by_name["review.iteration_complete"]["state"],
    ) == (
        1,
        "findings",
    )
    asked = {name: by_name["review.signoff_required"][name] for name in ("version", "review_count", "recommended_min")}
    assert asked == {"version": 1, "review_count": 1, "recommended_min": 1}
    assert by_name["review.approved"]["version"] == 1
    assert any(one["type"] == "escalation" for name, one in told if name == "todo.collected")
