"""A store in memory on a clock that the test moves, and repositories made on the spot."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nobrakes.store import Store, open_memory
from tests.support.hand_clock import Hand


class Now:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        self.seconds += 1.0
        return self.seconds


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def store(now: Now) -> Iterator[Store]:
    opened = open_memory(now)
    yield opened
    opened.close()


Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """`git(folder, *arguments)` as a person with no settings of their own."""
    home = tmp_path / "home"
    home.mkdir()
    for name, value in {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Person",
        "GIT_AUTHOR_EMAIL": "person@example.com",
        "GIT_COMMITTER_NAME": "Person",
        "GIT_COMMITTER_EMAIL": "person@example.com",
    }.items():
        monkeypatch.setenv(name, value)

    def run(folder: Path, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """A repository with one commit on main."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("a project\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def clock() -> Hand:
    return Hand()
