"""What agents hold is shown for each, and above a limit no other one starts; who is at work goes on."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project
from tests.support.scripted import until

pytestmark = pytest.mark.slow
LARGE = """#!/usr/bin/env python3
import os, subprocess, sys, time
# what it started itself counts, too
code = "held = bytearray(120 << 20); import os, time\\nwhile not os.path.exists(%r): time.sleep(0.02)" % os.environ["GO"]
subprocess.run([sys.executable, "-c", code])
print("NOBRAKES: COMPLETED")
"""


def test_no_agent_starts_while_those_at_work_hold_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, go = tmp_path / "agent.py", tmp_path / "go"
    agent.write_text(LARGE.replace('os.environ["GO"]', repr(str(go))))
    project = Project(tmp_path / "repository", ["python3", str(agent)])
    project.config.write_text(project.config.read_text().replace("doers = 3", "doers = 3\nagents_mb = 100"))
    for title in ("One", "Two"):
        project.nobrakes("add", title, "--no-tests")

    def status() -> Any:
        return project.ask("status")

    try:
        project.nobrakes("set", "doers=1")  # else both start before either has grown
        project.nobrakes("daemon", "start")
        (first,) = until(lambda: [w for w in status()["working"] if (w["memory_mb"] or 0) > 100])
        project.nobrakes("set", "doers=3")
        told = until(lambda: [one for one in status()["hindrances"]["found"] if one["kind"] == "memory"])
        assert "no agent starts" in told[0]["what"] and told[0]["commands"][0] == "nobrakes status"
        assert [w["bead"] for w in status()["working"]] == [first["bead"]], "and the other one waits"
        text = project.nobrakes("status").stdout
        row = next(line for line in text.splitlines() if line.startswith(first["name"]))
        assert "MEMORY" in text and int(row.split(" MB")[0].split()[-1]) > 100
        go.write_text("")
        until(lambda: first["bead"] not in [w["bead"] for w in status()["working"] if w["role"] != "reviewer"])
        until(lambda: not [one for one in status()["hindrances"]["found"] if one["kind"] == "memory"])
    finally:
        go.write_text("")
        project.nobrakes("daemon", "stop", expect=None)
