"""Requests that stack: a bead is worked on on top of the open request of one that it needs."""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted import until
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")

ADDS = (
    'mkdir -p src; echo "made for $NOBRAKES_BEAD" >"src/$NOBRAKES_BEAD"; '
    'grep -sqx "$NOBRAKES_BEAD" src/all || echo "$NOBRAKES_BEAD" >>src/all; commit "Work on $NOBRAKES_BEAD"'
)
"""What conflicts with anything but what it was made on; a turn that was cut goes on with what it had written."""


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path, 'dependants = "stack"\nmax_open = 20')
    yield made
    made.hub.close_down()


def base(team: Team, number: int) -> str:
    return str(team.hub.pull(number)["base"]["ref"])


def number_of(team: Team, bead: str) -> int:
    (found,) = [pull["number"] for pull in team.hub.open_ones() if pull["head"]["ref"].endswith(f"bead-{bead}")]
    return int(found)


def files(team: Team, number: int) -> list[str]:
    """What the page of the request shows as changed."""
    pull = team.hub.pull(number)
    return team.hub.git("diff", "--name-only", f"{pull['base']['ref']}...{pull['head']['ref']}").split()


def chain(team: Team, *beads: str) -> None:
    for bead, before in zip(beads, (None, *beads), strict=False):
        team.does(bead, ADDS)
        team.add(bead, needs=[before] if before else [])


@pytest.mark.parametrize("how", ["squash", "merge", "rebase"])
def test_what_is_stacked_is_built_anew_when_the_lower_one_is_merged(team: Team, how: str) -> None:
    chain(team, "one", "two", "three")
    mine = team.git("rev-parse", "main")
    said = team.run_on()
    assert len(team.hub.pulls) == 3, said
    assert [base(team, n) for n in (1, 2, 3)] == ["main", "task/bead-one", "task/bead-two"]
    assert files(team, 2) == ["src/all", "src/two"], "it shows only what it adds"
    assert "#1" in team.hub.pull(2)["body"]
    (row,) = [one for one in team.ask("pr", "list") if one["bead"] == "two"]
    assert row["onto"] == "one" and "one" in team.nobrakes("pr", "show", "two").stdout
    assert {team.status(bead) for bead in ("one", "two", "three")} == {"reviewing"}
    for number, bead in enumerate(("one", "two", "three"), 1):
        assert team.status(bead) == "reviewing", "nothing is done before its own request is merged"
        merged = team.hub.merge(number, how)
        team.run_on()
        assert team.status(bead) == "done" and team.show(bead)["merged_commit"] == merged
        if number < 3:
            assert base(team, number + 1) == "main" and files(team, number + 1) == [
                "src/all",
                f"src/{('two', 'three')[number - 1]}",
            ]
    assert len(team.hub.pulls) == 3 and not team.hub.open_ones()
    assert team.hub.git("show", "main:src/all").split() == ["one", "two", "three"]
    assert team.git("rev-parse", "main") == mine, "no branch of a person is moved"
    assert "refs/nobrakes/requests/" not in team.git("for-each-ref", "--format=%(refname)")
    assert team.hub.git("for-each-ref", "--format=%(refname)", "refs/heads/task") == ""
    team.nobrakes("verify")


def test_what_is_stacked_follows_when_the_lower_one_changes(team: Team) -> None:
    chain(team, "one", "two")
    team.run_on()
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    team.does("one", 'echo better >>src/one; commit "Name it"', turn=2)
    before = team.hub.head(2)
    team.run_on()
    assert team.hub.head(2) != before and files(team, 2) == ["src/all", "src/two"]
    assert team.hub.git("merge-base", "--is-ancestor", team.hub.head(1), team.hub.head(2)) == ""
    assert len(team.turns("two")) == 1, "nobody works on it again"
    team.hub.merge(1)
    team.run_on()
    team.hub.merge(2)
    team.run_on()
    assert team.status("two") == "done" and "better" in team.hub.git("show", "main:src/one")
    team.nobrakes("verify")


def test_a_conflict_with_what_the_lower_one_became_is_a_persons(team: Team) -> None:
    chain(team, "one", "two")
    team.run_on()
    team.hub.comment(1, "ann", "Say it otherwise.", "src/all", 1)
    team.does("one", 'echo otherwise >src/all; commit "Say it otherwise"', turn=2)
    team.run_on()
    assert team.status("two") == "escalated" and [one["type"] for one in team.open()] == ["conflict"]
    assert team.hub.pull(2)["state"] == "open" and team.status("one") == "reviewing"


def test_a_diamond_comes_to_main_bead_by_bead(team: Team) -> None:
    needs = {"b1": [], "b2": ["b1"], "b3": ["b1"], "b4": ["b2", "b3"], "b5": ["b4"], "b6": ["b5"]}
    for name, before in needs.items():
        team.add(name, needs=before)
    team.run_on()
    opened = {pull["head"]["ref"].rpartition("-")[2] for pull in team.hub.open_ones()}
    assert opened == {"b1", "b2", "b3"}, "who needs two open requests waits"
    dice = random.Random(10)
    for _ in range(10):
        ready = [pull for pull in team.hub.open_ones() if pull["base"]["ref"] == "main"]
        if not ready:
            break
        team.hub.push({f"theirs-{dice.random()}": "by others\n"})
        team.hub.merge(dice.choice(ready)["number"], dice.choice(["squash", "merge", "rebase"]))
        team.run_on()
    assert {team.status(bead) for bead in needs} == {"done"}
    assert len(team.hub.pulls) == 6 and all(pull["merged"] for pull in team.hub.pulls)
    team.nobrakes("verify")


