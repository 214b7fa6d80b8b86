"""The database goes back to an earlier moment, and git does not: nothing is lost, nothing is done or merged twice.

A moment is a copy of what a backup holds; what was merged, asked and answered after it has to be there all the same.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until
from tests.support.warm import NOBRAKES

DATABASE = ("nobrakes.db", "nobrakes.db-wal", "nobrakes.db-shm")
LOG = ("beads.since.jsonl",)
BOTH = (*DATABASE, *LOG)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Scripted]:
    yield Scripted(tmp_path)


class Backup:
    """What lay beside each other at one moment."""

    def __init__(self, project: Scripted) -> None:
        self.home = project.folder / ".nobrakes"
        self.kept = project.folder.parent / "backup"
        self.kept.mkdir()
        for name in BOTH:
            if (self.home / name).exists():
                shutil.copy2(self.home / name, self.kept / name)

    def put_back(self, names: tuple[str, ...]) -> None:
        for name in names:
            (self.home / name).unlink(missing_ok=True)
            if (self.kept / name).exists():
                shutil.copy2(self.kept / name, self.home / name)


def commits(project: Scripted, bead: str) -> list[str]:
    return [commit for commit, of in project.landed().items() if of == bead]


def numbers(project: Scripted) -> set[int]:
    """The attempts that have runs; the canary's runs belong to none."""
    firsts = (name.partition("-")[0] for name in os.listdir(project.folder / ".nobrakes" / "runs"))
    return {int(first) for first in firsts if first.isdecimal()}


def assert_sound(project: Scripted, *beads: str, turns: int = 1) -> None:
    """Each bead is done, came to main once, was worked on so often, and everything agrees."""
    assert {bead: project.status(bead) for bead in beads} == dict.fromkeys(beads, "done")
    assert sorted(project.landed().values()) == sorted(beads), "no bead is merged twice"
    assert {bead: len(project.turns(bead)) for bead in beads} == dict.fromkeys(beads, turns), "nothing is done twice"
    project.nobrakes("verify")
    project.nobrakes("doctor")
    before = numbers(project)
    project.add("after")
    project.nobrakes("run")
    assert project.status("after") == "done" and len(commits(project, "after")) == 1
    later = numbers(project)
    assert max(later) > max(before), "no attempt takes an old one's number"
    heads = project.git("for-each-ref", "--format=%(objectname)", "refs/nobrakes/archive").split()
    assert len(heads) >= len(beads)
    project.nobrakes("verify")


WHAT = pytest.mark.parametrize("what", [DATABASE, BOTH], ids=["database", "database and log"])


@WHAT
def test_before_the_start(project: Scripted, what: tuple[str, ...]) -> None:
    project.add("one", "two")
    backup = Backup(project)
    project.nobrakes("run")
    backup.put_back(what)
    for command in ("doctor", "status") if what == BOTH else ():
        told = project.nobrakes(command, expect=None).stdout
        assert "one is on main as" in told and "two is on main as" in told, "before anything is started it is told"
    if what == DATABASE:
        done = project.nobrakes("list", "--all")
        assert "2 beads, 4 attempts and 0 escalations were restored" in done.stderr and "needs_doer" not in done.stdout
        assert not [name for name in os.listdir(project.folder / ".nobrakes") if ".old-" in name]
    project.nobrakes("run")
    for command in ("doctor", "status"):
        assert "is on main as" not in project.nobrakes(command).stdout
    assert_sound(project, "one", "two")


GATED = 'touch "$BOOK/begun.$NOBRAKES_BEAD"; while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work'


@pytest.mark.slow
@WHAT
def test_while_it_was_worked_on(project: Scripted, what: tuple[str, ...]) -> None:
    project.does("one", GATED)
    project.add("one", "two")
    with project.running() as run:
        until(lambda: project.flag("begun.one").exists() and commits(project, "two"))
        backup = Backup(project)
        project.flag("go").touch()
        assert run.wait(timeout=60) == 0
    backup.put_back(what)
    project.nobrakes("run")
    assert_sound(project, "one", "two")


@pytest.mark.slow
@WHAT
def test_while_it_was_reviewed(project: Scripted, what: tuple[str, ...]) -> None:
    go, begun = project.flag("go"), project.flag("checked")
    project.configure(
        '"sh tests/run.sh"', f'"touch {begun}; while [ ! -e {go} ]; do sleep 0.05; done; sh tests/run.sh"'
    )
    project.add("one")
    with project.running() as run:
        until(begun.exists)
        backup = Backup(project)
        go.touch()
        assert run.wait(timeout=60) == 0
    backup.put_back(what)
    project.nobrakes("run")
    assert_sound(project, "one")


