"""A repository is moved away while its daemon works, and a copy takes its place: nothing lands in the copy."""

import subprocess
from pathlib import Path

import pytest

from nobrakes.errors import RepositoryReplaced
from tests.support.project import Project
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow


def test_the_daemon_ends_and_touches_neither(tmp_path: Path) -> None:
    root, away = tmp_path / "shop", tmp_path / "away"
    moves = f"echo made >made; git add -A; git commit -qm work; mv {root} {away}; cp -a {away} {root}"
    root.mkdir()
    (root / "first").write_text("first\n")
    project = Project(root, ["sh", "-c", f"{moves}; echo 'NOBRAKES: COMPLETED'"], more='wall = "none"\n')
    project.plan([{"id": "one", "title": "One", "needs_tests": False}])
    before = project.git("rev-parse", "main")
    done = subprocess.run(
        [NOBRAKES, "run"], cwd=root, env=project.env(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == RepositoryReplaced.code, done.stdout + done.stderr
    assert "is another one than when this daemon began" in done.stderr
    for place in (root, away):
        main = subprocess.run(["git", "rev-parse", "main"], cwd=place, capture_output=True, text=True, check=True)
        assert main.stdout.strip() == before.strip(), place
