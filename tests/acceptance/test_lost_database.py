"""The database is disposable: removed at any moment, it comes back with everything that a person typed."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import Scripted, until
from tests.support.warm import NOBRAKES

FOR_A_WORKER = {"assignee", "branch", "fence", "lease_until", "retry_at", "attempts"}
"""What a bead shows of the one who works on it."""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Scripted]:
    yield Scripted(tmp_path)


def database(project: Scripted) -> Path:
    return project.folder / ".nobrakes" / "nobrakes.db"


def since(project: Scripted) -> Path:
    return project.folder / ".nobrakes" / "beads.since.jsonl"


def lose(project: Scripted, *endings: str) -> None:
    for ending in endings or ("", "-wal", "-shm"):
        Path(f"{database(project)}{ending}").unlink(missing_ok=True)


def everything(project: Scripted) -> dict[str, Any]:
    """Whatever the commands tell of the plan and of what people decide."""
    beads = {bead["id"]: project.show(bead["id"]) for bead in project.ask("list", "--all")}
    for bead in beads.values():
        for name in FOR_A_WORKER:
            bead.pop(name)
        if bead["status"] in ("done", "cancelled"):
            bead.pop("return_to")  # for `undo` alone, which needs the events too
        for escalation in bead["escalations"]:
            escalation.pop("attempt")
    asked = project.ask("escalations", "--all")
    for escalation in asked:
        escalation.pop("attempt")
    told = {f"{bead['id']}.{name}": value for bead in beads.values() for name, value in bead.items()}
    return {**told, "asked": asked, "paused": project.ask("status")["paused"]}


def assert_same(after: dict[str, Any], before: dict[str, Any]) -> None:
    names = sorted(before.keys() | after.keys())
    assert {n: after.get(n) for n in names if after.get(n) != before.get(n)} == {
        n: before.get(n) for n in names if after.get(n) != before.get(n)
    }


def planned(project: Scripted) -> None:
    """One of everything that a person does to a plan."""
    run = project.nobrakes
    run("add", "An epic", "--id", "all", "-t", "epic", "-d", "Everything\nof it\u2028", "-l", "x", "-l", "y")
    run("add", "One", "--id", "one", "--epic", "all", "--accept", "a", "--accept", " b ", "--estimate", "30")
    run("add", "Two", "--id", "two", "--epic", "all", "--needs", "one", "--notes", "mind the gap", "-p", "0")
    run("add", "Three", "--id", "three", "--draft", "--touches", "src/*", "--no-tests")
    run("add", "Four", "--id", "four")
    run("depend", "four", "three")
    run("depend", "four", "two")
    run("undepend", "four", "two")
    run("edit", "one", "--title", "One and a half", "-p", "4", "--notes", "zero\nline")
    run("hold", "one", "--reason", "not today")
    run("hold", "two")
    run("release", "two")
    run("defer", "four", "2099-01-01")
    for bead in ("five", "six", "seven"):
        run("add", bead, "--id", bead)
    run("cancel", "five", "--reason", "nobody wants it")
    run("done", "six", "--reason", "by hand")
    run("cancel", "seven")
    run("reopen", "seven")
    run("hold", "three")
    run("undo")


def test_a_plan_comes_back_with_the_next_command(project: Scripted) -> None:
    planned(project)
    before = everything(project)
    lose(project)
    done = project.nobrakes("list")
    assert "rebuilt it" in done.stderr and "Two" in done.stdout
    assert_same(everything(project), before)
    assert project.nobrakes("list").stderr == ""
    assert project.nobrakes("doctor", expect=None).stdout.count("error") == 0


def test_a_plan_is_on_main_and_what_came_later_is_kept_beside_it(project: Scripted) -> None:
    planned(project)
    assert len(since(project).read_text().splitlines()) > 20
    project.nobrakes("commit-strategy", "--yes")
    assert len(since(project).read_text().splitlines()) == 2  # the settings and the mark
    project.nobrakes("edit", "two", "--notes", "after the snapshot")
    project.nobrakes("add", "Later", "--id", "later", "--needs", "two", "--draft")
    project.nobrakes("depend", "seven", "two")
    before = everything(project)
    lose(project)
    assert_same(everything(project), before)
    project.nobrakes("cancel", "later")
    lose(project)
    assert project.status("later") == "cancelled"


def test_the_shapers_drafts_are_drafts_again(project: Scripted) -> None:
    plan = project.folder.parent / "proposed.json"
    plan.write_text(json.dumps({"beads": [{"id": "idea", "title": "An idea"}, {"title": "More", "needs": ["idea"]}]}))
    project.nobrakes("propose", str(plan))
    before = everything(project)
    lose(project)
    assert_same(everything(project), before)
    assert project.status("idea") == "draft"


@pytest.mark.parametrize("snapshot", ["removed", "of an old branch"])
def test_the_snapshot_in_the_folder_is_not_needed(project: Scripted, snapshot: str) -> None:
    project.nobrakes("add", "One", "--id", "one")
    project.nobrakes("commit-strategy", "--yes")
    path = project.folder / ".nobrakes" / "beads.jsonl"
    old = path.read_text()
    project.nobrakes("add", "Two", "--id", "two", "--draft")
    project.nobrakes("edit", "one", "--notes", "newer")
    project.nobrakes("commit-strategy", "--yes")
    before = everything(project)
    if snapshot == "removed":
        path.unlink()
        project.git("update-ref", "refs/heads/main", "main~2")  # refs/nobrakes/snapshot still has it
    else:
        path.write_text(old)
    lose(project)
    assert_same(everything(project), before)


def test_what_was_asked_and_answered_comes_back(project: Scripted) -> None:
    project.does("one", 'nobrakes agent ask "Which way?"; nobrakes agent done blocked', turn=1)
    project.does("two", 'nobrakes agent escalate "Split it" --detail "it is two things"; work', turn=1)
    project.does("three", 'nobrakes agent ask "How far?"; nobrakes agent done blocked', turn=1)
    project.add("one", "two", "three")
    project.nobrakes("run", expect=40)
    (asked,) = [e for e in project.open() if e["bead"] == "three"]
    project.nobrakes("pause")
    project.nobrakes("answer", str(asked["id"]), "to the end of the road")
    project.nobrakes("set", "doers=1")
    before = everything(project)
    assert before["paused"] and {e["bead"] for e in before["asked"]} == {"one", "two", "three"}
    lose(project)
    assert_same(everything(project), before)
    assert project.ask("set")["doers"] == 1 if "doers" in (project.ask("set") or {}) else True
    project.nobrakes("resume")
    (asked,) = [e for e in project.open() if e["bead"] == "one"]
    project.nobrakes("answer", str(asked["id"]), "north by north-west")
    project.nobrakes("run", expect=0)
    assert {project.status(bead) for bead in ("one", "two", "three")} == {"done"}
    assert "north by north-west" in project.prompt("one", 2) and "end of the road" in project.prompt("three", 2)
    assert len(project.turns("two")) == 1


def test_what_was_merged_is_not_done_again_and_what_was_not_goes_on(project: Scripted) -> None:
    project.does("two", "work; echo half >half; commit Half; exit 1", turn=1)
    project.add("one", "two")
    project.configure("[limits]", "[limits]\nmax_failures = 1")
    project.nobrakes("run", expect=40)
    commit = project.show("one")["merged_commit"]
    lose(project)
    since(project).unlink()
    project.nobrakes("add", "Three", "--id", "three", "--no-tests")
    assert project.ask("list", "--all") and project.show("three")["status"] == "needs_doer"
    assert commit in project.git("log", "--format=%H", "main")
    known = {bead["id"]: bead["status"] for bead in project.ask("list", "--all")}
    assert known == {"one": "done", "three": "needs_doer"}, "of two there is nothing left that could tell"


def test_merged_since_the_snapshot_is_learnt_from_main(project: Scripted) -> None:
    project.add("one", "two")
    project.nobrakes("commit-strategy", "--yes")
    project.nobrakes("hold", "two")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done"
    lose(project)
    since(project).unlink()
    assert project.status("one") == "done" and project.show("one")["merged_commit"] in project.landed()
    project.nobrakes("run")
    assert len(project.turns("one")) == 1 and project.status("two") == "done"


def test_a_merge_that_was_taken_back_or_opened_again_is_not_done(project: Scripted) -> None:
    project.does("again", "mkdir -p src; echo more >src/more; commit More", turn=2)
    project.add("back", "again")
    project.nobrakes("run")
    (merged,) = [event for event in project.events("review_passed") if event["task_id"] == "back"]
    project.nobrakes("undo", str(merged["metadata"]["seq"]))
    project.nobrakes("reopen", "again")
    before = everything(project)
    assert {before["back.status"], before["again.status"]} == {"needs_doer"}
    lose(project)
    assert_same(everything(project), before)
    project.nobrakes("release", "back")
    project.nobrakes("run")
    assert {project.status("back"), project.status("again")} == {"done"}


def test_a_new_attempt_is_not_taken_for_an_old_one(project: Scripted) -> None:
    """The folders of earlier runs, their exit codes among them, are still there when numbers begin again."""
    project.does("one", "work; exit 1", turn=1)
    project.add("one")
    project.configure("[limits]", "[limits]\nmax_failures = 5")
    project.nobrakes("run")
    project.nobrakes("add", "Two", "--id", "two", "--no-tests")
    lose(project)
    project.nobrakes("run")
    assert project.status("two") == "done" and len(project.turns("two")) == 1


def test_proven_tests_are_found_again(project: Scripted) -> None:
    red = 'mkdir -p tests; echo "test -e src/one" >tests/test_one.sh; commit "Tests of one"'
    project.does("one", f"case $NOBRAKES_ROLE in test_writer) {red};; *) work; touch src/one; exit 1;; esac", turn=1)
    project.does("one", "exit 1", turn=2)
    project.plan([{"id": "one", "title": "One"}])
    project.configure("[limits]", "[limits]\nmax_failures = 1")
    project.nobrakes("run", expect=40)
    assert project.show("one")["return_to"] == "needs_doer", project.show("one")
    lose(project)
    (asked,) = project.open()
    project.nobrakes("resolve", str(asked["id"]), "--retry")
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert project.outcomes("one", "doer") == ["failed", "completed"]
    assert len(project.outcomes("one", "test_writer")) == 1, "the Test Writer is not asked again"
    assert "test -e src/one" in project.git("show", "main:tests/test_one.sh")


def test_a_write_that_was_killed_before_its_line_is_made_good(project: Scripted) -> None:
    project.nobrakes("add", "One", "--id", "one")
    before_lines = since(project).read_bytes()
    project.nobrakes("add", "Two", "--id", "two", "--needs", "one")
    project.nobrakes("hold", "one")
    before = everything(project)
    since(project).write_bytes(before_lines)  # as a kill between commit and line leaves it
    project.nobrakes("list")
    lose(project)
    assert_same(everything(project), before)


def test_a_torn_line_is_told_and_costs_nothing(project: Scripted) -> None:
    project.nobrakes("add", "One", "--id", "one")
    project.nobrakes("add", "Two", "--id", "two")
    whole = since(project).read_bytes()
    since(project).write_bytes(whole[: len(whole) - 120])
    project.nobrakes("add", "Three", "--id", "three")
    before = everything(project)
    lose(project)
    done = project.nobrakes("list")
    assert "the line is damaged" in done.stderr
    assert_same(everything(project), before)


def test_a_database_of_before_that_comes_back_gets_back_what_came_after_it(project: Scripted) -> None:
    """The file that knows better is never put aside: what a person typed, asked and answered is there again."""
    project.does("one", 'nobrakes agent ask "Which way?"; nobrakes agent done blocked', turn=1)
    project.add("one")
    old = database(project).read_bytes()
    project.nobrakes("run", expect=40)
    project.nobrakes("answer", str(project.open()[0]["id"]), "north by north-west")
    project.nobrakes("add", "Two", "--id", "two")
    project.nobrakes("pause")
    before = everything(project)
    lose(project)
    database(project).write_bytes(old)
    done = project.nobrakes("add", "Three", "--id", "three")
    assert "2 beads, 1 attempt and 1 escalation were restored; paused was restored" in done.stderr
    after = everything(project)
    assert "three.id" in after
    assert_same({name: value for name, value in after.items() if not name.startswith("three.")}, before)
    assert not list(since(project).parent.glob("beads.since.jsonl.*"))
    project.nobrakes("resume")
    project.nobrakes("hold", "two")
    project.nobrakes("hold", "three")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done" and "north by north-west" in project.prompt("one", 2)


def attempts(project: Scripted, bead: str) -> list[dict[str, Any]]:
    """What `show` tells of a bead's attempts."""
    shown: list[dict[str, Any]] = project.show(bead)["attempts"]
    return shown


