"""Taking back what people merged, or what was pushed without a request: all of it, and where it went."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.features.model import Feature, Stage
from nobrakes.store import open_store
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")
RELEASE = "release/1.x"
PUSHED = "\n".join(["[review.features.shop]", 'land = "remote"', f'base = "{RELEASE}"', ""])
"""The feature goes to another branch, and nobody merges it there."""


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.configure("poll_seconds = 1", "poll_seconds = 60")
    made.hub.git("branch", RELEASE, "main")
    made.hub.push({"only-release": "r\n"}, onto=RELEASE)
    yield made
    made.hub.close_down()


def says(team: Team, text: str) -> None:
    team.config.write_text(team.config.read_text() + text + "\n")


def feature(team: Team) -> list[str]:
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    team.add("shop-1", epic="shop")
    team.add("shop-2", epic="shop", needs=["shop-1"])
    return ["shop-1", "shop-2"]


def heads(team: Team) -> dict[str, int]:
    return {one["head"]["ref"]: one["number"] for one in team.hub.open_ones()}


def files(team: Team, ref: str = "main") -> list[str]:
    return [one for one in team.hub.git("ls-tree", "-r", "--name-only", ref).split() if one.startswith("src/")]


@pytest.mark.parametrize("how", ["squash", "merge", "rebase"])
def test_an_epic_is_taken_back_whole(team: Team, how: str) -> None:
    says(team, '[review.features.shop]\nunit = "epic"')
    shop = feature(team)
    team.run_on()
    team.hub.push({"theirs": "by others\n"})
    team.hub.merge(1, how)
    team.run_on()
    assert [team.status(one) for one in ("shop", *shop)] == ["done"] * 3 and files(team) == ["src/shop-1", "src/shop-2"]
    team.nobrakes("undo", "shop", "--yes")
    team.run_on()
    (number,) = heads(team).values()
    team.hub.merge(number)
    team.run_on()
    assert files(team) == [] and [team.status(one) for one in shop] == ["needs_doer"] * 2
    assert "theirs" in team.hub.git("ls-tree", "--name-only", "main").split()


@pytest.mark.parametrize("how", ["squash", "rebase"])
def test_a_bead_of_two_commits_is_taken_back_whole(team: Team, how: str) -> None:
    team.configure('land = "pull_request"', 'land = "pull_request"\nmerge = "rebase"')
    team.does("one", "mkdir -p src; echo a >src/a; commit A; echo b >src/b; commit B")
    team.add("one")
    team.run_on()
    team.hub.merge(1, how)
    team.run_on()
    assert team.status("one") == "done" and files(team) == ["src/a", "src/b"]
    team.nobrakes("undo", "one", "--yes")
    team.run_on()
    (number,) = heads(team).values()
    team.hub.merge(number)
    team.run_on()
    assert files(team) == []


def test_what_was_pushed_to_another_branch_is_taken_back_there(team: Team) -> None:
    says(team, PUSHED)
    shop = feature(team)
    team.run_on()
    assert [team.status(one) for one in ("shop", *shop)] == ["done"] * 3
    assert files(team, RELEASE) == ["src/shop-1", "src/shop-2"]
    team.nobrakes("undo", "shop-2", "--yes")
    team.run_on()
    (asked,) = team.hub.open_ones()
    assert asked["base"]["ref"] == RELEASE
    team.hub.merge(asked["number"])
    team.run_on()
    assert files(team, RELEASE) == ["src/shop-1"] and team.status("shop-2") == "needs_doer"


def test_what_was_pushed_there_is_not_lost_when_the_settings_do_not_name_it_any_more(team: Team) -> None:
    says(team, PUSHED)
    feature(team)
    team.run_on()
    assert team.status("shop") == "done"
    team.configure(PUSHED, "")
    said = team.run_on() + team.nobrakes("status").stdout
    [*_, merged] = [line for line in said.splitlines() if line.split()[:1] == ["merged"]]
    assert "shop-1" in merged, "that it was merged is all that names it"
    said = "".join(line for line in said.splitlines(keepends=True) if line.split()[:1] != ["merged"])
    assert "not contain" not in said and "rewritten" not in said and "shop-1" not in said, said


def test_a_feature_that_was_pushed_there_is_rolled_back_there(team: Team) -> None:
    says(team, PUSHED)
    one, two = feature(team)
    team.nobrakes("hold", two, "-m", "not yet")
    base = team.git("rev-parse", "main").strip()
    with closing(open_store(str(team.folder / ".nobrakes" / "nobrakes.db"))) as store:
        store.begin_feature(Feature("shop", "Shop", "What is sold.", base=base, stage=Stage.IMPLEMENTATION))
    team.run_on()
    assert team.status(one) == "done" and files(team, RELEASE) == ["src/shop-1"]
    team.nobrakes("forge", "rollback", "shop", "--yes")
    team.run_on()
    for number in heads(team).values():
        team.hub.merge(number)
    team.run_on()
    assert files(team, RELEASE) == []


def test_what_takes_a_merge_back_is_not_held_for_the_red_that_it_mends(team: Team) -> None:
    says(team, f'[review.features.shop]\nbase = "{RELEASE}"')
    team.configure('command = "sh tests/run.sh"', 'command = "! ls sr?/shop?1 besid? && sh tests/run.sh"')
    one, two = feature(team)
    team.nobrakes("hold", two, "-m", "not yet")
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    assert team.status(one) == "done"
    team.hub.push({"beside": "x\n"}, onto=RELEASE)  # red with what was merged
    team.nobrakes("undo", one, "--yes")
    team.nobrakes("release", two)
    said = team.run_on() + team.run_on()
    assert list(heads(team)) == [next(iter(heads(team)))] and "-back-" in next(iter(heads(team))), said
    team.hub.merge(2)
    said = team.run_on()
    assert files(team, RELEASE) == [] and team.status(one) == "needs_doer", said
