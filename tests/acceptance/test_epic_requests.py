"""The beads of an epic land on its branch, and people merge all of them by one pull request."""

import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted import until
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path, 'unit = "epic"')
    yield made
    made.hub.close_down()


def ten(team: Team) -> list[str]:
    """An epic of ten beads with a diamond in it, and one bead outside that waits for one inside."""
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    needs = {"b1": [], "b2": ["b1"], "b3": ["b1"], "b4": ["b2", "b3"], "b5": ["b4"]}
    needs |= {f"b{n}": [] for n in range(6, 11)}
    for name, before in needs.items():
        team.add(name, epic="shop", needs=before)
    team.add("after", needs=["b4"])
    return list(needs)


@pytest.mark.parametrize("how", ["squash", "merge", "rebase"])
def test_an_epic_of_ten_with_a_diamond_is_one_request(team: Team, how: str) -> None:
    beads = ten(team)
    mine = team.git("rev-parse", "main")
    said = team.run_on()
    assert len(team.hub.pulls) == 1, said
    pull = team.hub.pull(1)
    assert pull["title"] == "The shop" and pull["head"]["ref"] == "feature/shop" and pull["base"]["ref"] == "main"
    assert {team.status(bead) for bead in beads} == {"landed"} and team.status("shop") == "reviewing"
    assert team.status("after") == "needs_doer", "outside of the epic only done counts"
    for bead in beads:
        assert f"- {bead} (task)" in pull["body"], pull["body"]
    assert team.hub.git("rev-list", "--count", "feature/shop", "^main") == "10"
    team.hub.push({"theirs": "by others\n"})
    merged = team.hub.merge(1, how)
    team.run_on()
    assert {team.status(bead) for bead in (*beads, "shop")} == {"done"}
    assert team.show("shop")["merged_commit"] == merged
    assert team.status("after") == "reviewing", "and now it counts"
    team.hub.merge(2)
    team.run_on()
    assert team.status("after") == "done" and not team.hub.open_ones()
    assert team.git("rev-parse", "main") == mine, "no branch of a person is moved"
    assert "refs/nobrakes/epics/" not in team.git("for-each-ref", "--format=%(refname)")
    team.nobrakes("verify")


def small(team: Team) -> None:
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    team.add("one", epic="shop")
    team.add("two", epic="shop", needs=["one"])


def test_what_people_ask_for_is_a_bead_of_the_epic_and_the_same_request_follows(team: Team) -> None:
    small(team)
    team.run_on()
    before = team.hub.head(1)
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    team.does("shop-mend-1", "echo better >src/one; commit Mend")
    team.run_on()
    assert "ann, src/one:1: Name it better." in team.prompt("shop-mend-1", 1)
    assert team.status("shop-mend-1") == "landed" and team.status("shop") == "reviewing"
    assert len(team.hub.pulls) == 1 and team.hub.head(1) != before
    assert team.hub.git("merge-base", "--is-ancestor", before, "feature/shop") == ""
    assert team.show("shop")["failures"] == 0
    team.hub.merge(1)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two", "shop-mend-1")} == {"done"}
    team.nobrakes("verify")


@pytest.mark.parametrize("how", ["squash", "merge", "rebase"])
def test_who_merges_before_a_push_merged_what_there_was(team: Team, how: str) -> None:
    """People merge between our last look and our push: what landed meanwhile is not in what they merged."""
    small(team)
    team.run_on()
    before = team.hub.head(1)
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    team.does("shop-mend-1", 'echo better >src/mended; commit Mend; touch "$BOOK/mended"')
    looks: list[str] = []

    def merge(call: str) -> None:
        if call.startswith("GET") and call.endswith("/pulls/1") and team.flag("mended").exists():
            looks.append(call)
            if len(looks) == 2:  # the first is before the candidate is built
                team.hub.merge(1, how)

    team.hub.before = merge
    team.run_on()
    team.hub.before = lambda call: None
    assert team.hub.pull(1)["head_sha"] == before, "it was merged as it was"
    assert [team.status(bead) for bead in ("one", "two", "shop-mend-1")] == ["done", "done", "landed"]
    assert len(team.hub.pulls) == 2 and team.status("shop") == "reviewing"
    team.hub.merge(2, how)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "shop-mend-1")} == {"done"}
    assert team.hub.git("show", "main:src/mended") == "better"
    team.nobrakes("verify")


def test_a_red_check_of_the_host_is_mended_in_the_epic(team: Team) -> None:
    small(team)
    team.run_on()
    team.hub.check(team.hub.head(1), "build", "failure", log="ld: symbol not found: frobnicate\n")
    team.does("shop-mend-1", "echo better >src/one; commit Mend")
    team.run_on()
    assert "symbol not found: frobnicate" in team.prompt("shop-mend-1", 1)
    team.hub.merge(1)
    team.run_on()
    assert team.status("shop") == "done" and len(team.hub.pulls) == 1


