"""A repository is moved away while its daemon works, and a copy takes its place: nothing lands in the copy."""

import shutil
import subprocess
from pathlib import Path

import pytest

from nobrakes.errors import RepositoryReplaced
from tests.support.project import Project
from tests.support.scripted import Scripted
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


def test_what_fails_in_the_copy_is_written_down_nowhere(tmp_path: Path) -> None:
    """Put back, the first goes on as if nothing had happened."""
    made = Scripted(tmp_path, more='wall = "none"\n')
    root, away, copy = made.folder, tmp_path / "away", tmp_path / "copy"
    made.add("one")
    swap = f"COPY={copy}; cp -a {root} $COPY; rm -rf $COPY/.nobrakes/workspaces; mv {root} {away}; mv $COPY {root}"
    made.does("one", f"work; {swap}", turn=1)
    done = made.nobrakes("run", expect=None)
    assert done.returncode == RepositoryReplaced.code, done.stdout + done.stderr
    shutil.rmtree(root)
    away.rename(root)
    shown = made.show("one")
    assert (shown["status"], shown["failures"], [one["outcome"] for one in shown["attempts"]]) == ("doing", 0, [None])
    made.nobrakes("run")
    assert (made.show("one")["failures"], made.status("one")) == (0, "done")
