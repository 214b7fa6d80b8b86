"""Agents whose guard does not answer: they are stopped at once, or not begun at all. Played by small scripts."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.abilities import PROVEN
from nobrakes.app import open_app, serve
from nobrakes.daemon.model import Board
from nobrakes.events.kinds import Event
from tests.support.real_clis import NOBRAKES, Field, prepare
from tests.support.scripted import lives, until

INIT = '{"type":"system","subtype":"init","session_id":"s"}'
THREAD = '{"type":"thread.started","thread_id":"t"}'
ITEM = '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"hello"}}'
MESSAGE = '{"type":"message","role":"assistant","content":"hello","delta":true}'
GEMINI = '{"type":"init","session_id":"s"}'
BEGINNINGS = {"claude": [INIT], "codex": [THREAD, ITEM], "gemini": [GEMINI, MESSAGE]}


class Nobody:
    """Watches a run and says nothing."""

    def event(self, event: Event) -> None:
        """Let it pass."""

    def board(self, board: Board) -> None:
        """Let it pass."""


Play = Callable[[str, str], Field]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """A repository whose agent is a script with this text."""

    def made(name: str, text: str) -> Field:
        (tmp_path / "seen").mkdir()  # beside the repository, where agents may write
        program = tmp_path / "program"
        version = f'[ "$*" = --version ] && exec echo {PROVEN[name][0]}'
        program.write_text(f"#!/bin/sh\n{version}\n{text}\n")
        program.chmod(0o755)
        section = f"[agents.{name}]\nexecutable = {json.dumps(str(program))}\n"
        return prepare(tmp_path, f'[agents]\ntest_writer = "{name}"\ndoer = "{name}"\n{section}')

    return made


@pytest.mark.parametrize("name", BEGINNINGS)
def test_an_agent_that_begins_without_its_guard_is_stopped_at_once(play: Play, tmp_path: Path, name: str) -> None:
    says = "\n".join(f"echo '{line}'" for line in BEGINNINGS[name])
    field = play(name, f"echo $$ >{tmp_path}/seen/pid\n{says}\nexec sleep 300")
    done = subprocess.run([NOBRAKES, "run"], cwd=field.repository, capture_output=True, text=True, timeout=120)
    assert done.returncode == 40, done.stdout + done.stderr
    assert field.attempts() == [("test_writer", name, "guard_failed")] * 2  # alone it may be chance
    bead = field.bead()
    assert (bead["status"], bead["failures"]) == ("escalated", 0)
    assert not lives(int((tmp_path / "seen" / "pid").read_text()))


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_an_agent_whose_guard_fails_its_self_test_is_never_started(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    field = play(name, f"touch {tmp_path}/seen/started")
    monkeypatch.setattr("nobrakes.agents.adapter.guard_argv", lambda: ("true",))
    monkeypatch.chdir(field.repository)
    with open_app(os.fspath(field.repository)) as app:
        serve(app, Nobody(), until_idle=True)
    attempts = field.bead()["attempts"]
    assert [one["outcome"] for one in attempts] == ["guard_failed"] * 2  # alone it may be chance
    assert all("the self-test failed: exit code 0 instead of 2" in one["detail"] for one in attempts)
    assert not (tmp_path / "seen" / "started").exists()


def test_the_session_that_an_agent_chose_is_noted_while_it_works(play: Play, tmp_path: Path) -> None:
    ready = 'echo "nobrakes-guard: ready" >"$NOBRAKES_CANARY"'
    waits = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    field = play("codex", f"echo '{THREAD}'\n{ready}\necho '{ITEM}'\n{waits}\nexit 1")
    process = subprocess.Popen([NOBRAKES, "run"], cwd=field.repository, stdout=subprocess.DEVNULL)

    def noted() -> bool:
        assert process.poll() is None
        with open_app(os.fspath(field.repository)) as app:
            return [attempt.provider_session for attempt in app.store.attempts("hello")] == ["t"]

    try:
        until(noted)
    finally:
        process.terminate()
        (tmp_path / "go").touch()
        process.wait(60)
