"""Sessions that belong to no repository: made, run by the person's own daemon, answered, from anywhere."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import until
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow
AGENT = """#!/bin/sh
if grep -q "The answer: hello" "$NOBRAKES_PROMPT"; then echo "Then hello."; echo "NOBRAKES: COMPLETED"; exit; fi
nobrakes agent ask "Which greeting?" --option zebra --option hello >/dev/null
echo "I asked."; echo "NOBRAKES: BLOCKED"
"""


class Person:
    """Somebody in a folder that is no repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "anywhere"
        self.folder.mkdir()
        self.place = folder / "mine"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("NOBRAKES_")}
        self.env["NOBRAKES_USER_HOME"] = str(self.place)

    def nobrakes(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.anywhere(*words, "--user")

    def anywhere(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [NOBRAKES, *words]
        return subprocess.run(argv, cwd=self.folder, env=self.env, capture_output=True, text=True)

    def ask(self, *words: str) -> Any:
        return json.loads(self.nobrakes(*words, "--json").stdout)["data"]

    def state(self) -> str:
        return str(self.ask("session", "show", "1")["session"]["state"])


def test_a_session_of_its_own_is_run_by_a_daemon_of_its_own(tmp_path: Path) -> None:
    person = Person(tmp_path)
    refused = person.nobrakes("sessions")
    assert refused.returncode != 0 and "session start --user" in refused.stderr
    works = person.nobrakes("session", "start", "Do it", "--works")
    assert works.returncode == 2 and "nobrakes relay --user FOLDER" in works.stderr
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    person.nobrakes("session", "start", "Which greeting?", "--agent", "script")
    try:
        until(lambda: person.state() == "stuck")  # no command is set for it yet, and it says so
        assert "but its command is not set. Set agents" in person.nobrakes("session", "show", "1").stdout
        assert "type: nobrakes session show --user 1" in person.nobrakes("escalations").stdout
        home = person.place / "state" / "home"
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        config = home / ".nobrakes" / "config.toml"
        config.write_text(f"{config.read_text()}\n[agents.script]\ncommand = {json.dumps([str(agent)])}\n")
        pid = person.ask("daemon", "status")["pid"]
        assert pid
        person.nobrakes("session", "say", "1", "Now?")
        until(lambda: person.state() == "asking")
        assert person.ask("daemon", "status")["pid"] == pid, "there is one"
        assert f"{home}: a daemon is running (process {pid})" in person.anywhere("daemon", "watch").stdout
        listed = person.anywhere("repositories").stdout
        assert re.search(r"your own sessions +daemon runs +1 ", listed), listed
        (asked,) = person.ask("escalations")
        person.nobrakes("answer", str(asked["id"]), "hello")
        until(lambda: person.state() == "idle")
        assert person.ask("session", "show", "1")["messages"][-1]["text"] == "Then hello."
        person.nobrakes("session", "end", "1")
    finally:
        person.nobrakes("daemon", "stop")
    assert person.ask("sessions") == [] and person.ask("daemon", "status")["pid"] is None


def test_an_agent_has_no_sessions_of_the_person(tmp_path: Path) -> None:
    person = Person(tmp_path)
    person.env["NOBRAKES_TOKEN"] = "1.1.x"
    assert person.nobrakes("sessions").returncode != 0
    assert person.nobrakes("session", "start", "hello").returncode != 0
    assert not person.place.exists()
