"""What people do to requests there while nobody here looks: merge them, close and reopen them, push to their branches."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.scripted import until
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")
Make = Callable[..., Team]


@pytest.fixture
def a_team(tmp_path: Path) -> Iterator[Make]:
    made: list[Team] = []

    def make(more: str = "", host: str = "") -> Team:
        made.append(Team(tmp_path, more))
        if host:
            made[0].configure(f'code_host_repository = "{made[0].hub.host}/team/thing"', host)
        return made[0]

    yield make
    for one in made:
        one.hub.close_down()


def small(team: Team) -> None:
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    team.add("one", epic="shop")
    team.add("two", epic="shop", needs=["one"])


def on_main(team: Team) -> list[str]:
    return team.hub.git("ls-tree", "-r", "--name-only", "main").split()


def resolved_in_the_web_editor(team: Team, branch: str) -> None:
    """Main comes into the branch, and wins."""
    ours, main = team.hub.head(1), team.hub.git("rev-parse", "main")
    tree = team.hub.git("rev-parse", "main^{tree}")
    both = team.hub.git("commit-tree", tree, "-p", ours, "-p", main, "-m", "Merge main")
    team.hub.git("update-ref", f"refs/heads/{branch}", both)


def merges_theirs(team: Team, branch: str) -> None:
    """With git alone."""
    theirs = str(team.folder.parent / "theirs")
    team.hub.git("worktree", "add", "-q", theirs, "main")
    team.hub.git("-C", theirs, "merge", "-q", "--no-ff", "-m", "Merge it", branch)


# --- merged while nobody reviews its bead --------------------------------------------------------


def test_a_conflict_that_people_resolve_and_merge_there_is_over(a_team: Make) -> None:
    team = a_team()
    team.does("one", 'echo mine >shared; commit "Mine"')
    team.add("one")
    team.add("two", needs=["one"])
    team.run_on()
    team.hub.push({"shared": "theirs\n"})
    team.run_on()
    assert team.open()[0]["type"] == "conflict"
    resolved_in_the_web_editor(team, "task/bead-one")
    team.hub.merge(1, "merge")
    said = team.run_on()
    assert team.status("one") == "done" and team.open() == [], said
    assert team.status("two") == "reviewing", "who needs it goes on"
    team.nobrakes("verify")


def test_a_daemon_at_work_sees_it_too(a_team: Make) -> None:
    team = a_team()
    team.does("one", 'echo mine >shared; commit "Mine"')
    team.does("long", 'until [ -e "$BOOK/go" ]; do sleep 0.1; done; work')
    team.add("one")
    team.run_on()
    team.hub.push({"shared": "theirs\n"})
    team.add("long")
    with team.running():
        until(lambda: bool(team.open()), 60)
        resolved_in_the_web_editor(team, "task/bead-one")
        team.hub.merge(1, "merge")
        until(lambda: team.status("one") == "done", 60)


def test_an_epics_conflict_that_people_resolve_and_merge_there_is_over(a_team: Make) -> None:
    team = a_team('unit = "epic"')
    small(team)
    team.does("two", "echo ours >clash; commit Clash")
    team.run_on()
    team.hub.push({"clash": "theirs\n"})
    team.run_on()
    assert team.status("shop") == "escalated"
    resolved_in_the_web_editor(team, "feature/shop")
    team.hub.merge(1, "merge")
    said = team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two")} == {"done"} and team.open() == [], said


def test_what_people_merge_all_the_same_is_done_though_nobody_did_what_they_wanted(a_team: Make) -> None:
    team = a_team()
    team.add("one")
    team.add("two", needs=["one"])
    team.run_on()
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    for turn in range(2, 9):
        team.does("one", "exit 3", turn=turn)
    team.run_on()
    assert team.status("one") == "escalated"
    team.hub.merge(1)
    said = team.run_on()
    assert (team.status("one"), team.status("two")) == ("done", "reviewing") and team.open() == [], said


def test_an_epic_that_waits_for_a_mend_is_merged_all_the_same(a_team: Make) -> None:
    team = a_team('unit = "epic"')
    small(team)
    team.run_on()
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    team.does("shop-mend-1", "exit 3")
    team.run_on()
    team.hub.merge(1)
    said = team.run_on()
    assert (team.status("one"), team.status("two")) == ("done", "done"), said
    assert team.status("shop-mend-1") == "escalated" and team.status("shop") != "done", "it has more to do"


def test_work_that_came_too_late_for_a_merge_is_told(a_team: Make) -> None:
    team = a_team()
    team.add("one")
    team.run_on()
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    waits = 'touch "$BOOK/there"; while [ ! -e "$BOOK/go" ]; do sleep 0.05; done'
    team.does("one", f"{waits}; echo better >src/one; commit Mend", turn=2)
    with team.running() as run:
        until(lambda: team.flag("there").exists())
        team.hub.merge(1)
        team.flag("go").touch()
        assert run.stdout is not None
        said = run.stdout.read()
    assert "without the newest work" in said and "nobrakes reopen one" in said, said
    assert team.status("one") == "done"


def test_one_that_was_merged_before_its_bead_was_cancelled_is_told(a_team: Make) -> None:
    team = a_team()
    team.add("one")
    team.run_on()
    team.hub.merge(1)
    team.nobrakes("cancel", "one")
    said = team.run_on() + team.run_on()
    assert "people had merged its pull request" in said and team.ask("pr", "list") == [], said
    team.nobrakes("reopen", "one")
    team.nobrakes("done", "one")


# --- merged with something else, or elsewhere ----------------------------------------------------


@pytest.mark.parametrize("how", ["a commit", "the button"])
def test_what_could_not_be_pushed_any_more_is_not_done_with_a_merge(a_team: Make, how: str) -> None:
    """Somebody pushes to the epic's branch, more lands here, and people merge what is there."""
    team = a_team('unit = "epic"')
    small(team)
    team.run_on()
    if how == "a commit":
        team.hub.push({"theirs": "x\n"}, onto="feature/shop")
    else:
        main, theirs = team.hub.push({"later": "x\n"}), str(team.folder.parent / "theirs")
        team.hub.git("worktree", "add", "-q", theirs, "feature/shop")
        team.hub.git("-C", theirs, "merge", "-q", "--no-ff", "-m", "Merge main", main)
    team.add("three", epic="shop")
    team.run_on()
    team.hub.merge(1)
    said = team.run_on()
    assert (team.status("one"), team.status("two")) == ("done", "done"), said
    assert "src/three" in on_main(team) or team.status("three") != "done", said


