"""A repository that an earlier version worked in, killed at work, is opened by this one and goes on.

tests/support/repository_of_before has a folder for each commit that wrote one, with what was there, as text: all refs
(history.fast-export), the database, the settings and what lay beside the tracked snapshot. Three beads and their epic were
merged; a Doer, a Test Writer and a review were at work, and `nobrakes set doers=2` was in force. Other beads were ready,
held, deferred, cancelled, done by hand, a draft, behind another one, and escalated: one asked, one failed too often. The
later two have a feature whose Shaper asked.
"""

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.project import Project

STORED = Path(__file__).parents[1] / "support" / "repository_of_before"
NEWEST, OLDER = "d4f5c584", ("391b98c", "6e6c79b0")
MERGED_BEFORE = ("alpha", "beta", "tested")
WAITING = ("after", "next", "holds", "later", "waits")
STATUS = {
    **dict.fromkeys((*MERGED_BEFORE, "lib", "byhand"), "done"),
    **dict.fromkeys(WAITING, "needs_doer"),
    **dict.fromkeys(("asks", "fails"), "escalated"),
    "slow": "doing",
    "slowtests": "writing_tests",
    "reviewed": "reviewing",
    "gone": "cancelled",
    "idea": "draft",
}


@pytest.fixture(params=[NEWEST, *(pytest.param(one, marks=pytest.mark.ci) for one in OLDER)])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    stored = STORED / request.param
    made = object.__new__(Project)  # nothing is set up: it was, by another version
    made.folder = tmp_path / "repository"
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    made.git("config", "user.name", "You")
    made.git("config", "user.email", "you@example.invalid")
    with open(stored / "history.fast-export", "rb") as history:
        subprocess.run(["git", "fast-import", "--quiet"], cwd=made.folder, stdin=history, check=True)
    made.git("checkout", "-q", "-f", "main")
    folder = made.folder / ".nobrakes"
    folder.mkdir(mode=0o700)
    for name in ("config.toml", "beads.since.jsonl"):
        (folder / name).write_bytes((stored / name).read_bytes())
    (folder / ".gitignore").write_text("*\n")
    with sqlite3.connect(folder / "nobrakes.db") as database:
        database.executescript((stored / "database.sql").read_text())
    database.close()
    os.chmod(folder / "nobrakes.db", 0o600)
    return made


def statuses(project: Project) -> tuple[dict[str, str], list[str]]:
    """The status of each bead that a person named, and the features."""
    found = {bead["id"]: bead["status"] for bead in project.ask("list")}
    features = [id_ for id_ in found if id_.startswith("nb-")]
    return {id_: status for id_, status in found.items() if id_ not in features}, features


def test_what_was_there_is_shown_and_agrees(project: Project) -> None:
    assert statuses(project)[0] == STATUS
    assert project.ask("set")["limits"]["doers"] == 2, "what a person changed is in force"
    assert "main matches its evidence" in project.nobrakes("verify").stdout
    project.nobrakes("config", "--check")
    for command in ("status", "board", "escalations", "forge list", "diff alpha"):
        project.nobrakes(*command.split())
    assert [one["outcome"] for one in project.ask("history", "alpha")["attempts"]] == ["completed", "completed"]
    assert project.ask("show", "holds")["held"] and project.ask("show", "later")["defer_until"], "both are kept"


def test_the_attempts_that_were_cut_off_are_over_and_the_graph_gets_done(project: Project) -> None:
    before = project.git("rev-parse", "main").strip()
    evidence = project.git("rev-parse", "refs/nobrakes/evidence").strip()
    for one in project.ask("escalations"):
        question = one["type"] == "question"
        id_ = str(one["id"])
        project.nobrakes(*(("answer", id_, "SQLite, and spaces") if question else ("resolve", id_, "--cancel")))
    project.nobrakes("release", "holds")
    project.nobrakes("defer", "later", "now")
    project.nobrakes("commit-strategy", "--yes")
    features = statuses(project)[1]
    project.nobrakes("run", "--red-main", expect=40 if features else 0)
    for feature in features:
        project.nobrakes("forge", "sign-off", feature)
        project.nobrakes("commit-strategy", "--yes")
        project.nobrakes("run")
    planned = ["login-form"] if features else []
    assert statuses(project)[0] == dict.fromkeys((*STATUS, *planned), "done") | {
        "gone": "cancelled",
        "fails": "cancelled",
    }
    merged = sorted((*MERGED_BEFORE, *WAITING, "asks", "slow", "slowtests", "reviewed", "idea", *planned))
    assert sorted(project.landed().values()) == merged
    project.git("merge-base", "--is-ancestor", before, "main")
    project.git("merge-base", "--is-ancestor", evidence, "refs/nobrakes/evidence")
    for bead in ("slow", "slowtests"):
        first, *others = project.ask("history", bead)["attempts"]
        assert first["outcome"] == "lost" and others[-1]["outcome"] == "completed"
    assert "main matches its evidence" in project.nobrakes("verify").stdout
    project.nobrakes("doctor")


def test_where_only_git_and_the_snapshot_came_along_the_merges_are_known(project: Project) -> None:
    (project.folder / ".nobrakes" / "nobrakes.db").unlink()
    status = {bead["id"]: bead["status"] for bead in project.ask("list")}
    assert {bead for bead, one in status.items() if one == "done"} == {*MERGED_BEFORE, "lib", "byhand"}
    assert warm.nobrakes(["verify"], project.folder, project.env()).returncode == 0