@pytest.mark.parametrize("then", ["nothing more", "more"])
def test_one_that_people_merged_into_the_lower_one_is_done_with_that(team: Team, then: str) -> None:
    chain(team, "one", "two")
    team.run_on()
    if then == "more":  # the lower one is merged before, and nobody saw that
        lower = team.hub.head(1)
        team.hub.merge(2)
        team.hub.git("update-ref", "refs/heads/task/bead-one", lower)
    else:
        team.hub.merge(2, "merge")
        said = team.run_on()
        assert team.status("two") == "reviewing" and "before the pull request of one is merged, too" in said
    team.hub.merge(1, "squash")
    team.run_on()
    if then == "more":
        assert team.status("two") == "reviewing" and len(team.hub.pulls) == 3
        team.hub.merge(3)
        team.run_on()
    assert (team.status("one"), team.status("two")) == ("done", "done") and team.ask("pr", "list") == []
    assert team.hub.git("show", "main:src/all").split() == ["one", "two"]
    merged = str(team.show("two")["merged_commit"])
    assert team.hub.git("merge-base", "--is-ancestor", merged, "main") == ""
    team.nobrakes("verify")


def test_where_the_lower_one_is_closed_or_given_up_a_person_decides(team: Team) -> None:
    chain(team, "one", "two")
    team.add("late", needs=["one"])
    team.nobrakes("hold", "late", "-m", "not yet")
    team.run_on()
    team.hub.close(1)
    team.run_on()
    assert (team.status("one"), team.status("two")) == ("escalated", "reviewing")
    team.nobrakes("release", "late")
    team.run_on()
    assert team.status("late") == "needs_doer" and not team.turns("late"), "it waits again"
    team.nobrakes("cancel", "one")
    said = team.run_on()
    assert "nobrakes undepend two one" in said and team.status("two") == "reviewing"
    team.nobrakes("undepend", "two", "one")
    team.run_on()
    assert team.status("two") == "escalated", "it does not stand on main by itself"
    assert [one["type"] for one in team.open()] == ["conflict"]


def test_work_on_a_request_that_is_given_up_meanwhile_waits_for_a_person_and_holds_nobody_up(team: Team) -> None:
    team.configure('land = "pull_request"', 'land = "pull_request"\nvalidators = 1')
    team.add("one")
    team.add("two", needs=["one"])
    team.does("two", 'touch "$BOOK/there"; while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work')
    with team.running():
        until(lambda: team.flag("there").exists())
        team.nobrakes("cancel", "one")
        team.flag("go").touch()
        until(lambda: team.status("two") == "needs_review")
    team.add("late", needs=["one"])
    team.add("other")
    said = team.run_on()
    assert "nobrakes undepend two one" in said, said
    assert (team.status("two"), team.status("other")) == ("needs_review", "reviewing")
    assert team.status("late") == "needs_doer" and not team.turns("late"), "nobody begins on what was given up"
    team.nobrakes("undepend", "two", "one")
    team.run_on()
    assert team.status("two") == "reviewing"
    number = number_of(team, "two")
    assert base(team, number) == "main" and files(team, number) == ["src/two"]


def test_who_waits_waits_where_nobody_wants_stacks(team: Team) -> None:
    team.configure('dependants = "stack"', 'dependants = "wait"')
    chain(team, "one", "two")
    team.run_on()
    assert len(team.hub.pulls) == 1 and team.status("two") == "needs_doer"
    team.configure('dependants = "wait"', 'dependants = "stack"')
    team.run_on()
    assert len(team.hub.pulls) == 2
    team.configure('dependants = "stack"', 'dependants = "wait"')
    team.hub.merge(1)
    team.run_on()
    assert base(team, 2) == "main", "what is stacked comes to its end"
    team.hub.merge(2)
    team.run_on()
    assert team.status("two") == "done"


@pytest.mark.parametrize("lost", [True, False])
def test_a_database_that_was_lost_finds_them_again(team: Team, lost: bool) -> None:
    team.add("one")
    team.add("two", needs=["one"])
    team.run_on()
    if lost:
        for path in (team.folder / ".nobrakes").glob("nobrakes.db*"):
            path.unlink()
        said = team.run_on()
        assert len(team.hub.pulls) == 2 and base(team, 2) == "task/bead-one", said
    team.hub.merge(1)
    team.run_on()
    team.hub.merge(2)
    team.run_on()
    assert (team.status("one"), team.status("two")) == ("done", "done") and len(team.hub.pulls) == 2
    assert team.hub.git("ls-tree", "--name-only", "main", "src/").split() == ["src/one", "src/two"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_daemon_that_is_killed_again_and_again_opens_each_once(team: Team, seed: int) -> None:
    dice = random.Random(seed)
    chain(team, "one", "two", "three")

    def killed(times: int) -> None:
        for _ in range(times):
            with team.running():
                time.sleep(dice.uniform(0.4, 2.5))  # the moment of the kill, at its end, is what is drawn

    killed(6)
    team.run_on()
    assert len(team.hub.pulls) == 3
    for bead in ("one", "two", "three"):
        team.hub.merge(number_of(team, bead), dice.choice(["squash", "merge", "rebase"]))
        killed(2)
        team.run_on()
        assert team.status(bead) == "done" and len(team.hub.pulls) == 3
    assert team.hub.git("show", "main:src/all").split() == ["one", "two", "three"]
    team.nobrakes("verify")