def test_a_base_that_moved_is_joined_and_a_conflict_is_asked_about(team: Team) -> None:
    small(team)
    team.nobrakes("hold", "two", "-m", "not yet")
    team.run_on()
    assert (team.status("one"), team.status("shop"), team.hub.pulls) == ("landed", "open", [])
    board = team.ask("board")
    assert board["columns"]["requested"] == [] and [card["id"] for card in board["columns"]["review"]] == ["one"]
    assert "one" in team.nobrakes("board").stdout and "in a request" not in team.nobrakes("list").stdout
    history = team.nobrakes("history", "one").stdout
    assert "on top of the branch of shop: passed" in history and "on top of main" not in history
    theirs = team.hub.push({"theirs": "by others\n"})
    team.nobrakes("release", "two")
    team.run_on()
    head = team.hub.head(1)
    says = [card["request"]["says"] for card in team.ask("board")["columns"]["requested"]]
    assert len(says) == 2 and all("landed on the branch of shop; pull request #1" in words for words in says), says
    assert team.hub.git("merge-base", "--is-ancestor", theirs, head) == ""
    assert len(team.hub.git("log", "-1", "--format=%P", head).split()) == 2
    clash = team.hub.push({"clash": "theirs\n"})
    team.add("three", epic="shop")
    team.does("three", "echo ours >clash; commit Clash")
    team.run_on()
    assert team.status("shop") == "escalated" and team.hub.pull(1)["state"] == "open"
    (asked,) = team.open()
    assert asked["type"] == "conflict" and "clash" in asked["detail"], asked
    assert clash and team.status("three") == "landed"


def test_what_lands_while_people_look_is_in_the_next_request_when_they_merge_first(team: Team) -> None:
    small(team)
    team.run_on()
    team.add("three", epic="shop")
    team.hub.merge(1)
    team.run_on()
    assert [team.status(bead) for bead in ("one", "two", "three")] == ["done", "done", "landed"]
    assert team.status("shop") == "reviewing" and len(team.hub.pulls) == 2
    assert team.hub.git("diff", "--name-only", "main...feature/shop") == "src/three"
    team.hub.merge(2)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two", "three")} == {"done"}
    team.nobrakes("verify")


def test_views_say_the_branch_that_work_lands_on(team: Team) -> None:
    """What is on its epic's branch, or conflicts with that, is nowhere said to be on main, or to conflict with main."""
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    team.add("one", "two", epic="shop")
    team.does("one", "echo one >same; commit One")
    team.does("two", 'while ! test -e "$BOOK/go"; do sleep 0.1; done; echo two >same; commit Two', turn=1)
    with team.running():
        until(lambda: team.status("one") == "landed")
        team.flag("go").touch()
        until(team.open)
    (asked,) = team.open()
    assert asked["type"] == "conflict" and "conflicts with the branch of shop in" in asked["detail"], asked
    landed = team.git("rev-parse", "refs/nobrakes/epics/shop").strip()
    history = team.nobrakes("history", "one").stdout
    assert f"on the branch of shop as {landed}" in history and "on main" not in history, history
    reviews = team.nobrakes("review").stdout
    assert "two  conflicts with the branch of shop" in reviews, reviews
    assert f"one  merged into the branch of shop as {landed[:12]}" in reviews, reviews
    page = team.nobrakes("escalation", str(asked["id"])).stdout
    assert "the branch of shop also has a change: one" in page and "on the branch of shop:" in page, page
    assert "starts again from the newest commit of the branch of shop" in " ".join(page.split()), page
    evidence = team.nobrakes("review", "one").stdout
    assert f"merged into the branch of shop as {landed[:12]}" in evidence and "validate   main" not in evidence, (
        evidence
    )
    assert "validate   the branch of shop: " in evidence, evidence


def test_a_request_that_people_close_is_asked_about_and_nothing_is_lost(team: Team) -> None:
    small(team)
    team.run_on()
    team.hub.close(1)
    team.run_on()
    assert team.status("shop") == "escalated" and team.status("one") == "landed"
    (asked,) = team.open()
    assert asked["type"] == "pull_closed"
    team.nobrakes("retry", "shop")
    team.run_on()
    assert len(team.hub.pulls) == 2 and team.status("shop") == "reviewing"


