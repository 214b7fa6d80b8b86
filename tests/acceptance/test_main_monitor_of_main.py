"""Main that goes red by itself: seen in idle time, frozen, traced to its commit, repaired by a commit, let go."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import Scripted, until

OFTEN, SELDOM = "main_check_hours = 0.0003", "main_check_hours = 24"


class Watched(Scripted):
    """A project with a daemon. What holds the word `bad` is red once the test says so; `broken` makes all red."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, more=f"[review]\n{OFTEN}\n")
        # what a merge brings shows later: a date that comes, a service that changes
        check = (
            f"[ ! -e {self.book}/broken ] && sh tests/run.sh && {{ [ ! -e {self.book}/later ] || ! grep -qr bad src; }}"
        )
        self.configure('command = "sh tests/run.sh"', f'command = "{check}"')

    def happened(self, kind: str) -> list[dict[str, Any]]:
        """The data of all events of a kind."""
        lines = map(json.loads, self.nobrakes("events", "--json").stdout.splitlines())
        return [line["metadata"] for line in lines if line["metadata"]["kind"] == kind]

    def daemon(self) -> int:
        """Start one."""
        return int(self.ask("daemon", "start")["pid"])

    def wait_for(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """The events of a kind, once there are so many."""
        log = self.folder / ".nobrakes"
        return until(lambda: found if len(found := self.happened(kind)) >= count else [], 90, lambda: os.listdir(log))

    def merges(self, *bad: str) -> None:
        """One, two and three are merged; those that are named become bad later."""
        for bead in bad:
            self.does(bead, f'mkdir -p src; echo bad >src/{bead}; commit "Bad"')
        self.configure(OFTEN, SELDOM)
        self.add("one")
        self.add("two", needs=["one"])
        self.add("three", needs=["two"])
        until(lambda: self.status("three") == "done", 90)

    def goes_bad(self, how: str = "later") -> None:
        self.flag(how).touch()
        self.configure(SELDOM, OFTEN)
        self.wake()

    def wake(self) -> None:
        """Let the daemon look at its settings now."""
        self.nobrakes("pause")
        self.nobrakes("resume")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Watched]:
    found = Watched(tmp_path)
    found.daemon()
    found.wait_for("main_green")
    yield found
    found.nobrakes("daemon", "stop", expect=None)
    assert found.orphans() == []


def test_the_merge_that_broke_main_is_found_and_taken_back(project: Watched) -> None:
    project.merges("two")
    [bad] = [commit for commit, bead in project.landed().items() if bead == "two"]
    before = project.git("rev-parse", "main").strip()
    project.goes_bad()
    [reverted] = project.wait_for("reverted")
    assert reverted["commit"] == bad and project.git("rev-parse", "main").strip() == reverted["revert"]
    assert project.git("rev-parse", "main~1").strip() == before, "main only moves forward"
    assert sorted(os.listdir(project.folder / "src")) == ["one", "three"]
    assert [one["commit"] for one in project.happened("main_frozen")] == [before]
    assert [one["why"] for one in project.happened("culprit_found")] == ["merge"]
    project.wait_for("main_unfrozen")
    assert project.ask("status")["frozen"] is None
    [told] = project.open()
    assert (told["type"], told["bead"]) == ("main_red", "two") and bad[:12] in told["detail"]
    assert told["evidence"]["reverted"] and told["evidence"]["results"][0]["outcome"] == "fail"
    shown = project.show("two")
    assert shown["status"] == "escalated" and bad[:12] in shown["notes"]
    # nothing is lost: what was reverted is in main's history, and its branch and workspace are archived
    assert project.git("merge-base", "--is-ancestor", bad, "main") == ""
    kept = dict(line.split() for line in project.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines())
    assert kept[f"refs/nobrakes/archive/two/reverted-{bad[:12]}"] == bad
    assert any(ref.startswith("refs/nobrakes/archive/two/") and ref.endswith("-branch") for ref in kept)
    project.does("two", "work")
    project.nobrakes("resolve", str(told["id"]), "--retry")
    until(lambda: project.status("two") == "done", 90)
    assert project.git("show", "main:src/two") == "made for two\n"


