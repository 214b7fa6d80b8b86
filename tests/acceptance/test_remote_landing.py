"""Work reaches a main that is decided at a remote, whoever else pushes there, and whatever dies or does not answer."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

REMOTE = '[review]\nland = "remote"\nremote_seconds = 20\n'


class Shared(Scripted):
    """A project whose main is decided at a bare repository beside it."""

    def __init__(self, folder: Path, more: str = REMOTE) -> None:
        super().__init__(folder, more=more)
        self.remote = folder / "remote.git"
        subprocess.run(["git", "clone", "-q", "--bare", str(self.folder), str(self.remote)], check=True)
        self.git("remote", "add", "origin", str(self.remote))

    def there(self, *arguments: str) -> str:
        """What git says of the remote."""
        return self.git("-C", str(self.remote), *arguments)

    def push_from_elsewhere(self, name: str) -> None:
        """Somebody else commits to main and pushes."""
        other = self.folder.parent / "elsewhere"
        subprocess.run(["git", "clone", "-q", str(self.remote), str(other)], check=True)
        (other / name).write_text(f"{name}\n")
        me = ("-c", "user.name=Else", "-c", "user.email=else@example.invalid")
        for words in (["add", "-A"], [*me, "commit", "-qm", name], ["push", "-q", "origin", "main"]):
            subprocess.run(["git", *words], cwd=other, check=True)

    def hook(self, text: str) -> Path:
        path = self.remote / "hooks" / "pre-receive"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def is_the_same_there(self) -> bool:
        return self.git("rev-parse", "main") == self.there("rev-parse", "main")


@pytest.fixture
def project(tmp_path: Path) -> Shared:
    return Shared(tmp_path)


def test_what_is_done_is_on_the_remotes_main(project: Shared, tmp_path: Path) -> None:
    project.add("one", "two", "three")
    project.nobrakes("run")
    assert project.is_the_same_there() and sorted(project.landed().values()) == ["one", "three", "two"]
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")
    assert "pushed" not in project.git("for-each-ref", "refs/nobrakes"), "what landed is not pinned any more"


def test_a_remote_beside_the_repository_may_be_named_by_its_way(project: Shared) -> None:
    project.git("remote", "set-url", "origin", "../remote.git")
    project.add("one")
    project.nobrakes("run")
    assert project.is_the_same_there() and list(project.landed().values()) == ["one"]


@pytest.mark.parametrize("while_it_is", ["worked on", "validated"])
def test_somebody_else_pushes_meanwhile(project: Shared, tmp_path: Path, while_it_is: str) -> None:
    waits = f"touch {project.book}/on; until [ -e {project.book}/go ]; do sleep 0.05; done"
    if while_it_is == "worked on":
        project.does("one", f"{waits}; work")
    else:
        project.configure('command = "sh tests/run.sh"', f'command = "{waits}; sh tests/run.sh"')
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        project.push_from_elsewhere("theirs")
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.is_the_same_there() and project.status("one") == "done"
    assert project.git("log", "--format=%s", "main").splitlines() == ["Bead one", "theirs", "Begin"]
    assert project.outcomes("one", "reviewer") == ["completed"], "a lost race is no failure"
    assert (project.folder / "theirs").exists() and project.git("status", "--porcelain", "-uno") == ""
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")


def test_a_remote_that_is_gone_for_a_while_is_waited_for(project: Shared) -> None:
    background = project.remote.with_name("aside.git")
    project.remote.rename(background)
    project.add("one")
    project.add("two", needs=["one"])
    before = project.git("rev-parse", "main")
    with project.running() as run:
        until(lambda: any("does not appear to be a git repository" in said for said in project.waits()))
        assert project.git("rev-parse", "main") == before and project.show("one")["failures"] == 0
        background.rename(project.remote)
        out, _ = run.communicate(timeout=120)
    assert run.returncode == 0 and "cannot be merged yet" in out, out
    assert project.is_the_same_there() and sorted(project.landed().values()) == ["one", "two"]


def test_a_remote_that_says_no_is_a_persons_matter(project: Shared) -> None:
    refusing = project.hook("echo only on weekdays >&2; exit 1")
    project.add("one")
    before = project.git("rev-parse", "main")
    done = project.nobrakes("run", expect=40)
    assert "cannot be merged yet" in done.stdout and "only on weekdays" in done.stdout
    assert project.git("rev-parse", "main") == before and project.landed() == {}
    for view in ("status", "board"):
        assert project.ask(view)["working"] == [], "a review that waits is nobody's work once the run has ended"
    assert project.show("one")["failures"] == 0
    (asked,) = project.ask("escalations")
    assert asked["type"] == "merge_held_up" and "a hook of the remote refuses the push" in asked["title"]
    assert "only on weekdays" in asked["detail"] and "review.land pull_request" in asked["detail"]
    project.nobrakes("run", expect=40)
    assert [one["id"] for one in project.ask("escalations")] == [asked["id"]], "it is asked once"
    project.hook("echo 'GH006: Protected branch update failed' >&2; exit 1")
    project.nobrakes("run", expect=40)
    (other,) = project.ask("escalations")
    assert other["id"] != asked["id"] and "rules forbid this push" in other["title"], "another cause is asked about"
    refusing.unlink()
    project.nobrakes("run")
    assert project.ask("escalations") == [], "what was mended is not asked any more"
    assert project.status("one") == "done" and project.is_the_same_there() and len(project.landed()) == 1


@pytest.mark.parametrize("moment", ["before it is decided", "after it was decided"])
def test_a_daemon_that_is_killed_in_a_push_lands_it_once(project: Shared, moment: str) -> None:
    on, go = project.flag("on"), project.flag("go")
    hook = project.remote / "hooks" / ("pre-receive" if moment.startswith("before") else "post-receive")
    hook.write_text(f"#!/bin/sh\ntouch {on}; until [ -e {go} ]; do sleep 0.05; done\n")
    hook.chmod(0o755)
    project.add("one")
    with project.running() as run:
        until(on.exists)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)
    go.touch()
    project.nobrakes("run")
    assert project.status("one") == "done" and project.is_the_same_there()
    assert project.git("log", "--format=%s", "main").splitlines() == ["Bead one", "Begin"]


def test_the_loop_works_on_while_a_push_takes_long(project: Shared) -> None:
    on, go = project.flag("on"), project.flag("go")
    project.hook(f"touch {on}; until [ -e {go} ]; do sleep 0.05; done")
    project.does("two", f"until [ -e {on} ]; do sleep 0.05; done; work")
    project.add("one", "two")
    with project.running() as run:
        until(on.exists)
        until(lambda: project.outcomes("two") == ["completed"])
        go.touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.is_the_same_there() and len(project.landed()) == 2


def test_a_persons_own_commits_wait_for_the_person(project: Shared) -> None:
    project.git("commit", "-q", "--allow-empty", "-m", "Mine")
    project.add("one")
    done = project.nobrakes("run", expect=40)
    assert "has commits that the remote lacks" in done.stdout and project.landed() == {}
    project.git("push", "-q", "origin", "main")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.is_the_same_there()


def test_a_merge_is_taken_back_at_the_remote(project: Shared) -> None:
    project.add("one")
    project.nobrakes("run")
    project.nobrakes("pause")
    lines = map(json.loads, project.nobrakes("events", "--json").stdout.splitlines())
    [merged] = [line for line in lines if line["metadata"]["kind"] == "merged"]
    project.push_from_elsewhere("theirs")
    project.nobrakes("undo", str(merged["metadata"]["seq"]))
    assert project.is_the_same_there() and not (project.folder / "src").exists()
    assert (project.folder / "theirs").exists()
