"""What nobrakes starts and imports unconfined is never taken from the repository, where an agent's work may have put it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.host.port import Command, Step
from nobrakes.host.runs import wrapper
from nobrakes.programs import program
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


def said(repository: Repository, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).parent / "nobrakes"), *words]
    return subprocess.run(
        command, cwd=repository.folder, env=repository.env, capture_output=True, text=True, check=False
    )


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


def test_python_m_nobrakes_imports_nothing_from_the_top_of_the_repository(repository: Repository) -> None:
    for name in MODULES:
        if name != "nobrakes":
            (repository.folder / f"{name}.py").write_text(f"open({str(repository.go.parent / name)!r}, 'w')\n")
    commit(repository)
    repository.add("one")
    repository.ok("run")
    assert (repository.folder / "file-one.txt").exists()
    assert list(repository.go.parent.iterdir()) == []


def on_path(repository: Repository) -> str:
    return str(repository.folder / "src")


def not_yet_there(repository: Repository) -> str:
    shutil.rmtree(repository.folder / "src")
    return str(repository.folder / "src")


def through_a_link(repository: Repository) -> str:
    link = repository.go.parent.parent / "link"
    link.symlink_to(repository.folder / "src")
    return str(link)


def through_a_link_of_the_tree(repository: Repository) -> str:
    (repository.go.parent.parent / "elsewhere").mkdir()
    (repository.folder / "vendor").symlink_to(repository.go.parent.parent / "elsewhere")
    commit(repository)
    return str(repository.folder / "vendor")


def by_a_link_beside_packages(repository: Repository) -> str:
    packages = repository.go.parent.parent / "packages"
    packages.mkdir()
    (packages / "plugin").symlink_to(repository.folder / "src" / "plugin")
    return str(packages)


def in_a_worktree(repository: Repository) -> str:
    tree = repository.go.parent.parent / "tree"
    subprocess.run(["git", "worktree", "add", "-q", tree, "-b", "side"], cwd=repository.folder, check=True)
    return str(tree / "src")


def in_an_agents_clone(repository: Repository) -> str:
    return str(repository.folder / ".nobrakes" / "workspaces" / "one")


def by_an_editable_installation(repository: Repository) -> str:
    packages = repository.go.parent.parent / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text("import __editable___plugin_1_finder\n")
    (packages / "__editable___plugin_1_finder.py").write_text(
        f"MAPPING = {{'plugin': {str(repository.folder / 'src' / 'plugin')!r}}}\n"
    )
    return str(packages)


@pytest.mark.parametrize(
    "place",
    [
        *(on_path, not_yet_there, through_a_link, through_a_link_of_the_tree, by_a_link_beside_packages),
        *(in_a_worktree, in_an_agents_clone, by_an_editable_installation),
    ],
)
def test_no_agent_starts_while_nobrakes_imports_tracked_files(
    repository: Repository, place: Callable[[Repository], str]
) -> None:
    repository.add("one")
    (repository.folder / "src" / "plugin").mkdir(parents=True)
    (repository.folder / "src" / "plugin" / "__init__.py").touch()
    commit(repository)
    repository.env["PYTHONPATH"] = place(repository)
    for words in (("run",), ("daemon", "start"), ("daemon", "run")):
        refused = said(repository, *words)
        assert refused.returncode == 62, (words, refused)
        assert "nobrakes runs code from this repository" in refused.stderr and "PYTHONPATH" in refused.stderr
    for words in (("status",), ("doctor",), ()):
        shown = said(repository, *words)
        assert "no agent starts: nobrakes runs code from this repository" in shown.stdout, (words, shown)
    assert not (repository.folder / "file-one.txt").exists()
    del repository.env["PYTHONPATH"]
    typed(repository, "run")
    assert (repository.folder / "file-one.txt").exists()


def test_nobrakes_itself_in_the_repository_names_how_to_install_a_copy(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    repository = Repository(tmp_path / "repository")
    repository.add("one")
    shutil.copytree(root / "nobrakes", repository.folder / "nobrakes", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("NAMES.json", "hooks", "config"):
        if (root / name).is_dir():
            shutil.copytree(root / name, repository.folder / name)
        elif (root / name).exists():
            shutil.copy(root / name, repository.folder / name)
    commit(repository)
    repository.env["PYTHONPATH"] = str(repository.folder)
    refused = said(repository, "run")
    assert refused.returncode == 62 and f"pipx install {repository.folder}" in refused.stderr, refused


def test_an_untracked_environment_in_the_repository_is_accepted_and_kept_from_agents(repository: Repository) -> None:
    packages = repository.folder / "environment" / "packages"
    packages.mkdir(parents=True)
    (packages / "one.py").touch()
    (repository.folder / ".gitignore").write_text("environment\n")
    commit(repository)
    repository.env["PYTHONPATH"] = str(packages)
    repository.add("one")
    typed(repository, "run")
    assert (repository.folder / "file-one.txt").exists()
    agent = (repository.folder.parent / "agent.sh").read_text()
    planted = "mkdir -p environment/packages; echo 1 >environment/packages/two.py; git add -f environment; git add -A"
    (repository.folder.parent / "agent.sh").write_text(agent.replace("git add -A", planted))
    repository.add("two")
    typed(repository, "run", check=False)
    assert not (packages / "two.py").exists()
    [asked] = repository.data("escalations")
    assert "environment/packages/two.py" in repository.ok("escalation", str(asked["id"]))


def test_nothing_on_path_is_taken_from_the_repository(repository: Repository) -> None:
    """A relative folder on PATH, `bin/` of direnv, a linked worktree, a link from elsewhere, and folders of links to
    programs, as GNU stow lays them, also by a link of the tree that leads out again: each leads into the tree."""
    elsewhere = repository.go.parent.parent / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "link").symlink_to(repository.folder / "bin")
    repository.add("one")
    folder = repository.folder / "bin"
    folder.mkdir()
    marks = repository.go.parent.parent / "marks"
    marks.mkdir(mode=0o777)
    stowed, through, outside = (elsewhere / one for one in ("stowed", "through", "outside"))
    via = repository.folder / "via"
    for one in (stowed, through, outside, via):
        one.mkdir()
    for name in PROGRAMS:
        (stowed / name).symlink_to(folder / name)
        (through / name).symlink_to(via / name)
        (via / name).symlink_to(outside / name)
        real = shutil.which(name) or "/bin/true"
        # an agent and its check look on the PATH that the person gave, inside; they carry the marks of a run
        mark = f'[ -n "$NOBRAKES_TOKEN$NOBRAKES_RUN" ] || {{ tr "\0" " " </proc/$PPID/cmdline; echo "$@"; pwd; }} >"{marks}/{name}"'
        (folder / name).write_text(f'#!/bin/sh\n{mark}\nexec {real} "$@"\n')
        (folder / name).chmod(0o755)
        shutil.copy2(folder / name, outside / name)
    commit(repository)
    tree = repository.go.parent.parent / "tree"
    subprocess.run(["git", "worktree", "add", "-q", tree, "-b", "side"], cwd=repository.folder, check=True)
    front = [".", "", "bin", str(folder), str(tree / "bin"), str(elsewhere / "link"), str(stowed), str(through)]
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


def test_our_own_programs_before_an_agent_find_their_programs_outside_of_its_clone(tmp_path: Path) -> None:
    marks, clone, root = tmp_path / "marks", tmp_path / "r" / ".nobrakes" / "workspaces" / "one", tmp_path / "r"
    marks.mkdir()
    (clone / "bin").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    (clone / "bin" / "cp").write_text(f"#!/bin/sh\n: >{marks}/cp\n")
    (clone / "bin" / "cp").chmod(0o755)
    copies = ("sh", "-c", 'cd "$1" && cp a b || true', "sh", str(clone))
    for word, script in {"ours": program("recorder", "1000", "--", *copies), "other": copies}.items():
        run = root / ".nobrakes" / "runs" / word
        run.mkdir(parents=True)
        path = f"bin:{clone / 'bin'}:{os.environ['PATH']}"
        command = Command(str(run), str(clone), {"PATH": path}, (Step("x", ("true",)),), prologue=(script,))
        subprocess.run(wrapper.arguments(command, str(tmp_path / "wake"), 0o022), env={"PATH": path}, check=True)
        assert (marks / "cp").exists() == (word == "other"), "a program of ours; and the proof that it can fail"
