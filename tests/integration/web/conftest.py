"""One site for the tests of a module: a repository in a place of its own, and a browser that is logged in."""

import subprocess
from collections.abc import Iterator

import pytest

from nobrakes.cli import main
from tests.support.web import Served, serving


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with nobrakes and two beads, as the current folder."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("USER", "ada")
    assert main.run(["init", "--build", "true"]) == 0
    assert main.run(["add", "Parse the header", "--id", "nb-1"]) == 0
    assert main.run(["add", "<img src=x onerror=alert(1)>", "--id", "nb-2", "--needs", "nb-1"]) == 0
    return folder


@pytest.fixture
def site(repository) -> Iterator[Served]:
    """The pages of it, to somebody who is logged in."""
    with serving() as served:
        yield served.log_in()