@pytest.mark.parametrize("what", ["removed", "of before"])
def test_attempts_come_back_with_what_they_left(project: Scripted, what: str) -> None:
    secret = "ghp_" + "a1B2" * 9
    log = f"nobrakes agent done failed --summary 'half of it {secret}' --blockers 'no key' --learnings 'mind the gap'"
    project.does("one", log, turn=1)
    project.does("one", "nobrakes agent ask 'Which way?'; nobrakes agent done blocked", turn=2)
    project.add("one", "two")
    old = database(project).read_bytes()
    project.configure("[limits]", "[limits]\nmax_failures = 5")
    project.nobrakes("run", expect=40)
    before = {bead: attempts(project, bead) for bead in ("one", "two")}
    assert [len(found) for found in before.values()] == [2, 2] and before["two"][1]["role"] == "reviewer"
    lose(project)
    if what == "of before":
        database(project).write_bytes(old)
    done = project.nobrakes("list")
    assert "4 attempts" in done.stderr
    after = {bead: attempts(project, bead) for bead in ("one", "two")}
    assert_same_attempts(after, before)
    kept = since(project).read_text()
    assert secret not in kept and "mind the gap" in kept and '"token"' not in kept
    project.nobrakes("answer", str(project.open()[0]["id"]), "north")
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert "mind the gap" in project.prompt("one", 3), "the next attempt is told what the first one learnt"
    assert [(f["number"], f["role"]) for f in attempts(project, "one")][2:] == [(3, "doer"), (4, "reviewer")]
    project.nobrakes("commit-strategy", "--yes", expect=None)
    lose(project)
    assert len(attempts(project, "one")) == 4, "what the snapshot holds is dropped, and attempts are not"


