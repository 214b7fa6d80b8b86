"""What nobrakes starts and imports unconfined is never taken from the repository, where an agent's work may have put it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.host.port import Command, Step
from nobrakes.host.runs import wrapper
from tests.acceptance.test_cli_run import Repository, until

PROGRAMS = ("git", "sh", "env", "ps", "bwrap", "cp", "mv", "rm", "mkdir", "chmod", "find", "printf", "notify-send")
MODULES = ("typer", "pydantic", "networkx", "git", "watchdog", "nobrakes", "sqlmodel", "json", "sqlite3")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def commit(repository: Repository) -> None:
    subprocess.run(["git", "add", "-A"], cwd=repository.folder, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "Work"], cwd=repository.folder, check=True)


def typed(repository: Repository, *words: str, check: bool = True) -> None:
    """The installed command, as a person types it."""
    command = [str(Path(sys.executable).parent / "nobrakes"), *words]
    subprocess.run(command, cwd=repository.folder, env=repository.env, check=check)


def test_the_daemon_imports_nothing_from_the_top_of_the_repository(repository: Repository) -> None:
    repository.add("one")
    for name in MODULES:
        (repository.folder / f"{name}.py").write_text(
            f"open({str(repository.go.parent / name)!r}, 'w')\nraise SystemExit\n"
        )
    commit(repository)
    typed(repository, "daemon", "start")
    try:
        until(lambda: (repository.folder / "file-one.txt").exists())
    finally:
        typed(repository, "daemon", "stop")
    assert list(repository.go.parent.iterdir()) == []


def test_nothing_on_path_is_taken_from_the_repository(repository: Repository) -> None:
    """A relative folder on PATH, `bin/` of direnv, a linked worktree, a link from elsewhere, and a folder of links to
    programs, as GNU stow lays them: each leads into the tree."""
    elsewhere = repository.go.parent.parent / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "link").symlink_to(repository.folder / "bin")
    repository.add("one")
    folder = repository.folder / "bin"
    folder.mkdir()
    marks = repository.go.parent.parent / "marks"
    marks.mkdir(mode=0o777)
    stowed = elsewhere / "stowed"
    stowed.mkdir()
    for name in PROGRAMS:
        (stowed / name).symlink_to(folder / name)
        real = shutil.which(name) or "/bin/true"
        # an agent and its check look on the PATH that the person gave, inside; they carry the marks of a run
        mark = f'[ -n "$NOBRAKES_TOKEN$NOBRAKES_RUN" ] || {{ tr "\0" " " </proc/$PPID/cmdline; echo "$@"; pwd; }} >"{marks}/{name}"'
        (folder / name).write_text(f'#!/bin/sh\n{mark}\nexec {real} "$@"\n')
        (folder / name).chmod(0o755)
    commit(repository)
    tree = repository.go.parent.parent / "tree"
    subprocess.run(["git", "worktree", "add", "-q", tree, "-b", "side"], cwd=repository.folder, check=True)
    front = [".", "", "bin", str(folder), str(tree / "bin"), str(elsewhere / "link"), str(stowed)]
    repository.env["PATH"] = ":".join([*front, repository.env["PATH"]])
    typed(repository, "run")
    assert (repository.folder / "file-one.txt").exists()
    typed(repository, "doctor", check=False)
    assert list(marks.iterdir()) == []


def test_doctor_starts_no_agent_that_lies_in_the_repository(repository: Repository) -> None:
    marks = repository.go.parent.parent / "marks"
    marks.mkdir()
    for name in ("claude", "codex", "gemini"):
        path = repository.folder / "tools" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n: >{marks}/{name}\necho 2.1.329\n")
        path.chmod(0o755)
    config = repository.folder / ".nobrakes" / "config.toml"
    own = config.read_text().replace('"script"', '["claude", "codex", "gemini"]')
    lines = "".join(f'[agents.{name}]\nexecutable = "tools/{name}"\n' for name in ("claude", "codex", "gemini"))
    config.write_text(own + lines)
    for words in (("doctor",), ("doctor", "--agents"), ("status",)):
        typed(repository, *words, check=False)
    assert list(marks.iterdir()) == []


def test_our_own_scripts_before_an_agent_find_their_programs_outside_of_its_clone(tmp_path: Path) -> None:
    marks, clone, root = tmp_path / "marks", tmp_path / "r" / ".nobrakes" / "workspaces" / "one", tmp_path / "r"
    marks.mkdir()
    (clone / "bin").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    (clone / "bin" / "cp").write_text(f"#!/bin/sh\n: >{marks}/cp\n")
    (clone / "bin" / "cp").chmod(0o755)
    for word in ("sh -c nobrakes", "sh -c other"):
        run = root / ".nobrakes" / "runs" / word.split()[-1]
        run.mkdir(parents=True)
        script = ("sh", "-c", 'cd "$1" && cp a b || true', word.split()[-1], str(clone))
        path = f"bin:{clone / 'bin'}:{os.environ['PATH']}"
        command = Command(str(run), str(clone), {"PATH": path}, (Step("x", ("true",)),), prologue=(script,))
        subprocess.run(wrapper.arguments(command, str(tmp_path / "wake"), 0o022), env={"PATH": path}, check=True)
        assert (marks / "cp").exists() == (word.endswith("other")), "a script of ours; and the proof that it can fail"
