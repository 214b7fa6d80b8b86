"""A machine that lets one down: disks, databases, branches and programs that are broken. Nothing is lost by it."""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.files import TRACKED
from tests.support.scripted import Scripted, sound, until
from tests.support.warm import NOBRAKES

# mounts in a namespace of their own end with the command, whatever happens to it
NAMESPACE = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Scripted]:
    yield Scripted(tmp_path)


def within(project: Scripted, mounts: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run nobrakes where `mounts` were made first."""
    script = f'set -e; cd .nobrakes; {mounts}; cd ..; "$@"'
    return subprocess.run(
        [*NAMESPACE, "sh", "-c", script, "sh", NOBRAKES, *arguments],
        cwd=project.folder,
        env=project.env(),
        capture_output=True,
        text=True,
        timeout=120,
    )


READ_ONLY = 'mount --bind "$PWD" "$PWD" && mount -o remount,ro,bind "$PWD"'
# a disk that holds what is there, and not much more
FULL = (
    'mkdir ../../kept && cp -a . ../../kept && mount -t tmpfs -o size=1m none "$PWD" && cd "$PWD" '
    "&& cp -a ../../kept/. . && rm -r ../../kept && { head -c 2m /dev/zero >ballast 2>/dev/null || true; }"
)


@pytest.mark.parametrize("command", [["add", "New", "--id", "new"], ["run"], ["cancel", "one"], ["daemon", "start"]])
def test_a_folder_that_is_read_only(project: Scripted, command: list[str]) -> None:
    project.add("one")
    before = project.ask("list")
    error = sound(within(project, READ_ONLY, *command), within(project, READ_ONLY, *command, "--json"), 21)
    assert ".nobrakes" in error["message"]
    assert project.ask("list") == before


@pytest.mark.parametrize(
    "command", [["list"], ["show", "one"], ["ready"], ["ready", "--json"], ["status"]], ids=" ".join
)
def test_a_folder_that_is_read_only_is_read(project: Scripted, command: list[str]) -> None:
    project.add("one")
    done = within(project, READ_ONLY, *command)
    assert done.returncode == 0 and "cannot be written" in done.stderr, done.stdout + done.stderr
    assert "one" in done.stdout or command == ["status"]


@pytest.mark.parametrize("writer_lives", [True, False])
def test_what_is_still_in_the_log_of_a_read_only_folder_is_seen(project: Scripted, writer_lives: bool) -> None:
    project.add("one")
    path = project.folder / ".nobrakes" / "nobrakes.db"
    log, kept = path.with_name("nobrakes.db-wal"), project.folder.parent
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE bead_text SET title = 'Just written'")
    writer.commit()
    if not writer_lives:  # what a kill -9 and a new start of the machine leave: a log, and nobody's shared memory
        shutil.copy(log, kept / "log")
        shutil.copy(path, kept / "file")
        writer.close()
        shutil.copy(kept / "file", path)
        shutil.copy(kept / "log", log)
    done = within(project, READ_ONLY, "list")
    assert "Just written" in done.stdout, done.stdout + done.stderr
    writer.close()


def test_a_disk_that_is_full(project: Scripted) -> None:
    project.add("one")
    before = project.ask("list")
    command = ["add", "New", "--id", "new", "-d", "y" * 100_000]
    error = sound(within(project, FULL, *command), within(project, FULL, *command, "--json"), 22)
    assert "space" in error["message"]
    assert project.ask("list") == before


@pytest.mark.slow
def test_a_run_whose_disk_fills_up_waits_and_goes_on(project: Scripted) -> None:
    """The agent fills the disk, and some seconds later it is empty again."""
    fills = '(cd "$NOBRAKES_HOME"; head -c 9m /dev/zero >ballast; (sleep 3; rm ballast) &); work'
    project.does("one", fills, turn=1)
    project.configure('mode = "none"', 'mode = "none"\nwall = "none"')
    project.add("one")
    room = FULL.split(" && { head")[0].replace("size=1m", "size=4m")
    after = 'cd ..; "$@"; code=$?; "$1" show one --json >../shown; set -- exit $code'
    done = within(project, f"{room}; {after}", "run")
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "Traceback" not in said, said
    shown = json.loads((project.folder.parent / "shown").read_text())["data"]
    assert shown["status"] == "done" and "space" in said


def damage(path: Path, how: str) -> None:
    """Make a database worthless; what the journal holds goes with it."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for beside in ("-wal", "-shm"):
        Path(f"{path}{beside}").unlink(missing_ok=True)
    data = path.read_bytes()
    made = {
        "truncated": data[: len(data) // 3],
        "flipped": data[:100] + bytes(b ^ 0x5A for b in data[100:20000]) + data[20000:],
        "zeros": bytes(len(data)),
        "text": b"this is my shopping list\n" * 400,
        "empty": b"",
    }
    path.write_bytes(made[how])


@pytest.mark.parametrize("how", ["truncated", "flipped", "zeros", "text", "empty"])
def test_a_database_that_is_damaged_is_told_and_left_as_it_is(project: Scripted, how: str) -> None:
    project.add("one")
    path = project.folder / ".nobrakes" / "nobrakes.db"
    damage(path, how)
    before = path.read_bytes()
    for command in (["list"], ["show", "one"], ["ready"], ["run"], ["add", "New"]):
        person = project.nobrakes(*command, expect=20)
        program = project.nobrakes(*command, "--json", expect=20)
        assert "nobrakes.db" in sound(person, program, 20)["message"]
    assert path.read_bytes() == before


def test_a_database_of_a_newer_version(project: Scripted) -> None:
    project.add("one")
    path = project.folder / ".nobrakes" / "nobrakes.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    for command in (["list"], ["run"], ["doctor", "--repair", "rebuild"], ["doctor", "--repair", "counters"]):
        error = project.error(*command, code=79)
        assert "newer" in error["message"] and "Update" in error["hint"]
    shown = project.nobrakes("doctor", expect=1).stdout
    assert "written by a newer nobrakes" in shown and "Update nobrakes" in shown
    assert "rebuild" not in shown and path.read_bytes() == before
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM beads").fetchone() == (1,)
    connection.close()


@pytest.mark.parametrize("lacks", ["every table", "beads", "settings"])
def test_doctor_works_on_a_database_without_tables(project: Scripted, lacks: str) -> None:
    project.add("one")
    project.nobrakes("commit-strategy", "--yes")
    with sqlite3.connect(project.folder / ".nobrakes" / "nobrakes.db") as connection:
        named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = [name for (name,) in connection.execute(named)]
        for name in names if lacks == "every table" else [lacks]:
            connection.execute(f"DROP TABLE {name}")
    connection.close()
    shown = project.nobrakes("doctor", expect=1).stdout
    assert "git" in shown and "config.toml is valid" in shown
    assert "to repair: nobrakes doctor --repair rebuild" in shown
    project.nobrakes("doctor", "--repair", "rebuild")
    assert "one" in project.nobrakes("list").stdout


def test_two_daemons(project: Scripted) -> None:
    project.does("one", 'while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work')
    project.add("one")
    with project.running() as first:
        until(lambda: project.turns("one"))
        for command in (["run"], ["daemon", "start"]):
            error = project.error(*command, code=23)
            assert str(first.pid) in error["message"]
        assert project.ask("daemon", "status") == {"running": True, "pid": first.pid}
        project.flag("go").touch()
        out, _ = first.communicate(timeout=60)
    assert first.returncode == 0, out
    assert len(project.turns("one")) == 1


def test_a_workspace_that_somebody_removed(project: Scripted) -> None:
    project.configure('mode = "none"', 'mode = "none"\nwall = "none"')  # behind it an agent is nobody but itself
    project.does("one", 'work; rm -rf "$NOBRAKES_WORKSPACE"', turn=1)
    project.does("two", "work; env -u NOBRAKES_TOKEN nobrakes hold two; exit 1", turn=1)
    project.add("one", "two")
    project.nobrakes("run", expect=40)
    assert project.status("one") == "done" and project.outcomes("two") == ["failed"]
    shutil.rmtree(project.folder / ".nobrakes" / "workspaces" / "two")
    project.nobrakes("release", "two")
    project.nobrakes("run")
    assert project.outcomes("two") == ["failed", "completed"]
    assert sorted(project.landed().values()) == ["one", "two"]


@pytest.mark.slow
def test_a_workspace_that_is_removed_under_its_agent_counts_for_nothing(project: Scripted) -> None:
    project.configure('mode = "none"', 'mode = "none"\nwall = "none"')
    workspace = project.folder / ".nobrakes" / "workspaces" / "one"
    project.does("one", f'work; cd /; rm -rf "{workspace}"; exit 0', turn=1)
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["workspace_failed", "completed"]
    assert project.show("one")["failures"] == 0 and list(project.landed().values()) == ["one"]


def test_a_main_that_somebody_deleted(project: Scripted) -> None:
    project.add("one")
    commit = project.git("rev-parse", "main").strip()
    project.git("checkout", "-q", "--detach")
    project.git("update-ref", "-d", "refs/heads/main")
    assert "main" in project.error("run", code=27)["message"]
    assert project.status("one") == "needs_doer" and project.show("one")["failures"] == 0
    project.git("branch", "main", commit)
    project.nobrakes("run")
    assert project.status("one") == "done"


def test_a_main_that_is_deleted_while_an_agent_works(project: Scripted) -> None:
    project.does("one", 'while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work')
    project.add("one")
    commit = project.git("rev-parse", "main").strip()
    with project.running() as process:
        until(lambda: project.turns("one"))
        project.git("checkout", "-q", "--detach")
        project.git("update-ref", "-d", "refs/heads/main")
        project.flag("go").touch()
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 27 and "Traceback" not in out, out
    project.git("branch", "main", commit)
    project.nobrakes("run")
    assert project.status("one") == "done" and project.outcomes("one") == ["completed"]


def path_with(project: Scripted, folder: Path, git: str | None) -> dict[str, str]:
    """An environment whose PATH has the usual programs, and as git what is given."""
    folder.mkdir()
    for place in ("/bin", "/usr/bin"):
        for program in os.listdir(place):
            if not program.startswith("git") and not (folder / program).exists():
                (folder / program).symlink_to(Path(place, program))
    if git is not None:
        (folder / "git").write_text(f"#!/bin/sh\n{git}\n")
        (folder / "git").chmod(0o755)
    return {**project.env(), "PATH": str(folder)}


@pytest.mark.parametrize("git", [None, 'echo "git version 2.30.1"'])
@pytest.mark.parametrize("command", ["run", "init"])
def test_a_git_that_is_missing_or_too_old(project: Scripted, tmp_path: Path, git: str | None, command: str) -> None:
    if git is not None:
        git = f'case "$*" in *version*) {git} ;; *) exec {shutil.which("git")} "$@" ;; esac'
    project.add("one")
    env = path_with(project, tmp_path / "bin", git)

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [NOBRAKES, *arguments], cwd=project.folder, env=env, capture_output=True, text=True, timeout=60
        )

    error = sound(run(command), run(command, "--json"), 25)
    assert "2.38" in error["hint"]
    assert project.status("one") == "needs_doer" and project.turns("one") == []


def test_doctor_says_why_main_is_not_known_to_pass(project: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    project.nobrakes("init", "--trial")
    assert "not known to pass" not in project.nobrakes("doctor", expect=None).stdout
    monkeypatch.setenv("LANG", "de_DE.UTF-8" if os.environ.get("LANG") != "de_DE.UTF-8" else "C.UTF-8")
    told = project.nobrakes("doctor", expect=None).stdout
    assert "not known to pass" in told and "another environment" in told


def test_status_counts_the_drafts_that_commit_strategy_counts(project: Scripted) -> None:
    project.nobrakes("add", "An epic", "--id", "e1", "-t", "epic", "--draft")
    project.nobrakes("add", "A bead", "--id", "b1", "--epic", "e1", "--draft")
    said = project.nobrakes("status").stdout
    assert "1 bead: 1 draft" in said and "1 draft and 1 epic need your approval" in said
    assert "1 draft and 1 epic would go live:" in project.nobrakes("commit-strategy", "--dry-run", expect=None).stdout


@pytest.mark.parametrize("where", ["another branch", "a detached HEAD", "a branch from before nobrakes"])
def test_commit_strategy_leaves_a_checkout_without_main_as_it_is(project: Scripted, where: str) -> None:
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Set up")
    project.nobrakes("commit-strategy", "--yes")
    ways = {"another branch": ["-c", "feature"], "a detached HEAD": ["--detach"]}
    project.git("switch", "-q", *ways.get(where, ["--orphan", "feature"]))
    project.git("commit", "-q", "--allow-empty", "-m", "Go on")
    was, status = tracked(project), project.git("status", "--porcelain")
    project.nobrakes("add", "A bead", "--id", "one", "--draft")
    project.nobrakes("commit-strategy", "--yes")
    assert tracked(project) == was and project.git("status", "--porcelain") == status
    assert '"id":"one"' in project.git("show", "main:.nobrakes/beads.jsonl")
    project.git("switch", "-q", "main")
    assert project.git("status", "--porcelain") == ""
    project.nobrakes("add", "Another", "--id", "two", "--draft")
    project.nobrakes("commit-strategy", "--yes")
    assert project.git("status", "--porcelain") == ""
    assert (project.folder / ".nobrakes" / "beads.jsonl").read_text() == project.git(
        "show", "main:.nobrakes/beads.jsonl"
    )


def tracked(project: Scripted) -> dict[str, bytes]:
    """What git could track of .nobrakes in the checkout."""
    return {
        path.name: path.read_bytes()
        for path in (project.folder / ".nobrakes").iterdir()
        if path.name in TRACKED and path.is_file()
    }


def test_commit_strategy_takes_settings_that_were_edited_on_another_branch(project: Scripted) -> None:
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Set up")
    project.nobrakes("commit-strategy", "--yes")
    project.git("switch", "-q", "-c", "feature")
    project.nobrakes("config", "set", "limits.doers", "2")
    project.nobrakes("commit-strategy", "--yes")
    assert project.config.read_text() == project.git("show", "main:.nobrakes/config.toml")
    project.git("commit", "-qam", "Settings of the branch")


def test_commit_strategy_takes_back_no_settings_of_main_from_an_older_branch(project: Scripted) -> None:
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Set up")
    project.nobrakes("commit-strategy", "--yes")
    project.git("branch", "-q", "feature")
    project.nobrakes("config", "set", "limits.doers", "2")
    project.nobrakes("commit-strategy", "--yes")
    newest = project.git("show", "main:.nobrakes/config.toml")
    project.git("switch", "-q", "feature")
    project.nobrakes("add", "A bead", "--id", "one", "--draft")
    assert "not committed" not in project.nobrakes("commit-strategy", "--yes").stdout
    assert project.git("show", "main:.nobrakes/config.toml") == newest
    project.nobrakes("config", "set", "limits.doers", "5")
    assert "main has a different version: .nobrakes/config.toml" in project.nobrakes("commit-strategy", "--yes").stdout
    assert project.git("show", "main:.nobrakes/config.toml") == newest
