"""How the work of a feature gets to people is said for each feature: settings of its epic."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted import until
from tests.support.team import Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.configure("poll_seconds = 1", "poll_seconds = 60")  # each run looks at once; asked all the time, none rests
    yield made
    made.hub.close_down()


def says(team: Team, *lines: str) -> None:
    """One more table in the settings, or more of it."""
    team.config.write_text(team.config.read_text() + "\n".join(lines) + "\n")


def feature(team: Team, epic: str) -> list[str]:
    """An epic of two beads, the second of which needs the first."""
    team.nobrakes("add", f"The {epic}", "--id", epic, "--type", "epic")
    one, two = f"{epic}-1", f"{epic}-2"
    team.add(one, epic=epic)
    team.add(two, epic=epic, needs=[one])
    return [one, two]


def heads(team: Team) -> dict[str, int]:
    """The branches of the requests that are open, with their numbers."""
    return {one["head"]["ref"]: one["number"] for one in team.hub.open_ones()}


def test_two_features_get_to_people_in_two_ways(team: Team) -> None:
    says(team, "[review.features.shop]", 'unit = "epic"', 'branch = "feature/checkout"')
    shop, office = feature(team, "shop"), feature(team, "office")
    team.run_on()
    assert set(heads(team)) == {"feature/checkout", "task/bead-office-1"}
    assert {team.status(bead) for bead in shop} == {"landed"} and team.status("shop") == "reviewing"
    assert [team.status(bead) for bead in office] == ["reviewing", "needs_doer"]
    assert {one["branch"] for one in team.ask("pr", "list")} == set(heads(team))
    assert team.ask("pr", "show", "shop")["branch"] == "feature/checkout"
    number = heads(team)["feature/checkout"]
    team.hub.comment(number, "ann", "Name it better.", "src/shop-1", 1)
    team.does("shop-mend-1", "echo better >src/shop-1; commit Mend")
    team.run_on()
    assert team.hub.git("show", "feature/checkout:src/shop-1") == "better"
    for number in heads(team).values():
        team.hub.merge(number)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", *shop)} == {"done"}
    assert "feature/checkout" not in team.hub.git("for-each-ref", "--format=%(refname:short)"), "as it is set"
    for number in heads(team).values():
        team.hub.merge(number)
    team.run_on()
    assert [team.status(bead) for bead in office] == ["done", "done"]
    team.nobrakes("verify")


def test_what_has_begun_goes_on_as_it_began_whatever_the_settings_say_then(team: Team) -> None:
    says(team, "[review.features.shop]", 'unit = "epic"')
    shop, office = feature(team, "shop"), feature(team, "office")
    team.nobrakes("hold", "shop-2", "-m", "not yet")
    team.run_on()
    assert (team.status("shop-1"), team.status("office-1")) == ("landed", "reviewing")
    team.nobrakes("config", "set", "review.features.shop.unit", "bead")
    team.nobrakes("config", "set", "review.features.office.unit", "epic")
    team.nobrakes("release", "shop-2")
    team.run_on()
    assert [team.status(bead) for bead in shop] == ["landed", "landed"] and "feature/shop" in heads(team)
    assert team.status("office-1") == "reviewing" and "task/bead-office-1" in heads(team)
    for number in heads(team).values():
        team.hub.merge(number)
    team.run_on()
    assert [team.status(bead) for bead in ("shop", *shop, "office-1")] == ["done"] * 4
    assert team.status("office-2") == "landed" and list(heads(team)) == ["feature/office"], "which began afterwards"
    team.hub.merge(heads(team)["feature/office"])
    team.run_on()
    assert [team.status(bead) for bead in ("office", *office)] == ["done"] * 3
    team.nobrakes("verify")


@pytest.mark.parametrize("number", range(3))
def test_a_daemon_that_is_killed_at_any_call_makes_one_request_of_each(team: Team, number: int) -> None:
    says(team, "[review.features.shop]", 'unit = "epic"', 'branch = "feature/checkout"')
    feature(team, "shop")
    team.add("alone")
    seen = team.killed_at(lambda call: call.startswith("POST") or "/pulls" in call, number)
    assert len(seen) > number, seen
    team.run_on()
    assert sorted(heads(team)) == ["feature/checkout", "task/bead-alone"] and len(team.hub.pulls) == 2, seen
    for one in heads(team).values():
        team.hub.merge(one)
    team.run_on()
    assert [team.status(bead) for bead in ("shop", "shop-1", "shop-2", "alone")] == ["done"] * 4
    team.nobrakes("verify")


def test_a_branch_that_is_somebody_elses_is_never_pushed_to(team: Team) -> None:
    theirs = team.hub.git("rev-parse", "main")
    team.hub.git("update-ref", "refs/heads/feature/checkout", theirs)
    says(team, "[review.features.shop]", 'unit = "epic"', 'branch = "feature/checkout"')
    feature(team, "shop")
    said = team.run_on()
    assert "feature/checkout" in said and "did not push" in said and not team.hub.pulls, said
    assert team.hub.git("rev-parse", "feature/checkout") == theirs


def test_the_doctor_names_features_that_there_are_not_and_names_that_are_anothers(team: Team) -> None:
    feature(team, "shop")
    team.nobrakes("add", "The cart", "--id", "cart", "--type", "epic")
    says(team, "[review.features.shop]", 'unit = "epic"', 'branch = "feature/cart"')
    says(team, "[review.features.shpo]", 'unit = "epic"', "[review.features.shop-1]", 'unit = "epic"')
    said = " ".join(team.nobrakes("doctor", expect=None).stdout.split())
    assert "review.features.shpo: epic shpo does not exist" in said, said
    assert "shop-1 is a task, not an epic" in said and "feature/cart is already the branch of cart" in said, said


@pytest.mark.parametrize("name", ["--upload-pack=touch pwned", "../../etc", "main", "task/bead-shop-1", "x:main"])
def test_a_hostile_name_stops_before_anything_is_done(team: Team, name: str) -> None:
    feature(team, "shop")
    before = team.config.read_text()
    said = team.nobrakes("config", "set", "--", "review.features.shop.branch", name, expect=None)
    assert said.returncode and "review.features.shop" in said.stderr and team.config.read_text() == before, said
    says(team, "[review.features.shop]", 'unit = "epic"', f'branch = "{name}"')
    said = team.nobrakes("run", expect=None)
    assert said.returncode and "review.features.shop" in said.stderr and not team.hub.calls, said


def test_nothing_is_pushed_before_a_person_says_so_and_each_work_needs_a_word(team: Team) -> None:
    says(team, "[review.features.shop]", 'unit = "epic"', "push = false")
    shop = feature(team, "shop")
    team.add("alone")
    refused = team.nobrakes("pr", "open", "shop", expect=17)
    assert "has no pull request" in refused.stderr, "it has passed nothing yet"
    said = team.run_on()
    assert list(heads(team)) == ["task/bead-alone"], "what is in no such feature goes on"
    assert team.waits() and "nobrakes pr open shop" in said and "nobrakes pr open shop" in " ".join(team.waits()), said
    assert "feature/shop" not in team.hub.git("for-each-ref", "--format=%(refname:short)")
    team.run_on()
    assert len(team.hub.pulls) == 1 and team.status("shop") == "reviewing"
    assert "nobrakes pr open shop" in team.nobrakes("pr", "list").stdout
    assert "`nobrakes pr open shop`" in team.error("pr", "show", "shop", code=17)["hint"]
    assert team.ask("pr", "open", "shop") == {"bead": "shop", "url": ""}
    assert "nobrakes pr open" not in team.nobrakes("pr", "list").stdout, "it is said"
    assert team.killed_at(lambda call: call.startswith("POST") and "/pulls" in call), "between the word and the request"
    team.run_on()
    assert len(team.hub.pulls) == 2 and set(heads(team)) == {"task/bead-alone", "feature/shop"}
    number = heads(team)["feature/shop"]
    team.hub.comment(number, "ann", "Name it better.", "src/shop-1", 1)
    team.does("shop-mend-1", "echo better >src/shop-1; commit Mend")
    team.run_on()
    assert team.hub.git("show", "feature/shop:src/shop-1") == "better", "the same request needs no other word"
    assert team.ask("pr", "open", "shop")["url"].endswith(f"/{number}")
    team.hub.merge(number)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", *shop)} == {"done"}
    team.nobrakes("verify")


def test_a_word_holds_for_the_work_that_it_was_given_for(team: Team) -> None:
    team.configure("poll_seconds = 60", "poll_seconds = 60\npush = false")
    team.add("one")
    team.run_on()
    assert not team.hub.pulls and "bead-one" not in team.hub.git("for-each-ref")
    team.nobrakes("pr", "open", "one")
    team.nobrakes("pr", "open", "one", expect=None)
    (said,) = team.events("push_allowed")
    assert said["task_id"] == "one" and said["agent"] == "person" and said["metadata"]["branch"].endswith("bead-one")
    assert f"allowed nobrakes to push {said['metadata']['head'][:12]} as" in team.nobrakes("history", "one").stdout
    team.run_on()
    team.nobrakes("cancel", "one")
    team.run_on()
    assert not heads(team)
    team.does("one", "mkdir -p src; echo anew >src/one; commit Anew")
    team.nobrakes("reopen", "one")
    team.run_on()
    assert len(team.turns("one")) == 2 and team.status("one") == "reviewing"
    assert len(team.hub.pulls) == 1, "other work waits for another word"
    team.nobrakes("pr", "open", "one")
    team.run_on()
    assert len(team.hub.pulls) == 2


def test_an_agent_gives_no_word(team: Team) -> None:
    says(team, "[review.features.shop]", 'unit = "epic"', "push = false")
    feature(team, "shop")
    team.does("shop-2", 'nobrakes pr open shop >"$BOOK/said" 2>&1; echo x >src/shop-2; commit Two')
    team.run_on()
    assert not team.hub.pulls and "agent" in (team.book / "said").read_text(), (team.book / "said").read_text()


def test_what_waits_to_be_a_request_of_its_own_lands_with_its_epic_when_that_is_wanted_then(team: Team) -> None:
    says(team, "[review.features.shop]", "push = false")
    shop = feature(team, "shop")
    team.run_on()
    assert [team.status(bead) for bead in shop] == ["reviewing", "needs_doer"] and not team.hub.pulls
    team.nobrakes("config", "set", "review.features.shop.unit", "epic")
    team.run_on()
    assert [team.status(bead) for bead in shop] == ["landed", "landed"] and not team.hub.pulls
    team.nobrakes("pr", "open", "shop")
    team.run_on()
    team.hub.merge(heads(team)["feature/shop"])
    team.run_on()
    assert {team.status(bead) for bead in ("shop", *shop)} == {"done"} and len(team.hub.pulls) == 1
    team.nobrakes("verify")


def test_epics_that_wait_for_each_other_are_named_where_people_merge_them_as_a_whole(team: Team) -> None:
    feature(team, "shop"), feature(team, "office")
    team.nobrakes("depend", "shop-2", "office-1")
    team.nobrakes("depend", "office-2", "shop-1")

    def said() -> str:
        return " ".join(team.nobrakes("doctor", expect=None).stdout.replace("no beads wait", "").split())

    says(team, "[review.features.shop]", 'unit = "epic"')
    assert "which is done only when all of '" not in said(), "the office's beads are merged one by one"
    says(team, "[review.features.office]", 'unit = "epic"')
    assert "which is done only when all of '" in said()


def test_a_run_rests_though_its_own_pace_keeps_it_from_looking_at_all_of_its_requests(team: Team) -> None:
    team.configure("poll_seconds = 60", "poll_seconds = 1")
    team.add("b1", "b2", "b3")
    with team.running() as run:
        until(lambda: len(team.hub.pulls) == 3, 150)
        until(lambda: run.poll() is not None, 150)
    waits = team.waits()
    assert len(waits) == 3 and all("is waiting for people to merge it" in one for one in waits), waits


def test_what_needs_no_request_is_pushed_when_it_is_proven_and_the_rest_waits_for_people(team: Team) -> None:
    says(team, "[review.features.shop]", 'land = "remote"', "[review.features.office]", 'unit = "epic"')
    shop, office = feature(team, "shop"), feature(team, "office")
    mine = team.git("rev-parse", "main")
    said = team.run_on()
    assert {team.status(bead) for bead in ("shop", *shop)} == {"done"}, said
    assert list(heads(team)) == ["feature/office"] and {team.status(bead) for bead in office} == {"landed"}
    there = team.hub.git("ls-tree", "-r", "--name-only", "main").split()
    assert {"src/shop-1", "src/shop-2"} <= set(there) and "src/office-1" not in there
    assert team.show("shop-2")["merged_commit"] == team.hub.git("rev-parse", "main")
    assert team.git("rev-parse", "main") == mine, "nobody's own branch moves"
    team.hub.merge(heads(team)["feature/office"])
    team.run_on()
    assert {team.status(bead) for bead in ("office", *office)} == {"done"}
    team.nobrakes("verify")


def test_what_is_pushed_goes_on_top_of_what_others_pushed_and_waits_where_the_host_refuses(team: Team) -> None:
    says(team, "[review.features.shop]", 'land = "remote"')
    one, two = feature(team, "shop")
    hook = Path(team.hub.bare) / "hooks" / "update"
    hook.write_text('#!/bin/sh\necho "protected branch" >&2\nexit 1\n')
    hook.chmod(0o755)
    team.add("alone")
    with team.running():
        said = until(lambda: [why for why in team.waits() if "rejected the push" in why], what=team.waits)
    assert "protected branch" in said[0] and team.status(one) == "reviewing"
    hook.unlink()
    theirs = team.hub.push({"theirs": "x\n"})
    team.run_on()
    assert (team.status(one), team.status(two)) == ("done", "done")
    line = team.hub.git("log", "--format=%H", "main").split()
    assert line[2] == theirs and team.status("alone") == "reviewing"
    team.nobrakes("verify")


@pytest.mark.parametrize("number", range(3))
def test_a_daemon_that_is_killed_while_it_pushes_lands_each_once(team: Team, number: int) -> None:
    says(team, "[review.features.shop]", 'land = "remote"')
    shop = feature(team, "shop")
    hook = Path(team.hub.bare) / "hooks" / ("pre-receive" if number else "post-receive")
    pid = team.flag("daemon")
    hook.write_text(f'#!/bin/sh\nif [ -s "{pid}" ]; then kill -9 $(cat "{pid}"); rm "{pid}"; sleep 1; fi\n')
    hook.chmod(0o755)
    if number == 2:
        hook.write_text(hook.read_text() + "exit 1\n")
    with team.running() as run:
        pid.write_text(str(run.pid))
        until(lambda: run.poll() is not None, 60)
    hook.unlink()
    team.run_on()
    assert [team.status(bead) for bead in ("shop", *shop)] == ["done"] * 3
    subjects = team.hub.git("log", "--format=%s", "main").split("\n")
    assert [one for one in subjects if "shop" in one] == ["Bead shop-2", "Bead shop-1"], subjects
    team.nobrakes("verify")
