"""`nobrakes init` in every kind of repository: nothing else changes, and one bead reaches main, or it is said why not."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import sound
from tests.support.warm import NOBRAKES

AGENT = 'echo "made for $NOBRAKES_BEAD" > made && git add -A && git commit -q -m "Made"'


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def nobrakes(folder: Path, *arguments: str, expect: int = 0) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([NOBRAKES, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == expect, (arguments, done.stdout, done.stderr)
    return done


def ask(folder: Path, *arguments: str) -> Any:
    return json.loads(nobrakes(folder, *arguments, "--json").stdout)["data"]


def repository(folder: Path, main: str = "main") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", main)
    (folder / "readme").write_text("mine\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


def set_up(folder: Path, main: str = "main") -> Path:
    """Run init, see that nothing else changed, and let a script be the agent. The .nobrakes folder."""
    is_bare = git(folder, "rev-parse", "--is-bare-repository").strip() == "true"
    before = "" if is_bare else git(folder, "status", "--porcelain")
    refs = git(folder, "for-each-ref")
    found = ask(folder, "init", "--build", "true")
    assert found["main"] == main
    if not is_bare:
        assert git(folder, "status", "--porcelain") == before + "?? .nobrakes/\n"
    assert git(folder, "for-each-ref") == refs
    home = Path(found["folder"])
    (home / "config.toml").write_text(
        f'main = "{main}"\n[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n'
        f'[agents]\ndoer = "script"\n[agents.script]\ncommand = ["sh", "-c", {json.dumps(AGENT)}]\n'
    )
    return home


def settle(folder: Path, main: str = "main") -> None:
    """One bead, from its plan to main."""
    plan = folder / ".nobrakes" / "plan.json" if (folder / ".nobrakes").exists() else folder.parent / "plan.json"
    plan.write_text('{"beads": [{"id": "one", "title": "One", "needs_tests": false}]}')
    nobrakes(folder, "plan", "apply", str(plan), "--live")
    assert "1 done" in nobrakes(folder, "run").stdout.splitlines()
    assert git(folder, "show", f"{main}:made") == "made for one\n"
    assert "Bead: one" in git(folder, "log", "-1", main)


@pytest.mark.parametrize(
    ("name", "main"), [("plain", "main"), ("old", "master"), ("other", "trunk/next"), ("sp ace 'ü\" 漢 $(x)", "main")]
)
def test_a_repository_with_any_name_and_any_main(tmp_path: Path, name: str, main: str) -> None:
    folder = repository(tmp_path / name, main)
    set_up(folder, main)
    settle(folder, main)
    assert git(folder, "status", "--porcelain") == "?? .nobrakes/\n"
    assert (folder / "made").read_text() == "made for one\n"


def test_from_a_folder_deep_inside(tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository")
    (folder / "a" / "b").mkdir(parents=True)
    assert ask(folder / "a" / "b", "init", "--build", "true")["folder"] == str(folder / ".nobrakes")
    assert ask(folder / "a", "list") == []


def test_a_bare_repository(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    set_up(tmp_path / "bare.git")
    settle(tmp_path / "bare.git")


def test_a_linked_worktree_shares_the_graph_of_the_main_one(tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository")
    git(folder, "worktree", "add", "-q", "-b", "mine", str(tmp_path / "linked"))
    linked = tmp_path / "linked"
    home = Path(ask(linked, "init", "--build", "true")["folder"])
    assert home == folder / ".nobrakes" and not (linked / ".nobrakes").exists()
    set_up_again = ask(folder, "init")
    assert set_up_again["created"] == []
    nobrakes(linked, "add", "Seen from both", "--id", "both", "--no-tests")
    assert [bead["id"] for bead in ask(folder, "list")] == ["both"]
    (home / "config.toml").write_text(
        'main = "main"\n[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n'
        f'[agents]\ndoer = "script"\n[agents.script]\ncommand = ["sh", "-c", {json.dumps(AGENT)}]\n'
    )
    assert "1 done" in nobrakes(linked, "run").stdout.splitlines()
    assert git(folder, "show", "main:made") == "made for both\n" and not (linked / "made").exists()
    assert git(linked, "status", "--porcelain") == ""


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    repository(tmp_path / "library")
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(outer, "commit", "-q", "-m", "With a library")
    home = set_up(outer / "lib")
    assert home == outer / "lib" / ".nobrakes"
    nobrakes(outer, "list", expect=11)
    settle(outer / "lib")


def test_a_repository_without_a_commit_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    set_up(folder)
    nobrakes(folder, "add", "One", "--id", "one", "--no-tests")
    error = sound(nobrakes(folder, "run", expect=27), nobrakes(folder, "run", "--json", expect=27), 27)
    assert "first commit" in error["hint"]
    assert ask(folder, "show", "one")["status"] == "needs_doer"
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    assert "1 done" in nobrakes(folder, "run").stdout.splitlines()


def test_a_dirty_repository_keeps_its_edits(tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository")
    (folder / "readme").write_text("edited\n")
    (folder / "staged").write_text("staged\n")
    git(folder, "add", "staged")
    (folder / "untracked").write_text("untracked\n")
    before = git(folder, "status", "--porcelain")
    found = nobrakes(folder, "init", "--build", "true")
    assert "uncommitted" in found.stdout
    assert sorted(git(folder, "status", "--porcelain").splitlines()) == sorted([*before.splitlines(), "?? .nobrakes/"])
    (folder / ".nobrakes" / "config.toml").write_text(
        '[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n'
        f'[agents]\ndoer = "script"\n[agents.script]\ncommand = ["sh", "-c", {json.dumps(AGENT)}]\n'
    )
    settle(folder)
    assert (folder / "readme").read_text() == "edited\n" and (folder / "untracked").read_text() == "untracked\n"
    assert sorted(git(folder, "status", "--porcelain").splitlines()) == sorted([*before.splitlines(), "?? .nobrakes/"])


def test_a_second_init_is_harmless(tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository")
    home = set_up(folder)
    nobrakes(folder, "add", "One", "--id", "one")
    config = (home / "config.toml").read_bytes()
    again = ask(folder, "init", "--main", "other")
    assert again["created"] == [] and (home / "config.toml").read_bytes() == config
    assert any("main is still 'main'" in warning for warning in again["warnings"])
    config += b'\n[[checks]]\nname = "test"\ncommand = "false"\n'
    for _ in range(2):
        again = ask(folder, "init", "--main", "other", "--test", "false")
        assert again["created"] == [] and (home / "config.toml").read_bytes() == config, "it adds a check, once"
    assert [bead["id"] for bead in ask(folder, "list")] == ["one"]


def test_a_config_that_is_broken_is_not_mended_by_init(tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository")
    home = set_up(folder)
    (home / "config.toml").write_text("main = \n")
    error = sound(nobrakes(folder, "init", expect=12), nobrakes(folder, "init", "--json", expect=12), 12)
    assert "config.toml" in error["message"] and (home / "config.toml").read_text() == "main = \n"


@pytest.mark.parametrize("command", ["init", "list", "run", "status", "plan example"])
def test_a_folder_that_is_no_repository(tmp_path: Path, command: str) -> None:
    if command == "plan example":  # needs no repository
        assert "beads" in nobrakes(tmp_path, "plan", "example").stdout
        return
    error = sound(nobrakes(tmp_path, command, expect=10), nobrakes(tmp_path, command, "--json", expect=10), 10)
    assert "git init" in error["hint"] and os.listdir(tmp_path) == []


def test_a_repository_without_nobrakes(tmp_path: Path) -> None:
    folder = repository(tmp_path / "repository")
    error = sound(nobrakes(folder, "list", expect=11), nobrakes(folder, "list", "--json", expect=11), 11)
    assert "nobrakes init" in error["hint"]
    assert not (folder / ".nobrakes").exists()
