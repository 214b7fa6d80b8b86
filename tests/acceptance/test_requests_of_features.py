"""A feature's last stages where people merge it by pull requests: each of its beads by itself, or all of it as one."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType
from nobrakes.features.model import Feature, Step
from tests.acceptance.test_forge_shaper import _Open
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.configure("poll_seconds = 1", "poll_seconds = 60")  # each run looks at once
    with _Open(str(made.folder / ".nobrakes" / "nobrakes.db")) as store:
        store.put([Bead("login", "Login", type=BeadType.EPIC)], [], "me")
        store.begin_feature(Feature("login", "Login", "People log in."))
        store.approve(["login"], "me")
        store.move_feature("login", Step.APPROVED, "me")
    made.add("one", epic="login")
    made.add("two", epic="login")
    made.add("three", epic="login", needs=["one"])
    yield made
    made.hub.close_down()


def shown(team: Team) -> str:
    return team.nobrakes("forge", "show", "login").stdout


def card(team: Team) -> dict[str, Any]:
    (found,) = team.ask("forge", "list")["features"]
    assert found == team.ask("forge", "show", "login")["card"]
    return {name: found[name] for name in ("stage", "merged", "requests")}


def test_each_bead_has_its_request_and_the_feature_is_merged_with_the_last(team: Team) -> None:
    assert card(team) == {"stage": "implementation", "merged": 0, "requests": 0} and "Pull request" not in shown(team)
    team.run_on()
    assert card(team) == {"stage": "pull_request", "merged": 0, "requests": 3}, "one bead has no request yet"
    numbers = {one["head"]["ref"].rpartition("-")[2]: one["number"] for one in team.hub.open_ones()}
    assert set(numbers) == {"one", "two"}
    team.hub.check(team.hub.head(numbers["two"]), "build", "success")
    team.hub.review(numbers["two"], "ann", "", state="APPROVED")
    team.hub.comment(numbers["two"], "ann", "Name it better.", "src/two", 1)
    team.does("two", "echo better >src/two; commit Better", turn=2)
    team.hub.merge(numbers["one"])
    team.run_on()
    team.run_on()
    page = shown(team)
    assert page.splitlines()[1].startswith("pull request review, active") and "Pull requests: 1 of 3 merged" in page
    assert re.search(rf"#{numbers['two']} two, open\n(.*\n)*    approved by ann\n.*Name it better", page), page
    assert f"#{numbers['one']} one, merged" in page
    assert "1 of 3 pull requests merged" in team.nobrakes("forge", "list").stdout
    for one in team.hub.open_ones():
        team.hub.merge(one["number"])
    team.run_on()
    assert card(team) == {"stage": "done", "merged": 3, "requests": 3}
    assert "Pull requests: 3 of 3 merged" in shown(team)


def test_a_request_that_people_close_takes_the_feature_back_a_stage(team: Team) -> None:
    team.nobrakes("cancel", "three")
    team.run_on()
    assert card(team) == {"stage": "pull_request_review", "merged": 0, "requests": 2}
    team.hub.close(team.hub.open_ones()[0]["number"])
    team.run_on()
    assert card(team) == {"stage": "pull_request", "merged": 0, "requests": 2}
    assert "closed" in shown(team)


def test_a_feature_that_is_merged_as_one_has_one_request(team: Team) -> None:
    team.configure('land = "pull_request"', 'land = "pull_request"\nunit = "epic"')
    team.run_on()
    assert card(team) == {"stage": "pull_request_review", "merged": 0, "requests": 1}
    assert "Pull requests: 0 of 1 merged" in shown(team) and "#1 login, open" in shown(team)
    team.hub.merge(1)
    team.run_on()
    assert card(team) == {"stage": "done", "merged": 1, "requests": 1} and "1 of 1 merged" in shown(team)