def test_a_broken_machine_blames_nobody_and_freezes_until_it_is_mended(project: Watched) -> None:
    project.merges()
    before = project.git("rev-parse", "main")
    project.goes_bad("broken")
    [told] = project.wait_for("culprit_found")
    assert told["why"] == "environment" and told["commit"] is None
    project.add("four")
    until(lambda: project.status("four") == "needs_review", 90)
    found = project.ask("status")
    assert found["frozen"] == before.strip() and "frozen" in project.nobrakes("status").stdout
    assert "frozen" in project.nobrakes("board").stdout
    [asked] = project.open()
    assert (asked["type"], asked["bead"]) == ("main_red", None) and "environment" in asked["detail"]
    assert project.happened("reverted") == [] and project.git("rev-parse", "main") == before
    assert not [one for one in project.happened("review_started") if one["attempt"] > 6]
    project.flag("broken").unlink()
    project.nobrakes("resolve", str(asked["id"]), "--dismiss")
    until(lambda: project.status("four") == "done", 90)
    assert project.open() == [] and len(project.happened("main_unfrozen")) == 1


def test_a_persons_own_commit_is_told_and_never_taken_back(project: Watched) -> None:
    project.merges()
    (project.folder / "src" / "mine").write_text("bad\n")
    project.git("add", "-A", "src")
    project.git("commit", "-qm", "Mine")
    mine = project.git("rev-parse", "main").strip()
    project.goes_bad()
    [told] = project.wait_for("culprit_found")
    assert (told["why"], told["commit"]) == ("person", mine)
    [asked] = project.open()
    assert mine[:12] in asked["title"] and "not a bead's merge" in asked["detail"]
    assert project.happened("reverted") == [] and project.git("rev-parse", "main").strip() == mine
    (project.folder / "src" / "mine").write_text("good\n")
    project.git("commit", "-qam", "Mended")
    project.wait_for("main_unfrozen")
    assert project.open() == []


def test_a_daemon_that_is_killed_in_the_search_finds_it_all_the_same(project: Watched) -> None:
    project.merges("two")
    project.goes_bad()
    for kind in ("main_frozen", "reverted"):
        project.wait_for(kind)
        os.kill(int(project.ask("daemon", "status")["pid"]), signal.SIGKILL)
        until(lambda: not project.ask("daemon", "status")["running"])
        project.daemon()
    project.wait_for("main_unfrozen")
    assert [one["why"] for one in project.happened("culprit_found")] == ["merge"]
    assert len(project.happened("reverted")) == len(project.happened("main_frozen")) == 1
    assert sorted(os.listdir(project.folder / "src")) == ["one", "three"]
    until(lambda: list((project.folder / ".nobrakes" / "scratch").iterdir()) == [])


def test_a_check_that_cannot_make_up_its_mind_freezes_nothing(tmp_path: Path) -> None:
    project = Watched(tmp_path)
    flaky = f"echo x >>{project.book}/runs; [ $(wc -l <{project.book}/runs) -ne 1 ] && sh tests/run.sh"
    text = project.config.read_text()
    line = next(line for line in text.splitlines() if line.startswith("command = ") and "tests/run.sh" in line)
    project.configure(line, f'command = "{flaky}"')
    project.daemon()
    try:
        assert project.wait_for("main_green")[0]["unsteady"] is True
        assert project.happened("main_frozen") == [] and project.open() == []
    finally:
        project.nobrakes("daemon", "stop")


def test_what_is_switched_off_looks_at_nothing_and_lets_go(project: Watched) -> None:
    project.merges()
    project.goes_bad("broken")
    project.wait_for("culprit_found")
    project.configure(OFTEN, "main_check_hours = 0")
    project.wake()
    project.wait_for("main_unfrozen")
    assert project.open() == []


def test_a_run_that_ends_when_idle_does_not_wait_for_a_look(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.add("one")
    project.nobrakes("run")
    assert project.events("main_green") == []
