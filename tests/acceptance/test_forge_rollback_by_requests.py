"""A feature is rolled back where people merge: its open requests are closed, and what they merged is a request's to revert."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, BeadType, Status
from nobrakes.features.model import Feature, Stage
from nobrakes.store import open_store
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Of the feature `login` bead `one` is merged and `two` waits in its request; `other` is merged, and no bead of it."""
    made = Team(tmp_path)
    epic = Bead("login", "Login", type=BeadType.EPIC, status=Status.OPEN)
    base = made.git("rev-parse", "main").strip()
    with closing(open_store(str(made.folder / ".nobrakes" / "nobrakes.db"))) as store:
        store.put([epic], [], "me")
        store.begin_feature(Feature("login", "Login", "People log in.", base=base, stage=Stage.IMPLEMENTATION))
    made.add("other")
    made.run_on()
    made.hub.merge(1)
    made.add("one", epic="login")
    made.add("two", needs=["one"], epic="login")
    made.run_on()
    made.hub.merge(2)
    made.run_on()
    yield made
    made.hub.close_down()


def on_main(team: Team) -> list[str]:
    """The files of beads that the remote's main has."""
    command = ["git", "-C", str(team.remote), "ls-tree", "-r", "--name-only", "main"]
    return [path for path in subprocess.check_output(command, text=True).split() if path.startswith("src/")]


def state(team: Team) -> str:
    return str(team.ask("forge", "show", "login")["feature"]["state"])


def test_an_open_request_is_closed_and_what_is_merged_is_taken_back_by_a_request(team: Team) -> None:
    assert team.status("one") == "done" and team.status("two") == "reviewing" and len(team.hub.open_ones()) == 1
    assert on_main(team) == ["src/one", "src/other"]
    assert "was rewritten" not in team.nobrakes("status").stdout, "they are on the main that people merge into"
    done = team.ask("forge", "rollback", "login", "--yes")
    assert [one["bead"] for one in done["cancels"]] == ["two"] and [one["bead"] for one in done["reverts"]] == ["one"]
    team.run_on()
    assert team.hub.pull(3)["state"] == "closed" and not team.hub.pull(3)["merged"], "nobody merges what nobody wants"
    (revert,) = team.hub.open_ones()
    asked = team.hub.pull(revert) if isinstance(revert, int) else revert
    number = asked["number"]
    assert asked["title"] == "Roll back: Login" and on_main(team) == ["src/one", "src/other"], "main is not moved here"
    assert state(team) == "paused" and team.status("one") == "done" and team.status(done["bead"]) == "reviewing"
    team.run_on()
    assert len(team.hub.pulls) == number, "it is asked for once"
    team.hub.merge(number)
    team.run_on()
    assert on_main(team) == ["src/other"] and state(team) == "rolled_back"
    assert team.status(done["bead"]) == "done"
    assert {team.status(bead) for bead in ("one", "two", "login")} == {"cancelled"} and team.status("other") == "done"
    assert not team.hub.open_ones()
    team.nobrakes("verify")


def test_a_revert_that_people_close_leaves_what_is_merged_and_asks(team: Team) -> None:
    done = team.ask("forge", "rollback", "login", "--yes")
    team.run_on()
    (revert,) = team.hub.open_ones()
    number = revert if isinstance(revert, int) else revert["number"]
    team.hub.close(number)
    team.run_on()
    assert on_main(team) == ["src/one", "src/other"] and state(team) != "rolled_back" and team.status("one") == "done"
    assert any(one["bead"] == done["bead"] and one["type"] == "pull_closed" for one in team.open()), team.open()
