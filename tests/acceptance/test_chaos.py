"""Random beads, agents that fail in every way, and a daemon that is killed again and again: nothing is lost.

NOBRAKES_CHAOS: how many beads the long one has (40).
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project
from tests.support.sandboxes import in_both
from tests.support.warm import NOBRAKES

AGENT = str(Path(__file__).parents[1] / "support" / "chaos_agent.py")


def graph(seed: int, size: int) -> list[dict[str, Any]]:
    """Beads that each need up to two earlier ones."""
    rng = random.Random(seed)
    beads: list[dict[str, Any]] = []
    for number in range(size):
        needs = rng.sample(range(max(0, number - 8), number), k=min(number, rng.choice((0, 1, 1, 2))))
        bead = {"id": f"b{number}", "title": f"Bead {number}", "priority": rng.randrange(5)}
        beads.append({**bead, "needs": [f"b{n}" for n in sorted(needs)]})
    return beads


def decide(project: Project) -> None:
    """The person retries whatever was escalated."""
    for item in project.ask("escalations"):
        project.nobrakes("resolve", str(item["id"]), "--retry")


def run_and_kill(project: Project, rng: random.Random, kills: int) -> int:
    """`nobrakes run` until it ends by itself; up to `kills` times it is killed on the way. Its exit code."""
    while True:
        process = subprocess.Popen(
            [NOBRAKES, "run"], cwd=project.folder, env=project.env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        until = time.monotonic() + rng.uniform(0.3, 2.0)
        while kills and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        if kills and process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills -= 1
            continue
        out, _ = process.communicate(timeout=900)
        assert process.returncode in (0, 40), out.decode()[-3000:]
        return process.returncode


def settle(project: Project, seed: int, size: int, kills: int) -> None:
    rng = random.Random(seed)
    project.plan(graph(seed, size))
    for _ in range(20):
        if run_and_kill(project, rng, kills) == 0:
            break
        kills = 0
        decide(project)
    statuses = {bead["id"]: bead["status"] for bead in project.ask("list")}
    assert statuses == {f"b{n}": "done" for n in range(size)}
    landed = list(project.landed().values())
    assert sorted(landed) == sorted(statuses), "every bead is merged, and merged once"
    project.assert_main_is_green_at_every_commit(project.folder.parent / "scratch")
    assert project.orphans() == []
    assert not list((project.folder / ".nobrakes" / "workspaces").iterdir())
    assert project.git("status", "--porcelain", "--untracked-files=no") == ""


def make(tmp_path: Path, seed: int, doers: int = 3, sandbox: str = "none") -> Project:
    counts = tmp_path / "turns"
    counts.mkdir()
    agent = [sys.executable, AGENT, str(seed), str(counts)]
    writes = f"write = [{json.dumps(str(counts))}]\n"
    return Project(tmp_path / "repository", agent, doers=doers, sandbox=sandbox, more=writes)


@in_both
def test_a_dozen_beads_settle_while_the_daemon_is_killed(tmp_path: Path, sandbox: str) -> None:
    settle(make(tmp_path, 1, sandbox=sandbox), 1, 12, kills=4)


@pytest.mark.night
def test_many_beads_settle(tmp_path: Path) -> None:
    settle(make(tmp_path, 2, doers=4), 2, int(os.environ.get("NOBRAKES_CHAOS", "40")), kills=10)