def assert_same_attempts(after: dict[str, list[dict[str, Any]]], before: dict[str, list[dict[str, Any]]]) -> None:
    for bead, found in before.items():
        assert len(after[bead]) == len(found)
        for was, one in zip(found, after[bead], strict=True):
            for name in ("number", "role", "name", "fence", "outcome", "started_at", "ended_at", "head", "detail"):
                assert one.get(name) == was.get(name), (bead, name)


def test_where_the_file_is_gone_too_evidence_tells_of_attempts(project: Scripted) -> None:
    project.add("one")
    project.nobrakes("commit-strategy", "--yes", expect=None)
    project.nobrakes("run")
    lose(project)
    since(project).unlink()
    done = project.nobrakes("list")
    assert "1 attempt restored" in done.stderr and "beads.since.jsonl was missing too" in done.stderr
    (known,) = attempts(project, "one")
    assert (known["role"], known["outcome"], project.status("one")) == ("doer", "completed", "done")


def test_where_the_workspaces_are_gone_too_it_is_said(project: Scripted) -> None:
    project.add("one")
    project.nobrakes("commit-strategy", "--yes", expect=None)
    project.nobrakes("run")
    lose(project)
    shutil.rmtree(project.folder / ".nobrakes" / "workspaces")
    said = project.nobrakes("list").stderr
    assert "the workspaces were missing too: work that agents had not handed in is lost" in said
    assert "attempts restored" in said and "with their workspaces" not in said


