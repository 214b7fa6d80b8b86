"""What nobrakes starts and imports unconfined is never taken from the repository, where an agent's work may have put it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.test_cli_run import Repository, until

MODULES = ("typer", "pydantic", "networkx", "git", "watchdog", "nobrakes", "sqlmodel", "json", "sqlite3")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def commit(repository: Repository) -> None:
    subprocess.run(["git", "add", "-A"], cwd=repository.folder, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "Work"], cwd=repository.folder, check=True)


def typed(repository: Repository, *words: str) -> None:
    """The installed command, as a person types it."""
    command = [str(Path(sys.executable).parent / "nobrakes"), *words]
    subprocess.run(command, cwd=repository.folder, env=repository.env, check=True)


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