def test_one_that_was_merged_into_another_branch_says_so_and_what_to_type(a_team: Make) -> None:
    team = a_team()
    team.add("one")
    team.run_on()
    team.hub.git("branch", "develop", "main")
    team.hub.pull(1)["base"] = {"ref": "develop"}
    team.hub.merge(1)
    said = team.run_on()
    assert "was merged into develop, but is not on main" in said, said
    team.nobrakes("cancel", "one")
    team.run_on()
    team.nobrakes("reopen", "one")
    team.does("one", "echo anew >src/one; commit Anew", turn=2)
    team.run_on()
    assert team.status("one") == "reviewing" and len(team.hub.open_ones()) == 1


def test_with_plain_git_the_base_counts_whatever_else_was_pushed_to_the_branch(a_team: Make) -> None:
    team = a_team(host='code_host = "git"')
    team.add("one")
    team.run_on()
    team.hub.push({"theirs": "x\n"}, onto="task/bead-one")
    team.run_on()
    merges_theirs(team, "task/bead-one")
    said = team.run_on()
    assert team.status("one") == "done", said


def test_with_plain_git_other_work_waits_for_another_word(a_team: Make) -> None:
    team = a_team("push = false", 'code_host = "git"')
    team.add("one")
    team.run_on()
    team.nobrakes("pr", "open", "one")
    team.run_on()
    first = team.hub.git("rev-parse", "task/bead-one")
    team.nobrakes("cancel", "one")
    team.run_on()
    team.does("one", "mkdir -p src; echo anew >src/one; commit Anew")
    team.nobrakes("reopen", "one")
    said = team.run_on()
    assert team.status("one") == "reviewing" and len(team.turns("one")) == 2, said
    assert team.hub.git("rev-parse", "task/bead-one") == first, said


# --- closed and opened again ---------------------------------------------------------------------


