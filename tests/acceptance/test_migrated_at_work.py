"""A database of an earlier version is opened while an agent of it is at work: the agent goes on, and its work lands."""

import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from nobrakes.db.fast import VERSION
from tests.support.scripted import Scripted, until
from tests.support.version_3 import bring_back
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    connection.close()
    return found


def test_an_agent_at_work_goes_on_when_its_database_is_migrated(tmp_path: Path) -> None:
    project = Scripted(tmp_path / "project")
    (project.book / "a.1").write_text(f"while [ ! -e {project.book}/go ]; do sleep 0.05; done; work")
    project.plan([{"id": "a", "title": "A", "needs_tests": False}, {"id": "b", "title": "B", "needs_tests": False}])
    process = subprocess.Popen([NOBRAKES, "run", "--red-main"], cwd=project.folder, stdout=subprocess.DEVNULL)
    until(lambda: (project.book / "a.turns").exists() and len(project.landed()) == 1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    database = project.folder / ".nobrakes" / "nobrakes.db"
    bring_back(str(database))
    assert version(database) == 3
    (project.book / "go").write_text("")
    project.nobrakes("run")
    assert version(database) == VERSION
    assert sorted(project.landed().values()) == ["a", "b"]
    assert (project.book / "a.turns").read_text().count("\n") == 1, "it was started once"
    project.nobrakes("doctor")
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")
