"""A repository that an earlier version worked in, killed in the middle of an attempt, is opened by this one and goes on.

tests/support/repository_of_before holds what was there, as text: all refs (history.fast-export), the database, the settings
and what lay beside the tracked snapshot. Two beads were merged, the third one's Doer was at work, `nobrakes set doers=1` was
in force, and a draft waited.
"""

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.project import Project

STORED = Path(__file__).parents[1] / "support" / "repository_of_before"
MERGED_BEFORE = ("alpha", "beta")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = object.__new__(Project)  # nothing is set up: it was, by another version
    made.folder = tmp_path / "repository"
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    made.git("config", "user.name", "You")
    made.git("config", "user.email", "you@example.invalid")
    with open(STORED / "history.fast-export", "rb") as history:
        subprocess.run(["git", "fast-import", "--quiet"], cwd=made.folder, stdin=history, check=True)
    made.git("checkout", "-q", "-f", "main")
    folder = made.folder / ".nobrakes"
    folder.mkdir(mode=0o700)
    for name in ("config.toml", "beads.since.jsonl"):
        (folder / name).write_bytes((STORED / name).read_bytes())
    (folder / ".gitignore").write_text("*\n")
    with sqlite3.connect(folder / "nobrakes.db") as database:
        database.executescript((STORED / "database.sql").read_text())
    database.close()
    os.chmod(folder / "nobrakes.db", 0o600)
    return made


def test_what_was_there_is_shown_and_agrees(project: Project) -> None:
    status = {bead["id"]: bead["status"] for bead in project.ask("list")}
    assert [status[bead] for bead in ("alpha", "beta", "gamma", "delta")] == ["done", "done", "doing", "needs_doer"]
    assert project.ask("set")["limits"]["doers"] == 1, "what a person changed is in force"
    assert "all of it agrees" in project.nobrakes("verify").stdout
    project.nobrakes("config", "--check")
    attempts = project.ask("history", "alpha")["attempts"]
    assert [one["outcome"] for one in attempts] == ["completed", "completed"]


def test_the_attempt_that_was_cut_off_is_over_and_the_graph_gets_done(project: Project) -> None:
    before = project.git("rev-parse", "main").strip()
    evidence = project.git("rev-parse", "refs/nobrakes/evidence").strip()
    project.nobrakes("run", "--red-main")
    status = {bead["id"]: bead["status"] for bead in project.ask("list")}
    draft = next(id_ for id_ in status if id_.startswith("nb-"))
    assert status.pop(draft) == "draft" and set(status.values()) == {"done"}
    assert sorted(project.landed().values()) == sorted((*MERGED_BEFORE, "gamma", "delta", "asked"))
    project.git("merge-base", "--is-ancestor", before, "main")
    project.git("merge-base", "--is-ancestor", evidence, "refs/nobrakes/evidence")
    first, *others = project.ask("history", "gamma")["attempts"]
    assert first["outcome"] == "lost" and others[-1]["outcome"] == "completed"
    assert "all of it agrees" in project.nobrakes("verify").stdout
    project.nobrakes("doctor")


def test_where_only_git_and_the_snapshot_came_along_the_merges_are_known(project: Project) -> None:
    (project.folder / ".nobrakes" / "nobrakes.db").unlink()
    status = {bead["id"]: bead["status"] for bead in project.ask("list")}
    assert {bead for bead, one in status.items() if one == "done"} == set(MERGED_BEFORE)
    assert warm.nobrakes(["verify"], project.folder, project.env()).returncode == 0