def test_a_branch_that_somebody_removed_is_put_back(team: Team) -> None:
    small(team)
    team.nobrakes("hold", "two", "-m", "not yet")
    team.run_on()
    landed = team.git("rev-parse", "refs/nobrakes/epics/shop").strip()
    team.git("update-ref", "-d", "refs/nobrakes/epics/shop")
    team.nobrakes("release", "two")
    said = team.run_on()
    assert "nobrakes restored the branch" in said, said
    assert team.git("merge-base", "--is-ancestor", landed, team.hub.head(1)) == ""
    assert team.hub.git("rev-list", "--count", "feature/shop", "^main") == "2"


def test_a_bead_that_has_landed_stays_in_its_epic_and_is_not_given_up(team: Team) -> None:
    small(team)
    team.run_on()
    is_landed = "bead one is landed"
    for command, says in (
        (["cancel", "one"], is_landed),
        (["done", "one"], is_landed),
        (["edit", "one", "--epic", ""], "bead one is merged into the branch of shop"),
    ):
        said = team.nobrakes(*command, expect=None)
        assert said.returncode not in (0, 1) and says in said.stderr, said
    shown = team.nobrakes("show", "one").stdout
    assert "landed" in shown
    assert team.ask("board")["counts"]["requested"] == 2


@pytest.mark.parametrize("first", ["one", "three"])
def test_what_has_landed_is_taken_off_the_branch_and_what_is_merged_by_a_request(team: Team, first: str) -> None:
    small(team)
    team.add("three", epic="shop", needs=["two"] if first == "one" else [])
    if first == "three":
        team.nobrakes("depend", "one", "three")
    team.run_on()
    team.nobrakes("undo", "three", "--yes")
    team.run_on()
    assert team.status("three") == "needs_doer" and team.show("three")["held"], "it is done again when a person says so"
    assert team.hub.git("ls-tree", "--name-only", "-r", "feature/shop", "src/three") == "src/three", "as people saw it"
    if first == "three":
        team.nobrakes("undepend", "one", "three")
    team.nobrakes("edit", "three", "--epic", "")
    team.run_on()
    assert team.hub.git("ls-tree", "--name-only", "-r", "feature/shop", "src/three") == ""
    team.hub.merge(1)
    team.run_on()
    assert team.status("shop") == "done"
    said = team.nobrakes("undo", "one", "--yes", expect=None)
    assert said.returncode == 17 and "nobrakes undo shop" in said.stderr, said.stderr
    team.nobrakes("undo", "shop", "--yes")
    team.run_on()
    team.hub.merge(2)
    team.run_on()
    assert team.hub.git("ls-tree", "--name-only", "-r", "main", "src/one") == ""
    assert [team.status(bead) for bead in ("shop", "one", "two")] == ["open", "needs_doer", "needs_doer"]
    team.nobrakes("verify")


