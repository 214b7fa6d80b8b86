"""A feature may be for another branch of the remote than main: it begins there, is proven there, and ends there."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nobrakes.features.model import Feature, Stage
from nobrakes.store import open_store
from tests.support.scripted import until
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")
RELEASE = "release/1.x"
SEES = 'mkdir -p src; ls >"src/$NOBRAKES_BEAD.saw"; work'
"""A Doer that writes down what it found."""


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.configure("poll_seconds = 1", "poll_seconds = 60")  # each run looks at once; asked all the time, none rests
    made.hub.git("branch", RELEASE, "main")
    made.hub.push({"only-release": "r\n"}, onto=RELEASE)
    made.hub.push({"only-main": "m\n"})
    yield made
    made.hub.close_down()


def says(team: Team, *lines: str) -> None:
    """A table in the settings: the feature `old` is for the release."""
    team.config.write_text(team.config.read_text() + "\n".join(["[review.features.old]", *lines]) + "\n")


def feature(team: Team, epic: str = "old") -> list[str]:
    """An epic of two beads, the second of which needs the first."""
    team.nobrakes("add", f"The {epic}", "--id", epic, "--type", "epic")
    one, two = f"{epic}-1", f"{epic}-2"
    for bead in (one, two):
        team.does(bead, SEES)
    team.add(one, epic=epic)
    team.add(two, epic=epic, needs=[one])
    return [one, two]


def request(team: Team, branch: str) -> Any:
    """The open request of that branch."""
    (found,) = [one for one in team.hub.open_ones() if one["head"]["ref"] == branch]
    return found


def on(team: Team, ref: str) -> list[str]:
    """The files at the code host."""
    return team.hub.git("ls-tree", "-r", "--name-only", ref).split()


@pytest.mark.parametrize("how", ["squash", "merge", "rebase"])
def test_its_beads_begin_on_its_branch_and_end_there(team: Team, how: str) -> None:
    says(team, f'base = "{RELEASE}"')
    one, two = feature(team)
    team.add("alone")
    main = team.hub.git("rev-parse", "main")
    team.run_on()
    asked = request(team, "task/bead-old-1")
    assert asked["base"]["ref"] == RELEASE and request(team, "task/bead-alone")["base"]["ref"] == "main"
    saw = team.hub.git("show", "task/bead-old-1:src/old-1.saw").split()
    assert "only-release" in saw and "only-main" not in saw, "it began on the branch that it is for"
    assert "only-main" in on(team, "task/bead-alone") and "only-release" not in on(team, "task/bead-alone")
    assert team.ask("pr", "show", one)["into"] == RELEASE
    team.hub.merge(asked["number"], how)
    team.run_on()
    assert (team.status(one), team.status(two)) == ("done", "reviewing")
    assert "src/old-1" in team.hub.git("show", "task/bead-old-2:src/old-2.saw") or "src/old-1" in on(
        team, "task/bead-old-2"
    )
    team.hub.merge(request(team, "task/bead-old-2")["number"], how)
    said = team.run_on()
    assert team.status(two) == "done" and "rewritten" not in said and "not on main" not in said, said
    assert {"src/old-1", "src/old-2", "only-release"} <= set(on(team, RELEASE))
    assert team.hub.git("rev-parse", "main") == main, "nothing of it came to main"
    assert "does not contain" not in team.nobrakes("status").stdout
    team.nobrakes("verify")
    assert "does not" not in team.nobrakes("doctor", expect=None).stdout


def test_an_epic_as_a_whole_is_for_its_branch(team: Team) -> None:
    says(team, 'unit = "epic"', f'base = "{RELEASE}"')
    one, two = feature(team)
    team.run_on()
    assert {team.status(bead) for bead in (one, two)} == {"landed"}
    asked = request(team, "feature/old")
    assert asked["base"]["ref"] == RELEASE
    assert "only-release" in on(team, "feature/old") and "only-main" not in on(team, "feature/old")
    team.hub.push({"later": "x\n"}, onto=RELEASE)  # other people's merge
    team.run_on()
    team.hub.merge(asked["number"])
    team.run_on()
    assert {team.status(bead) for bead in ("old", one, two)} == {"done"}
    assert {"src/old-1", "src/old-2", "later"} <= set(on(team, RELEASE)) and "src/old-1" not in on(team, "main")
    team.nobrakes("verify")


def test_what_is_undone_is_taken_back_where_it_was_merged(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    one, _ = feature(team)
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    team.nobrakes("undo", one, "--yes")
    team.config.write_text(team.config.read_text().replace(f'base = "{RELEASE}"', 'base = "main"'))
    team.run_on()
    (back,) = [asked for asked in team.hub.open_ones() if "-back-" in asked["head"]["ref"]]
    assert back["base"]["ref"] == RELEASE and team.status(one) == "done"
    team.hub.merge(back["number"])
    team.run_on()
    assert team.status(one) != "done" and "src/old-1" not in on(team, RELEASE) and "only-release" in on(team, RELEASE)
    team.nobrakes("verify")


def test_a_branch_that_is_not_there_holds_up_nobody_else(team: Team) -> None:
    says(team, 'base = "release/2.x"')
    one, _ = feature(team)
    team.add("alone")
    said = team.run_on()
    assert "release/2.x" in said and team.status("alone") == "reviewing", said
    assert team.status(one) == "needs_doer" and not team.turns(one)
    team.hub.git("branch", "release/2.x", RELEASE)
    team.run_on()
    assert request(team, "task/bead-old-1")["base"]["ref"] == "release/2.x"


def test_a_request_follows_when_the_branch_is_changed(team: Team) -> None:
    one, _ = feature(team)
    team.run_on()
    assert request(team, "task/bead-old-1")["base"]["ref"] == "main"
    says(team, f'base = "{RELEASE}"')
    team.run_on()
    assert request(team, "task/bead-old-1")["base"]["ref"] == RELEASE and len(team.hub.pulls) == 1
    assert "only-release" in on(team, "task/bead-old-1") and "only-main" not in on(team, "task/bead-old-1")
    team.hub.merge(1)
    team.run_on()
    assert team.status(one) == "done"
    team.nobrakes("verify")


def test_what_began_on_an_epics_branch_is_not_brought_to_another_base(team: Team) -> None:
    says(team, 'unit = "epic"')
    team.git("pull", "-q", "origin", "main")  # which the release has not
    one, two = feature(team)
    team.nobrakes("hold", two, "-m", "not yet")
    team.run_on()
    assert team.status(one) == "landed"
    team.nobrakes("config", "set", "review.features.old.base", RELEASE)
    team.nobrakes("release", two)
    said = team.run_on()
    assert not team.hub.open_ones() and team.show("old")["held"] and RELEASE in said, said
    team.nobrakes("config", "set", "review.features.old.base", "main")
    team.nobrakes("release", "old")
    team.run_on()
    assert request(team, "feature/old")["base"]["ref"] == "main"


def test_a_red_branch_opens_nothing_and_stops_nobody_elsewhere(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    team.configure('command = "sh tests/run.sh"', 'command = "test ! -e broken && sh tests/run.sh"')
    team.hub.push({"broken": "x\n"}, onto=RELEASE)
    one, _ = feature(team)
    team.add("alone")
    said = team.run_on()
    assert f"{RELEASE} itself fails the checks" in said and team.show(one)["held"], said
    assert team.status(one) == "needs_review" and team.status("alone") == "reviewing"
    assert [asked["head"]["ref"] for asked in team.hub.open_ones()] == ["task/bead-alone"]
    team.run_on()
    assert team.show(one)["held"], "nobody mended it"
    team.hub.git("update-ref", f"refs/heads/{RELEASE}", f"{RELEASE}~1")  # they took it back
    said = team.run_on()
    assert "old-1 continues" in said and not team.show(one)["held"], said
    assert request(team, "task/bead-old-1")["base"]["ref"] == RELEASE


def test_what_a_person_holds_stays_held_when_its_branch_is_mended(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    team.configure('command = "sh tests/run.sh"', 'command = "test ! -e broken && sh tests/run.sh"')
    team.hub.push({"broken": "x\n"}, onto=RELEASE)
    one, _ = feature(team)
    team.run_on()
    team.nobrakes("release", one)
    team.nobrakes("hold", one, "-m", "mine")
    team.hub.git("update-ref", f"refs/heads/{RELEASE}", f"{RELEASE}~1")
    team.run_on()
    assert team.show(one)["held"] == "mine" and not team.hub.open_ones()


def test_a_daemon_at_work_sees_that_a_red_branch_is_mended(team: Team) -> None:
    team.configure("poll_seconds = 60", "poll_seconds = 1")
    says(team, f'base = "{RELEASE}"')
    team.configure('command = "sh tests/run.sh"', 'command = "test ! -e broken && sh tests/run.sh"')
    team.hub.push({"broken": "x\n"}, onto=RELEASE)
    one, _ = feature(team)
    team.does("long", 'until [ -e "$BOOK/go" ]; do sleep 0.1; done; work')
    team.add("long")
    with team.running():
        until(lambda: bool(team.show(one)["held"]), 60)
        team.hub.git("update-ref", f"refs/heads/{RELEASE}", f"{RELEASE}~1")
        until(lambda: bool(team.hub.open_ones()), 60)
    assert request(team, "task/bead-old-1")["base"]["ref"] == RELEASE


def test_a_red_main_stops_nobody_who_is_for_another_branch(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    team.configure('command = "sh tests/run.sh"', 'command = "(test ! -e broken || test -e mended) && sh tests/run.sh"')
    team.hub.push({"broken": "x\n"})
    team.add("alone")
    said = team.run_on()
    assert team.status("alone") == "needs_review" and not team.hub.open_ones(), said
    assert "red" in team.nobrakes("status").stdout
    one, _ = feature(team)
    team.run_on()
    assert [asked["head"]["ref"] for asked in team.hub.open_ones()] == ["task/bead-old-1"]
    team.hub.merge(1)
    team.run_on()
    assert team.status(one) == "done" and request(team, "task/bead-old-2")["base"]["ref"] == RELEASE
    assert team.status("alone") == "needs_review", "main is as red as it was"
    team.hub.push({"mended": "x\n"})
    said = team.run_on()
    assert team.status("alone") == "reviewing" and request(team, "task/bead-alone")["base"]["ref"] == "main", said


@pytest.mark.parametrize("number", range(4))
def test_a_daemon_that_is_killed_at_any_call_opens_each_once(team: Team, number: int) -> None:
    says(team, f'base = "{RELEASE}"')
    one, _ = feature(team)
    team.add("alone")
    seen = team.killed_at(lambda call: call.startswith("POST") or "/pulls" in call, number)
    assert len(seen) > number, seen
    team.run_on()
    assert len(team.hub.pulls) == 2 and request(team, "task/bead-old-1")["base"]["ref"] == RELEASE
    for asked in team.hub.open_ones():
        team.hub.merge(asked["number"])
    team.run_on()
    assert (team.status(one), team.status("alone")) == ("done", "done")
    team.nobrakes("verify")


def test_the_doctor_names_who_needs_what_goes_to_another_branch(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    feature(team)
    team.add("alone", needs=["old-1"])
    said = team.nobrakes("doctor", expect=None).stdout
    assert (
        "alone starts from main but needs old-1" in " ".join(said.split()) and "nobrakes undepend alone old-1" in said
    )
    assert "old-2 starts" not in said


def test_a_lost_database_takes_nothing_for_lost_and_finds_the_request(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    one, two = feature(team)
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    assert (team.status(one), team.status(two)) == ("done", "reviewing")
    for path in (team.folder / ".nobrakes").glob("nobrakes.db*"):
        path.unlink()
    said = team.run_on()
    assert (team.status(one), team.status(two)) == ("done", "reviewing") and len(team.hub.pulls) == 2, said
    assert "does not contain" not in said + team.nobrakes("status").stdout
    team.hub.merge(2)
    team.run_on()
    assert team.status(two) == "done"
    team.nobrakes("verify")


def test_with_plain_git_it_is_said_where_to_merge_and_that_branch_says_what_is_merged(team: Team) -> None:
    team.configure(f'code_host_repository = "{team.hub.host}/team/thing"', 'code_host = "git"')
    says(team, f'base = "{RELEASE}"')
    one, _ = feature(team)
    said = " ".join(team.run_on().split())
    assert "is waiting for people to merge it into release/1.x" in said, said
    theirs = str(team.folder.parent / "theirs")
    team.hub.git("worktree", "add", "-q", theirs, RELEASE)
    team.hub.git("-C", theirs, "merge", "-q", "--no-ff", "-m", "Merge it", "task/bead-old-1")
    team.run_on()
    assert team.status(one) == "done"
    assert team.show(one)["merged_commit"] == team.hub.git("rev-parse", RELEASE)
    team.nobrakes("verify")


def test_a_feature_is_rolled_back_where_it_was_merged(team: Team) -> None:
    says(team, f'base = "{RELEASE}"')
    one, two = feature(team)
    base = team.git("rev-parse", "main").strip()
    with closing(open_store(str(team.folder / ".nobrakes" / "nobrakes.db"))) as store:
        store.begin_feature(Feature("old", "Old", "What is old.", base=base, stage=Stage.IMPLEMENTATION))
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    assert (team.status(one), team.status(two)) == ("done", "reviewing")
    done = team.ask("forge", "rollback", "old", "--yes")
    assert [each["bead"] for each in done["reverts"]] == [one], done
    team.run_on()
    (asked,) = team.hub.open_ones()
    assert asked["title"] == "Roll back: Old" and asked["base"]["ref"] == RELEASE
    team.hub.merge(asked["number"])
    team.run_on()
    assert {team.status(bead) for bead in ("old", one, two)} == {"cancelled"}
    assert "src/old-1" not in on(team, RELEASE) and "only-release" in on(team, RELEASE)
    team.nobrakes("verify")
