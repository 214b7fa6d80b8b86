"""A person works on a bead themselves: takes it from an agent or out of a conflict, and hands in what the Reviewer judges."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import Scripted, lives, until

ME = "You"


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def git(folder: str | Path, *arguments: str, code: int = 0) -> str:
    env = {**os.environ, "GIT_EDITOR": ":"}
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout.strip()


def take(project: Scripted, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(project.nobrakes("take", *arguments, "--json").stdout)["data"]
    return found


def commit(folder: str | Path, name: str, content: str) -> str:
    Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
    Path(folder, name).write_text(content)
    git(folder, "add", "--", name)
    git(folder, "commit", "-q", "-m", f"My {name}")
    return git(folder, "rev-parse", "HEAD")


def test_a_running_bead_is_taken_and_what_its_agent_made_is_kept(project: Scripted) -> None:
    project.does("one", 'echo half >shared; commit "Half"; echo loose >loose; touch "$BOOK/there"; sleep 600')
    project.add("one")
    before = project.git("status", "--porcelain") + project.git("rev-parse", "HEAD")
    with project.running() as run:
        until(project.flag("there").exists)
        (agent,) = project.turns("one")
        told = project.nobrakes("take", "one").stdout
        folder = project.folder.parent / "repository-one"
        assert "was stopped" in told and f"cd {folder}" in told and "nobrakes hand-in one" in told
        until(lambda: not lives(agent))
        run.wait(timeout=60)
    assert (folder / "shared").read_text() == "half\n" and git(folder, "status", "--porcelain") == ""
    bead = project.show("one")
    assert bead["status"] == "needs_doer" and bead["held"].endswith(f": {folder}")
    assert project.outcomes("one") == ["cancelled"]
    refs = project.git("for-each-ref", "--format=%(refname)", "refs/nobrakes/archive/one").split()
    assert any(ref.endswith("-branch") for ref in refs)
    assert "loose" in "".join(project.git("show", f"{ref}:loose") for ref in refs if "-wip" in ref)
    assert project.git("status", "--porcelain") + project.git("rev-parse", "HEAD") == before
    again = take(project, "one")
    assert (again["folder"], again["made"]) == (str(folder), False)
    Path(folder, "mine").write_text("not committed\n")
    assert "add -A" in project.error("hand-in", "one", code=17)["hint"] and (folder / "mine").exists()
    git(folder, "add", "mine")
    head = commit(folder, "src/one", "by hand\n")
    assert f"{head[:12]}" in project.nobrakes("hand-in", "one").stdout
    assert project.show("one")["held"] is None and project.status("one") == "needs_review"
    project.nobrakes("run")
    assert project.status("one") == "done" and project.git("show", "main:src/one") == "by hand\n"
    assert project.nobrakes("history", "one", "--transcript").returncode == 0
    for words in ("history", "show", "review", "diff"):
        project.nobrakes(words, "one")
    assert project.error("take", "one", code=17)["hint"].startswith("`nobrakes reopen")
    project.nobrakes("verify")


def test_a_conflict_is_settled_by_hand_and_the_merge_names_the_person(project: Scripted) -> None:
    project.does(
        "one", 'echo ours >shared; commit "Ours"; touch "$BOOK/there"; while [ ! -e "$BOOK/go" ]; do sleep 0.05; done'
    )
    project.add("one")
    with project.running() as run:
        until(project.flag("there").exists)
        commit(project.folder, "shared", "theirs\n")
        project.flag("go").touch()
        run.communicate(timeout=60)
    assert project.status("one") == "escalated" and [one["type"] for one in project.open()] == ["conflict"]
    told = project.nobrakes("take", "one", "--to", str(project.folder.parent / "mine")).stdout
    assert "conflicts with main in shared" in told and "git rebase --continue" in told
    folder = project.folder.parent / "mine"
    assert "<<<<<<<" in (folder / "shared").read_text()
    assert "rebase --continue" in project.error("hand-in", "one", code=17)["hint"]
    (folder / "shared").write_text("both\n")
    git(folder, "add", "shared")
    git(folder, "rebase", "--continue")
    project.nobrakes("hand-in", "one")
    assert project.open() == []
    project.nobrakes("run")
    assert project.status("one") == "done" and project.git("show", "main:shared") == "both\n"
    message = project.git("log", "-1", "--format=%an <%ae>%n%B", "main")
    assert f"Handed-In-By: {project.show('one')['attempts'][-2]['name']}" in message
    rows = project.ask("review", "one")
    assert '"role":"person"' in json.dumps(rows, separators=(",", ":"))
    project.nobrakes("verify")


def test_a_failing_change_comes_back_with_the_reason_and_no_agent_begins(project: Scripted) -> None:
    project.add("one")
    folder = take(project, "one")["folder"]
    commit(folder, "tests/test_new.sh", "echo this is wrong; exit 1\n")
    project.nobrakes("hand-in", "one")
    project.nobrakes("run", expect=None)
    bead = project.show("one")
    assert bead["status"] == "needs_doer" and bead["failures"] == 0 and project.turns("one") == []
    assert bead["held"].startswith("handed back to ") and "test" in bead["held"]
    assert (
        "nobrakes hand-in one"
        in project.nobrakes("ready", "--explain", expect=None).stdout + project.nobrakes("status", expect=None).stdout
    )
    commit(folder, "tests/test_new.sh", "true\n")
    project.nobrakes("hand-in", "one")
    project.nobrakes("run")
    assert project.status("one") == "done" and "test_new.sh" in project.git("ls-tree", "-r", "--name-only", "main")
    project.nobrakes("verify")


def test_a_branch_is_handed_in_for_a_bead_that_nobody_began(project: Scripted) -> None:
    project.add("one", "two")
    project.nobrakes("pause")
    assert "no new work to hand in" in project.error("hand-in", "one", code=17)["message"]
    assert "neither a folder nor a branch" in project.error("hand-in", "one", "--from", "nowhere", code=2)["message"]
    assert "checkout" in project.error("take", "two", "--to", str(project.folder / "inside"), code=2)["message"]
    project.git("checkout", "-q", "-b", "mine")
    commit(project.folder, "src/one", "mine\n")
    project.git("checkout", "-q", "main")
    project.nobrakes("hand-in", "one", "--from", "mine")
    folder = take(project, "two")["folder"]
    commit(folder, "tests/run.sh", "exit 0\n")
    project.nobrakes("hand-in", "two", "--from", folder)
    project.nobrakes("resume")
    project.nobrakes("run", expect=40)
    assert project.status("one") == "done" and project.turns("one") == project.turns("two") == []
    (asked,) = project.open()
    assert (asked["type"], asked["bead"]) == ("checks_changed", "two")
    project.nobrakes("retry", "two")
    project.nobrakes("run")
    assert project.status("two") == "done" and len(project.turns("two")) == 1
    project.nobrakes("verify")
