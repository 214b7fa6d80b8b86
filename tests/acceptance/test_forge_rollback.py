"""A feature is rolled back through the CLI: what is on main of it goes by one commit through the Reviewer, or not at all."""

import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Status
from nobrakes.features.model import Feature, Stage
from nobrakes.store import Store, open_store
from tests.support import shim
from tests.support.scripted import Scripted, lives, until
from tests.support.warm import NOBRAKES

SLOW = 'touch "$BOOK/at-work"; echo half >half; commit Half; sleep 600'


class Built(Scripted):
    """A project with a feature that is being built: `one`, `two` and `three` are merged, and so is `other`, no bead of it."""

    def __init__(self, folder: Path, **more: Any) -> None:
        super().__init__(folder, **more)
        self.base = self.git("rev-parse", "main").strip()
        epic = Bead("login", "Login", type=BeadType.EPIC, status=Status.OPEN)
        with self.store() as store:
            store.put([epic, Bead("draft", "Draft", epic="login")], [], "me")
            store.begin_feature(Feature("login", "Login", "People log in.", base=self.base, stage=Stage.IMPLEMENTATION))
        self.add("one", "two", "three", epic="login")
        self.add("other")
        self.nobrakes("run")
        self.merges = [bead for bead in self.landed().values() if bead != "other"][::-1]

    def store(self) -> "closing[Store]":
        return closing(open_store(str(self.folder / ".nobrakes" / "nobrakes.db")))

    def feature(self) -> Feature:
        with self.store() as store:
            return store.feature("login")

    def statuses(self) -> dict[str, str]:
        with self.store() as store:
            return {bead.id: bead.status.value for bead in store.beads()}

    def rollback(self) -> dict[str, Any]:
        done: dict[str, Any] = self.ask("forge", "rollback", "login", "--yes")
        return done


@pytest.fixture
def project(tmp_path: Path) -> Built:
    return Built(tmp_path)


def test_what_is_merged_at_work_and_proposed_of_a_feature_is_taken_back_and_the_rest_stays(project: Built) -> None:
    project.does("slow", SLOW)
    with project.store() as store:
        store.put([Bead("slow", "Slow", epic="login", needs_tests=False, status=Status.NEEDS_DOER)], [], "me")
    main = project.git("rev-parse", "main").strip()
    with project.running() as run:
        until(project.flag("at-work").exists)
        error = project.error("forge", "rollback", "login", code=17)
        assert "2 beads cancelled (1 agent stopped), 3 merges reverted on main" in error["message"]
        assert "forge rollback login --yes" in error["hint"] and project.feature().state.value == "active"
        done = project.rollback()
        out, _ = run.communicate(timeout=90)
    assert run.returncode == 0, out
    assert [one["bead"] for one in done["reverts"]] == project.merges, "the newest first"
    assert {one["bead"] for one in done["cancels"]} == {"slow", "draft"} and done["stops"] == ["slow"]
    assert not lives(project.turns("slow")[0])
    assert project.git("diff", "--name-only", project.base, "main").split() == ["src/other"]
    assert project.git("rev-list", "--count", f"{main}..main").strip() == "1", "one commit takes all three back"
    trailers = project.git("log", "-1", "--format=%(trailers:only,unfold)", "main")
    assert [line[14:] for line in trailers.splitlines() if line.startswith("Reverts-Bead: ")] == project.merges
    assert f"Bead: {done['bead']}\n" in trailers and "Handed-In-By: person\n" in trailers
    bead = done["bead"]
    assert project.feature().state.value == "rolled_back"
    gone = dict.fromkeys(("login", "one", "two", "three", "slow", "draft"), "cancelled")
    assert project.statuses() == {**gone, "other": "done", bead: "done"}
    assert "half" in project.git("log", "--all", "--format=%s", "--name-only")
    (kept,) = project.ask("review", bead)
    assert len(kept["record"]["takes_back"]) == 3 and kept["record"]["by"] == "person"
    assert "reverts 3 commits, as person asked" in project.nobrakes("review", bead).stdout
    for command in ("verify", "doctor"):
        project.nobrakes(command)
    for command in (("resume", "login"), ("rollback", "login", "--yes")):
        project.nobrakes("forge", *command, expect=17)
    project.nobrakes("run")
    assert project.statuses() == {**gone, "other": "done", bead: "done"}, "the first result is shown"


def test_later_work_on_the_same_file_is_asked_about_and_nothing_is_half_taken_back(project: Built) -> None:
    project.does("later", "echo more >>src/two; commit Later")
    project.add("later")
    project.nobrakes("cancel", "draft")
    project.nobrakes("run")
    assert project.feature().state.value == "completed"
    main = project.git("rev-parse", "main")
    bead = project.rollback()["bead"]
    project.nobrakes("run", expect=40)
    assert project.git("rev-parse", "main") == main
    (asked,) = project.open()
    assert "reverting two conflicts with later in src/two" in asked["title"] and asked["type"] == "question"
    assert project.statuses()[bead] == "needs_doer" and project.feature().state.value == "completed"
    project.nobrakes("answer", str(asked["id"]), "try again")
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert "src/two" in asked["title"] and project.git("rev-parse", "main") == main
    project.nobrakes("undo", "later", "--yes")
    project.nobrakes("cancel", "later")
    project.nobrakes("answer", str(asked["id"]), "try again")
    project.nobrakes("run")
    assert project.git("diff", "--name-only", project.base, "main").split() == ["src/other"]
    assert project.feature().state.value == "rolled_back" and project.statuses()[bead] == "done"
    project.nobrakes("verify")


def test_a_daemon_that_is_killed_while_it_builds_and_lands_the_candidate_goes_on_with_it(
    project: Built, tmp_path: Path
) -> None:
    kill = tmp_path / "kill"
    env = {**project.env(), **shim.install(kill)}
    main = project.git("rev-parse", "main").strip()
    bead = project.rollback()["bead"]
    for moment in ("before =update-ref --no-deref --stdin", "after =nobrakes: merge"):
        shim.arm(kill, moment)
        done = subprocess.run([NOBRAKES, "run"], cwd=project.folder, env=env, capture_output=True, timeout=60)
        assert done.returncode == -signal.SIGKILL, moment
        assert project.feature().state.value == "paused" and project.statuses()["one"] == "done"
    project.nobrakes("run")
    assert project.git("rev-list", "--count", f"{main}..main").strip() == "1"
    assert project.git("diff", "--name-only", project.base, "main").split() == ["src/other"]
    assert project.feature().state.value == "rolled_back" and project.statuses()[bead] == "done"
    project.nobrakes("verify")