@pytest.mark.parametrize("meanwhile", ["they push to it", "they describe it anew"])
def test_one_that_is_opened_again_goes_on(a_team: Make, meanwhile: str) -> None:
    team = a_team()
    team.add("one")
    team.run_on()
    team.hub.close(1)
    team.run_on()
    if meanwhile == "they push to it":
        team.hub.push({"theirs": "x\n"}, onto="task/bead-one")
    else:
        team.hub.pull(1)["body"] = "My own words."
    team.hub.pull(1)["state"] = "open"
    team.nobrakes("resolve", str(team.open()[0]["id"]), "--retry")
    team.run_on()
    assert len(team.hub.pulls) == 1
    team.hub.merge(1)
    said = team.run_on()
    assert team.status("one") == "done" and len(team.hub.pulls) == 1, said


def test_what_an_agent_does_in_place_of_taking_back_takes_nothing_back(a_team: Make) -> None:
    team = a_team()
    team.add("one")
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    team.nobrakes("undo", "one", "--yes")
    team.run_on()
    team.hub.close(2)
    team.run_on()
    team.nobrakes("resolve", str(team.open()[0]["id"]), "--retry")
    team.run_on()
    for pull in team.hub.open_ones():
        team.hub.merge(pull["number"])
    team.run_on()
    assert "src/one" not in on_main(team) or team.status("one") == "done"


# --- how work lands is changed -------------------------------------------------------------------


@pytest.mark.parametrize("land", ["local", "remote"])
def test_an_epic_that_people_were_to_merge_is_held_when_work_lands_otherwise(a_team: Make, land: str) -> None:
    team = a_team('unit = "epic"')
    small(team)
    team.nobrakes("hold", "two", "-m", "later")
    team.run_on()
    team.configure('land = "pull_request"', f'land = "{land}"')
    team.nobrakes("release", "two")
    team.add("other")
    said = team.nobrakes("run", expect=None)
    assert said.returncode != 70 and 'set review.land to "pull_request" again' in said.stdout, said
    assert (team.status("one"), team.status("two")) == ("landed", "needs_doer") and not team.turns("two")
    assert team.status("other") == "done", "nobody else is held up"
    team.configure(f'land = "{land}"', 'land = "pull_request"')
    team.nobrakes("release", "shop")
    said = team.nobrakes("run", expect=None)
    assert team.status("shop") == "reviewing", said
    team.hub.merge(1)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two")} == {"done"}


def test_a_feature_that_has_begun_on_its_branch_goes_on_there(a_team: Make) -> None:
    team = a_team('unit = "epic"')
    small(team)
    team.nobrakes("hold", "two", "-m", "later")
    team.run_on()
    team.does("two", 'ls src >"$BOOK/saw"; work')
    team.nobrakes("config", "set", "review.features.shop.land", "remote")
    team.nobrakes("release", "two")
    said = team.run_on()
    assert "one" in team.flag("saw").read_text().split(), said
    team.hub.merge(1)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two")} == {"done"}


def test_an_epic_is_not_called_done_while_its_beads_wait_to_be_merged(a_team: Make) -> None:
    team = a_team('unit = "epic"')
    small(team)
    team.run_on()
    said = team.nobrakes("done", "shop", expect=None)
    assert said.returncode == 17 and "after its pull request is merged" in said.stderr, said
    team.hub.merge(1)
    team.run_on()
    assert team.status("shop") == "done"


# --- main is rewritten there ---------------------------------------------------------------------


def test_a_request_does_not_bring_back_what_others_took_off_main(a_team: Make) -> None:
    team = a_team("")
    before = team.hub.git("rev-parse", "main")
    team.hub.push({"secret": "x\n"})
    team.add("one")
    team.run_on()
    assert "secret" in team.hub.git("ls-tree", "--name-only", team.hub.head(1)).split()
    team.hub.git("update-ref", "refs/heads/main", before)
    said = team.run_on()
    assert "secret" not in team.hub.git("ls-tree", "--name-only", team.hub.head(1)).split(), said
    team.hub.merge(1, "merge")
    team.run_on()
    assert team.status("one") == "done" and "secret" not in on_main(team) and len(team.hub.pulls) == 1
