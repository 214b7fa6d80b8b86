"""An agent that waits for its provider until its time is over: the bead is not to blame."""

import json
import subprocess
from pathlib import Path

from tests.support.real_clis import NOBRAKES, prepare
from tests.support.scripted import until

WAITS = '{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}'


def test_codex_without_a_network_is_no_failure_of_the_bead(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nwhile :; do echo '{WAITS}'; sleep 0.1; done\n")
    program.chmod(0o755)
    agents = '[agents]\ntest_writer = "codex"\ndoer = "codex"\n[agents.codex]\n'
    limits = "\n[limits]\nagent_minutes = 0.03\ngrace_seconds = 0.3\n"
    field = prepare(tmp_path, f"{agents}executable = {json.dumps(str(program))}\n{limits}")
    process = subprocess.Popen([NOBRAKES, "run"], cwd=field.repository, stdout=subprocess.DEVNULL)
    try:
        until(lambda: any(outcome for _, _, outcome in field.attempts()))
    finally:
        process.terminate()
        process.wait(60)
    assert field.attempts()[0] == ("test_writer", "codex", "network")
    assert field.bead()["failures"] == 0