def test_a_person_takes_a_bead_where_its_epic_is(team: Team) -> None:
    small(team)
    team.nobrakes("hold", "two", "-m", "mine")
    team.run_on()
    folder = team.folder.parent / "mine"
    team.nobrakes("take", "two", "--to", str(folder))
    assert (folder / "src" / "one").exists(), "two needs one, which has landed"
    (folder / "src" / "two").write_text("by hand\n")
    for arguments in (
        ["add", "-A"],
        ["-c", "user.name=Me", "-c", "user.email=me@example.invalid", "commit", "-qm", "Two"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    team.nobrakes("hand-in", "two")
    team.run_on()
    assert team.status("two") == "landed" and len(team.hub.pulls) == 1
    assert team.hub.git("show", "feature/shop:src/two") == "by hand"


@pytest.mark.parametrize("lost", [True, False])
def test_a_database_that_was_lost_knows_what_has_landed(team: Team, lost: bool) -> None:
    small(team)
    team.run_on()
    if lost:
        for path in (team.folder / ".nobrakes").glob("nobrakes.db*"):
            path.unlink()
    else:
        team.hub.merge(1)
    said = team.run_on()
    if lost:
        assert (team.status("one"), team.status("shop")) == ("landed", "reviewing"), said
        team.hub.merge(1)
        team.run_on()
    assert [team.status(bead) for bead in ("shop", "one", "two")] == ["done"] * 3, said
    assert len(team.hub.pulls) == 1 and len(team.turns("one")) == 1


@pytest.mark.parametrize(("number", "merged"), [(0, False), (1, False), (0, True)])
def test_a_daemon_that_is_killed_at_any_call_loses_nothing_of_an_epic(team: Team, number: int, merged: bool) -> None:
    """Before a call is answered: while the request is opened, or when it is merged already."""
    small(team)
    if merged:
        team.run_on()
        team.hub.merge(1)
    seen = team.killed_at(lambda call: "/pulls" in call or "/commits" in call, number)
    assert len(seen) > number, seen
    team.run_on()
    if not merged:
        assert (team.status("shop"), team.status("one"), team.status("two")) == ("reviewing", "landed", "landed")
        team.hub.merge(1)
        team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two")} == {"done"} and len(team.hub.pulls) == 1, seen
    team.nobrakes("verify")


def test_a_bead_that_is_opened_again_when_its_epic_is_done_has_a_request_of_its_own(team: Team) -> None:
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    team.add("one", "two", epic="shop")
    team.nobrakes("cancel", "two")
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    assert (team.status("shop"), team.status("one")) == ("done", "done")
    team.nobrakes("reopen", "two")
    team.run_on()
    assert team.status("two") == "reviewing" and team.hub.pull(2)["head"]["ref"].endswith("bead-two")
    team.hub.merge(2)
    team.run_on()
    assert team.status("two") == "done" and team.hub.git("show", "main:src/two")
    team.nobrakes("verify")


def test_what_somebody_else_pushed_and_people_merged_is_told(team: Team) -> None:
    small(team)
    team.run_on()
    team.hub.git("update-ref", "refs/heads/feature/shop", "refs/heads/main")
    theirs = team.hub.push({"theirs": "by others\n"}, onto="feature/shop")
    team.hub.merge(1)
    said = team.run_on()
    assert f"at {theirs[:12]}, which nobrakes did not push" in said, said


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_daemon_that_is_killed_again_and_again_brings_an_epic_to_one_request(team: Team, seed: int) -> None:
    dice = random.Random(seed)
    beads = ten(team)
    for _ in range(12):
        with team.running():
            time.sleep(dice.uniform(0.5, 2.5))  # the moment of the kill, at its end, is what is drawn
    team.run_on()
    assert {team.status(bead) for bead in beads} == {"landed"} and len(team.hub.pulls) == 1
    assert team.hub.git("rev-list", "--count", "feature/shop", "^main") == "10"
    team.hub.merge(1)
    for _ in range(3):
        with team.running():
            time.sleep(dice.uniform(0.3, 2.0))
    team.run_on()
    assert {team.status(bead) for bead in (*beads, "shop")} == {"done"}
    team.nobrakes("verify")


@pytest.mark.parametrize("how", ["squash", "merge", "forward"])
def test_with_plain_git_the_base_says_that_an_epic_is_merged(team: Team, how: str) -> None:
    team.configure(f'code_host_repository = "{team.hub.host}/team/thing"', 'code_host = "git"')
    small(team)
    said = team.run_on()
    assert "feature/shop" in said and not team.hub.calls
    team.hub.git("worktree", "add", "-q", str(team.folder.parent / "theirs"), "main")
    theirs = ["-C", str(team.folder.parent / "theirs")]
    if how == "forward":
        team.hub.git(*theirs, "merge", "-q", "--ff-only", "feature/shop")
    elif how == "merge":
        team.hub.git(*theirs, "merge", "-q", "--no-ff", "-m", "Merge it", "feature/shop")
    else:
        team.hub.git(*theirs, "merge", "-q", "--squash", "feature/shop")
        team.hub.git(*theirs, "commit", "-q", "-m", "All of it")
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two")} == {"done"}
    team.nobrakes("verify")


def test_an_epics_branch_follows_its_base_as_its_commits_again_where_that_is_wanted(team: Team) -> None:
    team.configure('unit = "epic"', 'unit = "epic"\ndiverged = "rebase"')
    small(team)
    team.nobrakes("hold", "two", "-m", "not yet")
    team.run_on()
    theirs = team.hub.push({"theirs": "by others\n"})
    team.nobrakes("release", "two")
    team.run_on()
    head = team.hub.head(1)
    assert team.hub.git("rev-list", "--count", "--min-parents=2", head) == "0"
    assert team.hub.git("merge-base", "--is-ancestor", theirs, head) == ""
    team.hub.merge(1, "rebase")
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two")} == {"done"}
    team.nobrakes("verify")


def test_epics_that_wait_for_each_other_are_named(team: Team) -> None:
    small(team)
    team.nobrakes("add", "The office", "--id", "office", "--type", "epic")
    team.add("desk", epic="office", needs=["one"])
    assert "wait for each other" not in team.nobrakes("doctor", expect=None).stdout.replace("no beads wait", "")
    team.nobrakes("depend", "two", "desk")
    said = team.nobrakes("doctor", expect=None).stdout
    assert "wait for each other" in said and "nobrakes undepend" in said, said
    ended = team.nobrakes("run", expect=40)
    assert team.status("one") == "landed"
    status = team.nobrakes("status").stdout
    for text in (ended.stdout + ended.stderr, status, team.nobrakes("doctor", expect=None).stdout):
        assert "wait for each other" in text and "nobrakes edit" in text, text
    team.nobrakes("undepend", "two", "desk")
    team.run_on()
    assert team.status("two") == "landed"
