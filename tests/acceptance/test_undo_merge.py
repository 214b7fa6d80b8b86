"""Taking a merge back: the revert passes the checks before main moves, or main stays as it is."""

import json
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    """The bead `user` works only where the bead `lib` is."""
    found = Scripted(tmp_path)
    (found.folder / "tests" / "test_use.sh").write_text("test ! -e src/user || test -e src/lib\n")
    found.git("add", "-A")
    found.git("commit", "-qm", "What users need")
    found.add("lib")
    found.add("user", needs=["lib"])
    found.nobrakes("run")
    found.nobrakes("pause")
    return found


def merge_of(project: Scripted, bead: str) -> str:
    lines = map(json.loads, project.nobrakes("events", "--bead", bead, "--json").stdout.splitlines())
    return next(str(line["metadata"]["seq"]) for line in lines if line["metadata"]["kind"] == "merged")


def test_a_revert_that_would_make_main_red_does_not_land(project: Scripted) -> None:
    before = project.git("rev-parse", "main")
    done = project.nobrakes("undo", merge_of(project, "lib"), expect=33)
    assert "test_use" in done.stderr and "main was not moved" in done.stderr
    assert project.git("rev-parse", "main") == before and project.status("lib") == "done"
    program = project.nobrakes("undo", merge_of(project, "lib"), "--json", expect=33)
    assert program.stderr == "" and json.loads(program.stdout)["error"]["code"] == 33
    assert not project.orphans() and list((project.folder / ".nobrakes" / "scratch").iterdir()) == []


def test_a_revert_that_passes_lands_and_says_what_it_runs(project: Scripted) -> None:
    project.nobrakes("undo", merge_of(project, "user"))  # main was so before: it passed already
    assert project.status("user") == "needs_doer" and not (project.folder / "src" / "user").exists()
    (project.folder / "more").write_text("more\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "Mine")
    done = project.nobrakes("undo", merge_of(project, "lib"))
    assert "test" in done.stderr and project.status("lib") == "needs_doer"
    assert not (project.folder / "src" / "lib").exists() and (project.folder / "more").exists()


def test_all_commits_of_a_rebased_merge_are_taken_back(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more='[review]\nmerge = "rebase"')
    project.does("two", "mkdir -p src; echo 1 >src/one; commit One; echo 2 >src/two; commit Two")
    project.add("two")
    project.nobrakes("run")
    assert len(project.landed()) == 2
    project.nobrakes("pause")
    project.nobrakes("undo", merge_of(project, "two"))
    assert not (project.folder / "src").exists() and project.status("two") == "needs_doer"


def test_who_interrupts_an_undo_leaves_main_as_it_is(project: Scripted) -> None:
    on = project.flag("on")
    project.configure('command = "sh tests/run.sh"', f'command = "touch {on}; sleep 600"')
    before = project.git("rev-parse", "main")
    process = project.start("undo", merge_of(project, "user"))
    until(on.exists)
    process.send_signal(2)
    process.communicate(timeout=60)
    assert process.returncode == 130 and project.git("rev-parse", "main") == before
    until(lambda: not project.orphans())
    assert project.status("user") == "done" and list((project.folder / ".nobrakes" / "scratch").iterdir()) == []


def test_a_merge_that_a_person_took_off_main_is_not_taken_back_and_can_be_brought_back_after_a_gc(
    project: Scripted,
) -> None:
    (user,) = [commit for commit, bead in project.landed().items() if bead == "user"]
    project.git("reset", "-q", "--hard", "HEAD~1")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    error = project.error("undo", merge_of(project, "user"), code=17)
    assert "user" in error["message"] and "no longer on main" in error["message"]
    assert "nobrakes reopen user" in error["hint"] and f"git cherry-pick {user[:12]}" in error["hint"]
    assert "user" in project.nobrakes("status").stdout
    project.git("cherry-pick", user[:12])
    assert (project.folder / "src" / "user").exists()