def test_where_no_record_is_left_the_evidence_tells_what_is_done(project: Scripted) -> None:
    project.add("one", "two")
    project.nobrakes("run")
    before = project.show("one")
    lose(project)
    since(project).unlink()
    made = project.nobrakes("list")
    assert "2 done beads restored only from the records of their merges: " in made.stderr
    after = project.show("one")
    assert {name: after[name] for name in ("title", "type", "status", "merged_commit")} == {
        name: before[name] for name in ("title", "type", "status", "merged_commit")
    }
    assert "lost" in after["notes"]
    project.nobrakes("run")
    assert len(project.turns("one")) == 1


def test_a_trailer_of_another_chain_makes_nothing_done(project: Scripted) -> None:
    """Neither a history that was taken over nor a person's own words, when the database is made anew."""
    project.add("mine")
    project.nobrakes("run")
    tree = project.git("rev-parse", "main^{tree}").strip()
    for trailers in (f"Evidence: {'a' * 40}", ""):
        made = project.git("commit-tree", tree, "-p", "main", "-m", f"One\n\nBead: one\n{trailers}".strip()).strip()
        project.git("update-ref", "refs/heads/main", made)
    project.add("one")
    lose(project)
    assert project.status("one") == "needs_doer" and project.status("mine") == "done"
    project.nobrakes("run")
    assert project.status("one") == "done" and len(project.turns("one")) == 1


