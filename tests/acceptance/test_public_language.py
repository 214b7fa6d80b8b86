"""What other programs see of a run: events under the agents' names, and a file that no kill tears."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project
from tests.support.warm import NOBRAKES

AGENT = """#!/bin/sh
set -e
nobrakes agent progress "begin"
case "$NOBRAKES_BEAD" in fails*) nobrakes agent done failed --summary no; exit 0 ;; esac
echo made > "file-$NOBRAKES_BEAD"
git add -A && git commit -q -m "Work on $NOBRAKES_BEAD"
nobrakes agent done completed --summary "made it"
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    project = Project(tmp_path / "project", [str(agent)], more='[events]\nexport = "EVENTS.jsonl"')
    (project.folder / ".git" / "info" / "exclude").write_text("EVENTS.jsonl\n")
    return project


def public(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in project.nobrakes("events", "--public").stdout.splitlines()]


def exported(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.folder / "EVENTS.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_a_run_is_told_under_the_agents_names(project: Project) -> None:
    project.nobrakes("set", "max_failures=1", expect=None)
    project.plan([{"id": id_, "title": id_, "needs_tests": False} for id_ in ("one", "two", "fails")])
    project.nobrakes("run", expect=None)
    found = public(project)
    said = {(one["event"], one["task_id"]): one for one in found}
    for bead in ("one", "two"):
        spawned, done = said["doer_spawned", bead], said["doer_completed", bead]
        assert spawned["agent"] == done["agent"] not in ("nobrakes", "script")
        assert spawned["metadata"]["attempt"] == done["metadata"]["attempt"]
        assert spawned["metadata"]["cli"] == "script"
        stands = [one for one in found if (one["event"], one["task_id"]) == ("execution.status", bead)]
        assert [one["metadata"]["text"] for one in stands if one["metadata"]["text"]] == ["begin"]
        assert stands[0]["agent"] == spawned["agent"] and stands[-1]["metadata"]["status"] == "COMPLETE"
        assert stands[-1]["metadata"]["files_modified"] == 1, "its workspace was looked at"
        assert said["review_passed", bead]["metadata"]["last_outcome"] == "completed"
        assert said["execution.step_completed", bead]["metadata"]["commit"] in project.landed()
    assert said["doer_failed", "fails"]["metadata"]["outcome"] == "failed"
    begun, *lines = exported(project)
    assert begun["event"] == "log.begun" and lines == public(project)


@pytest.mark.slow
def test_a_daemon_that_is_killed_leaves_a_whole_file(project: Project) -> None:
    project.plan([{"id": f"b{n}", "title": f"Bead {n}", "needs_tests": False} for n in range(6)])
    file = project.folder / "EVENTS.jsonl"
    command = [NOBRAKES, *project.asked("run")]
    for lines in (8, 16, 24):
        process = subprocess.Popen(command, cwd=project.folder, env=project.env(), stdout=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while process.poll() is None and not (file.exists() and file.read_bytes().count(b"\n") >= lines):
            assert time.monotonic() < end, "nothing was written in time"
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with file.open("ab") as torn:  # as if the kill had met a write
            torn.write(b'{"ts":"20')
    project.nobrakes("run")
    begun, *lines_ = exported(project)
    assert begun["event"] == "log.begun" and lines_ == public(project)
    assert sum(one["event"] == "execution.step_completed" for one in lines_) == 6


def test_without_a_daemon_the_command_writes_what_is_there(project: Project) -> None:
    project.nobrakes("add", "One", "--id", "one")
    project.nobrakes("events", "--export", "other.jsonl")
    project.nobrakes("hold", "one", "--reason", "wait", "--as", "Zoe")
    project.nobrakes("events", "--export", "other.jsonl")
    begun, *lines = [json.loads(one) for one in (project.folder / "other.jsonl").read_text().splitlines()]
    assert begun["event"] == "log.begun" and lines == public(project) and lines[-1]["agent"] == "Zoe"
    assert project.nobrakes("events", "--export", ".git/x", expect=17).stderr
    assert project.nobrakes("events", "--export", "x", "--after", "1", expect=2).stderr