@pytest.mark.slow
@WHAT
def test_after_the_first_merge_of_three(project: Scripted, what: tuple[str, ...]) -> None:
    project.does("two", GATED)
    project.does("three", GATED)
    project.add("one", "two", "three")
    with project.running() as run:
        until(lambda: commits(project, "one") and project.status("one") == "done")
        backup = Backup(project)
        project.flag("go").touch()
        assert run.wait(timeout=60) == 0
    backup.put_back(what)
    project.nobrakes("run")
    assert_sound(project, "one", "two", "three")


@pytest.mark.slow
@WHAT
def test_after_a_merge_was_taken_back(project: Scripted, what: tuple[str, ...]) -> None:
    """What a person took back and did again stays as often on main as the person wanted it."""
    project.add("one")
    project.nobrakes("run")
    backup = Backup(project)
    (merged,) = project.events("review_passed")
    project.nobrakes("undo", str(merged["metadata"]["seq"]))
    project.nobrakes("release", "one")
    project.nobrakes("run")
    assert len(commits(project, "one")) == 2
    backup.put_back(what)
    project.nobrakes("run")
    assert len(commits(project, "one")) == 2 and project.status("one") == "done"
    project.nobrakes("verify")
    project.nobrakes("doctor")


def test_what_a_person_opened_again_is_open_when_the_database_of_before_comes_back(project: Scripted) -> None:
    project.add("one")
    project.nobrakes("run")
    backup = Backup(project)
    project.nobrakes("reopen", "one")
    project.nobrakes("hold", "one")
    backup.put_back(DATABASE)
    project.nobrakes("run", expect=None)
    assert project.status("one") == "needs_doer" and project.show("one")["held"] and len(commits(project, "one")) == 1


@pytest.mark.slow
def test_what_a_person_opened_again_stays_open(project: Scripted) -> None:
    project.does("one", "mkdir -p src; echo more >src/more; commit More", turn=2)
    project.add("one")
    project.nobrakes("run")
    project.nobrakes("reopen", "one")
    project.nobrakes("hold", "one")
    project.add("two")
    backup = Backup(project)
    project.nobrakes("run", expect=None)
    backup.put_back(BOTH)
    project.nobrakes("run", expect=None)
    assert project.status("one") == "needs_doer" and len(commits(project, "two")) == 1
    project.nobrakes("release", "one")
    project.nobrakes("run")
    assert project.status("one") == "done" and len(commits(project, "one")) == 2


def test_a_bead_of_another_chain_is_not_done(project: Scripted) -> None:
    """A history that was taken over from elsewhere speaks of beads of the same name."""
    tree = project.git("rev-parse", "main^{tree}").strip()
    for trailers in (f"Evidence: {'a' * 40}", ""):
        words = f"One\n\nBead: one\n{trailers}".strip()
        made = project.git("commit-tree", tree, "-p", "main", "-m", words).strip()
        project.git("update-ref", "refs/heads/main", made)
    before = project.git("rev-list", "--count", "main").strip()
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done" and len(project.turns("one")) == 1
    assert int(project.git("rev-list", "--count", "main")) > int(before)


SHIM = """#!/bin/sh
'{git}' "$@"; code=$?
case " $* " in *"nobrakes: merge"*) [ -e '{flag}' ] || {{ touch '{flag}'; kill -9 $PPID; }};; esac
exit $code
"""


def test_killed_between_merge_and_record_and_the_database_lost(project: Scripted, tmp_path: Path) -> None:
    """What the record needs is in git since before the merge: nothing in it is unknown."""
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(git=shutil.which("git"), flag=tmp_path / "killed"))
    shim.chmod(0o755)
    project.add("one")
    backup = Backup(project)
    env = {**project.env(), "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    killed = subprocess.run([NOBRAKES, "run"], cwd=project.folder, env=env, capture_output=True, timeout=60)
    assert killed.returncode == -9 and len(commits(project, "one")) == 1
    backup.put_back(BOTH)
    project.nobrakes("run")
    report = project.ask("verify")
    assert report["wrong"] == [] and [seen["word"] for seen in report["commits"]] == ["merged"]
    (note,) = report["notes"]
    assert note["bead"] == "one" and note["text"].endswith("unknown: nothing")
    assert_sound(project, "one")
    assert project.git("for-each-ref", "refs/nobrakes/landing") == ""
