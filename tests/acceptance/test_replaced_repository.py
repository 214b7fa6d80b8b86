"""A repository is moved away while its daemon works, and a copy takes its place: nothing lands in the copy."""

import shutil
import subprocess
import sys
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
    assert "is not the folder in which this daemon started" in done.stderr
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


SWAPS = """
import importlib, os, shutil, sys
from nobrakes.cli.entry import main
where, name, root, away, copy, after = sys.argv[1:7]
module = importlib.import_module(where)
real = getattr(module, name)

def swapped(*given, **named):
    if os.path.lexists(after) and not os.path.lexists(away):
        shutil.copytree(root, copy, symlinks=True)
        os.rename(root, away)
        os.rename(copy, root)
    return real(*given, **named)

setattr(module, name, swapped)
sys.argv = ["nobrakes", "run"]
sys.exit(main())
"""
"""A daemon whose repository is swapped just before its first call of a function, once a file is there."""


def moments() -> list[tuple[str, str, str, list[str | None]]]:
    """The last function before each act, and how the attempts stand then."""
    return [
        ("an agent starts", "nobrakes.agents.worker.process", "command", [None]),
        ("a check starts", "nobrakes.checks.worker.steps", "as_steps", ["completed", None]),
        ("main moves", "nobrakes.git.objects", "swap", ["completed", None]),
    ]


@pytest.mark.parametrize(("where", "name", "outcomes"), [pytest.param(*row[1:], id=row[0]) for row in moments()])
def test_a_swap_in_the_last_moment_is_seen(tmp_path: Path, where: str, name: str, outcomes: list[str | None]) -> None:
    """Between the plan of a run and its start, and just before main moves."""
    made = Scripted(tmp_path, more='wall = "none"\n')
    root, away, copy = made.folder, tmp_path / "away", tmp_path / "copy"
    made.add("one")
    before = made.git("rev-parse", "main")
    after = made.book / "one.turns" if len(outcomes) > 1 else root
    argv = [sys.executable, "-P", "-c", SWAPS, where, name, *map(str, (root, away, copy, after))]
    done = subprocess.run(argv, cwd=root, env=made.env(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == RepositoryReplaced.code, done.stdout + done.stderr
    assert len(made.turns("one")) == len(outcomes) - 1
    for place in (root, away):
        main = subprocess.run(["git", "rev-parse", "main"], cwd=place, capture_output=True, text=True, check=True)
        assert main.stdout.strip() == before.strip(), place
    started = {path.parent.name for path in root.glob(".nobrakes/runs/*/*")}
    assert started == {path.parent.name for path in away.glob(".nobrakes/runs/*/*")}, "a run began in the copy"
    shutil.rmtree(root)
    away.rename(root)
    shown = made.show("one")
    assert (shown["failures"], [one["outcome"] for one in shown["attempts"]]) == (0, outcomes)
    made.nobrakes("run")
    assert (made.show("one")["failures"], made.status("one")) == (0, "done")
