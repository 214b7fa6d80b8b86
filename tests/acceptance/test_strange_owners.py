"""A repository of another account is refused as git refuses it, before anything in it is run; what is kept is private."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support.scripted import Scripted
from tests.support.warm import NOBRAKES

STRANGER = 64321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another account")


def env(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "NOBRAKES_", "SUDO_"))}
    return {**kept, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **more}


def run(at: Path, home: Path, *argv: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, cwd=at, env=env(home, **more), capture_output=True, text=True, timeout=120, check=False)


def given_away(top: Path, to: int = STRANGER) -> None:
    for folder, _, files in os.walk(top):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(path, to, to, follow_symlinks=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def trap(at: Path, home: Path) -> Path:
    """A repository whose configuration runs a program; the file that the program writes."""
    ran = home.parent / "ran"
    at.mkdir(parents=True, exist_ok=True)
    run(at, home, "git", "init", "-q", "-b", "main")
    (at / "f").write_text("x\n")
    (at / ".gitattributes").write_text("* filter=x\n")
    run(at, home, "git", "add", "-A")
    run(at, home, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a")
    run(at, home, "git", "config", "filter.x.clean", f"id -u >>{ran}; cat")
    run(at, home, "git", "config", "core.fsmonitor", f"id -u >>{ran}; false")
    os.utime(at / "f", (2_000_000_000, 2_000_000_000))
    return ran


def layouts(tmp_path: Path, home: Path) -> dict[str, Path]:
    """Folders from which a stranger's repository is reached."""
    plain, bare, tree, module = (tmp_path / name for name in ("plain", "bare.git", "tree", "module"))
    trap(plain, home)
    run(tmp_path, home, "git", "clone", "-q", "--bare", "plain", "bare.git")
    run(plain, home, "git", "worktree", "add", "-q", "-b", "side", str(tree))
    run(tmp_path, home, "git", "clone", "-q", "--separate-git-dir", "module.git", "plain", "module")
    (plain / "deep" / "down").mkdir(parents=True)
    (tmp_path / "ran").unlink(missing_ok=True)
    for top in (plain, bare, tmp_path / "module.git"):
        given_away(top)  # of the tree and the module the work trees stay ours
    return {"plain": plain, "below": plain / "deep" / "down", "bare": bare, "tree": tree, "module": module}


@needs_root
@pytest.mark.parametrize("layout", ["plain", "below", "bare", "tree", "module"])
def test_a_strangers_repository_is_refused_and_nothing_of_it_is_run(tmp_path: Path, home: Path, layout: str) -> None:
    at = layouts(tmp_path, home)[layout]
    for command in (
        ["init", "--test", "true"],
        ["status"],
        ["ready"],
        ["show", "x"],
        ["doctor"],
        ["list"],
        ["run"],
        [],
    ):
        done = run(at, home, NOBRAKES, *command)
        assert done.returncode == 53, (command, done.stdout, done.stderr)
        assert "git config --global --add safe.directory /" in done.stderr
        told = json.loads(run(at, home, NOBRAKES, *command, "--json").stdout)["error"]
        assert told["name"] == "ForeignRepository" and told["code"] == 53
    assert not (tmp_path / "ran").exists() and not list(tmp_path.rglob(".nobrakes"))
    assert run(at, home, NOBRAKES, "--help").returncode == 0


@needs_root
def test_who_trusts_it_as_git_is_told_gets_in(tmp_path: Path, home: Path) -> None:
    at = tmp_path / "repository"
    trap(at, home)
    given_away(at)
    for setting in (str(at), "*", f"{tmp_path}/*"):
        (home / ".gitconfig").write_text(f'[safe]\n\tdirectory = "{setting}"\n')
        trusted = run(at, home, "git", "rev-parse").returncode == 0
        assert run(at, home, NOBRAKES, "init", "--test", "true").returncode == (0 if trusted else 53), setting
    run(at, home, "git", "config", "safe.directory", "*")  # the repository's own word does not count
    (home / ".gitconfig").unlink()
    assert run(at, home, NOBRAKES, "status").returncode == 53


@needs_root
def test_under_sudo_the_callers_repository_is_trusted(tmp_path: Path, home: Path) -> None:
    at = tmp_path / "repository"
    trap(at, home)
    given_away(at)
    assert run(at, home, NOBRAKES, "init", "--test", "true", SUDO_UID=str(STRANGER)).returncode == 0
    assert run(at, home, NOBRAKES, "status", SUDO_UID=str(STRANGER + 1)).returncode == 53


@needs_root
@pytest.mark.parametrize("part", ["", "config.toml"])
def test_a_strangers_settings_in_our_own_repository_are_refused(tmp_path: Path, part: str) -> None:
    project = Scripted(tmp_path)
    os.chown(project.folder / ".nobrakes" / part, STRANGER, STRANGER)
    done = project.nobrakes("status", expect=53)
    assert ".nobrakes" in done.stderr and "chown" in done.stderr
    os.chown(project.folder / ".nobrakes" / part, os.geteuid(), os.getegid())
    project.nobrakes("status")


TRACKED = {".gitattributes", ".gitignore", "config.toml", "beads.jsonl", "roles", "skills"}


def open_paths(project: Scripted, depth: int) -> list[str]:
    top = project.folder / ".nobrakes"
    found = []
    for path in [top, *top.rglob("*")]:
        inside = path.relative_to(top).parts
        if len(inside) > depth or (inside and inside[0] in TRACKED) or path.is_symlink():
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        found += [f"{path}: {mode:04o}"] if mode & 0o077 else []
    return found


def test_what_is_kept_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        project = Scripted(tmp_path)
        assert not open_paths(project, 9)
        project.add("one")
        project.nobrakes("run")
        assert not open_paths(project, 2)
    finally:
        os.umask(before)
    checkout = project.folder / "src" / "one"
    assert stat.S_IMODE(checkout.lstat().st_mode) & 0o044, "files of the checkout are as the person's umask has them"


def test_what_was_open_is_closed_and_doctor_tells(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.add("one")
    state = project.folder / ".nobrakes"
    for path in [state, *state.iterdir()]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    texts = {one["name"]: one["text"] for one in project.ask("doctor")}
    assert "0700" in texts["private"] and "every account can write" in texts["owner"]
    assert not open_paths(project, 1)
    assert stat.S_IMODE((state / "config.toml").lstat().st_mode) == 0o666, "what git tracks is git's business"