def test_a_log_without_its_database_spoils_nothing(project: Scripted) -> None:
    with project.running("--help"):
        pass
    project.nobrakes("add", "One", "--id", "one")
    connection = sqlite3.connect(database(project))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE big AS SELECT zeroblob(100000) AS x")
    lose(project, "")  # the log stays
    assert Path(f"{database(project)}-wal").stat().st_size > 0
    assert project.status("one") == "needs_tests"
    connection.close()
    assert "error" not in project.nobrakes("doctor", expect=None).stdout


def test_a_damaged_database_is_rebuilt_when_a_person_says_so(project: Scripted) -> None:
    planned(project)
    before = everything(project)
    lose(project, "-wal", "-shm")
    database(project).write_bytes(b"this is my shopping list\n" * 400)
    error = project.error("list", code=20)
    assert "doctor" in error["hint"]
    project.nobrakes("doctor", "--repair", "rebuild")
    assert_same(everything(project), before)
    assert database(project).with_name("nobrakes.db.old-1").read_bytes().startswith(b"this is my shopping")


def test_an_agent_makes_no_database(project: Scripted) -> None:
    project.nobrakes("add", "One", "--id", "one")
    lose(project)
    env = {**project.env(), "NOBRAKES_TOKEN": "1.1.x", "NOBRAKES_HOME": str(project.folder / ".nobrakes")}
    for arguments in (["list"], ["ready"], ["agent", "log", "hello"]):
        import subprocess

        done = subprocess.run([NOBRAKES, *arguments], cwd=project.folder, env=env, capture_output=True, text=True)
        assert done.returncode == 20 and not database(project).exists()


def test_a_daemon_whose_database_is_removed_ends_and_the_next_goes_on(project: Scripted) -> None:
    project.does("one", 'touch "$BOOK/begun"; while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work')
    project.add("one")
    with project.running() as first:
        until(lambda: project.flag("begun").exists())
        lose(project)
        project.nobrakes("list")
        assert first.wait(timeout=60) is not None
        project.flag("go").touch()
        assert project.orphans() == []
        project.nobrakes("run")
    assert project.status("one") == "done"
    assert len(project.landed()) == 1


def test_what_a_killed_daemon_left_is_ended_before_the_bead_is_done_again(project: Scripted) -> None:
    project.does("one", 'touch "$BOOK/begun"; while :; do sleep 0.05; done', turn=1)
    project.add("one")
    with project.running() as first:
        until(lambda: project.flag("begun").exists())
        first.kill()
        first.wait()
        lose(project)
        done = project.nobrakes("list")
        assert "-agent" in done.stderr and project.orphans() == []
        project.nobrakes("run")
    assert project.status("one") == "done" and len(project.turns("one")) == 2


def test_a_file_that_cannot_be_written_is_told_and_undoes_nothing(project: Scripted) -> None:
    project.nobrakes("add", "One", "--id", "one")
    before = since(project).read_bytes()
    since(project).unlink()
    since(project).mkdir()
    done = project.nobrakes("add", "Two", "--id", "two")
    assert "beads.since.jsonl" in done.stderr and "two" in done.stdout
    since(project).rmdir()
    since(project).write_bytes(before)
    project.nobrakes("list")
    lose(project)
    assert {bead["id"] for bead in project.ask("list", "--all")} == {"one", "two"}


def test_a_clone_of_the_repository_has_the_plan_with_its_first_command(project: Scripted, tmp_path: Path) -> None:
    project.nobrakes("add", "One", "--id", "one")
    project.nobrakes("commit-strategy", "--yes")
    project.git("clone", "-q", ".", str(tmp_path / "clone"))
    import subprocess

    done = subprocess.run(
        [NOBRAKES, "list", "--json"], cwd=tmp_path / "clone", env=project.env(), capture_output=True, text=True
    )
    assert [bead["id"] for bead in json.loads(done.stdout)["data"]] == ["one"], done
    assert os.path.isdir(tmp_path / "clone" / ".nobrakes" / "workspaces")
