"""An agent that has finished and does not end is handed in, and so is committed work behind a last line that is torn or missing."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, lives, until
from tests.support.warm import NOBRAKES

PROGRAM = """#!@PYTHON@
import json, os, pathlib, subprocess, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit(print("2.1.329 (Claude Code)"))
session = sys.argv[sys.argv.index("--session-id" if "--session-id" in sys.argv else "--resume") + 1]
def line(**event):
    return json.dumps({**event, "session_id": session})
def say(**event):
    print(line(**event), flush=True)
say(type="system", subtype="hook_response", hook_event="SessionStart", stdout="nobrakes-guard: ready", exit_code=0)
say(type="system", subtype="init", model="opus")
text = "nothing of note"
if os.environ["NOBRAKES_ROLE"] == "doer":
    pathlib.Path("work").write_text("done")
    subprocess.run(["git", "add", "-A"]); subprocess.run(["git", "commit", "-qm", "Work"])
say(type="assistant", message={"id": "m1", "content": [{"type": "text", "text": text}]})
result = line(type="result", subtype="success", is_error=False, num_turns=1, result=text, total_cost_usd=0.25)
@END@
"""
LINGERS = "print(result, flush=True); time.sleep(3600)"
TORN = "print(result[:70] + '{}\\n' + result[70:], flush=True)"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that somebody is logged in."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "nobody")


def project(folder: Path, limits: str = "linger_seconds = 1", end: str = "", more: str = "") -> Scripted:
    """With `end`, its agent is a program that speaks Claude Code's events, and ends so."""
    made = Scripted(folder, limits=f"{limits}\nidle_minutes = 0.5", more=more)
    if end:
        program = folder / "claude"
        program.write_text(PROGRAM.replace("@PYTHON@", sys.executable).replace("@END@", end))
        program.chmod(0o755)
        made.configure('doer = "script"', 'doer = "claude"')
        made.configure("[sandbox]", f"[agents.claude]\nexecutable = {json.dumps(str(program))}\n[sandbox]")
    made.add("one")
    return made


@pytest.mark.parametrize(
    "end",
    [
        "echo 'NOBRAKES: COMPLETED'; sleep 3600",
        "nobrakes agent done completed --summary 'all of it'; sleep 3600",
        "echo 'NOBRAKES: COMPLETED'; trap 'exit 3' TERM; while :; do sleep 0.1; done",
        "echo 'NOBRAKES: COMPLETED'; trap '' TERM; while :; do sleep 0.1; done",
    ],
    ids=["marker", "agent done", "it answers our stop with a failure", "it does not hear our stop"],
)
def test_a_script_that_lingers_is_handed_in(tmp_path: Path, end: str) -> None:
    made = project(tmp_path)
    made.does("one", f"work; PATH={Path(NOBRAKES).parent}:$PATH; {end}")
    made.nobrakes("run")
    assert made.outcomes("one") == ["completed"] and made.status("one") == "done"
    assert made.git("show", "main:src/one") == "made for one\n"


def test_a_cli_that_lingers_after_its_last_event_is_handed_in_with_its_cost(tmp_path: Path) -> None:
    made = project(tmp_path, end=LINGERS)
    made.nobrakes("run")
    assert made.outcomes("one") == ["completed"] and made.git("show", "main:work") == "done"
    with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
        assert db.execute("SELECT cost_usd FROM attempts WHERE role = 'doer'").fetchone() == (0.25,)


def test_a_turn_that_lingers_is_an_answer(tmp_path: Path) -> None:
    made = project(tmp_path, end=LINGERS, more='[review]\ncode_review = "ask"\ncode_review_agents = ["claude"]\n')
    made.nobrakes("run", expect=None)
    with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
        assert set(db.execute("SELECT outcome FROM turns").fetchall()) == {("completed",)}
        assert db.execute("SELECT count(*) FROM turns").fetchone()[0] >= 1


@pytest.mark.parametrize("more", ["", "; time.sleep(3600)"], ids=["it exits", "it lingers"])
def test_committed_work_behind_a_torn_last_line_is_handed_in_as_unsure(tmp_path: Path, more: str) -> None:
    made = project(tmp_path, end=TORN + more)
    made.nobrakes("run")
    assert made.outcomes("one") == ["completed"] and made.git("show", "main:work") == "done"
    assert "nobrakes cannot tell whether the agent had finished" in made.nobrakes("history", "one").stdout
    assert '"unsure": true' in made.git("log", "-1", "--format=%B", "refs/nobrakes/evidence")


def test_committed_work_of_a_cli_without_a_last_event_is_handed_in_as_unsure(tmp_path: Path) -> None:
    made = project(tmp_path, end="pass")
    made.nobrakes("run")
    assert made.outcomes("one") == ["completed"] and made.git("show", "main:work") == "done"
    assert "nobrakes cannot tell whether the agent had finished" in made.nobrakes("history", "one").stdout


def test_a_daemon_that_dies_between_the_stop_and_the_end_hands_in_too(tmp_path: Path) -> None:
    made = project(tmp_path, limits="linger_seconds = 1\ngrace_seconds = 3")
    made.does(
        "one", "work; trap '' TERM; echo $$ >\"$BOOK/pid\"; echo 'NOBRAKES: COMPLETED'; while :; do sleep 0.1; done"
    )
    database = made.folder / ".nobrakes" / "nobrakes.db"

    def is_stopped() -> bool:
        with sqlite3.connect(database) as db:
            return bool(db.execute("SELECT 1 FROM runs WHERE term_at IS NOT NULL").fetchone())

    child = subprocess.Popen(
        [NOBRAKES, "run", "--red-main"], cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL
    )
    try:
        until(is_stopped)
    finally:
        child.kill()
        child.wait()
    pid = int((made.book / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    until(lambda: not lives(pid))
    time.sleep(0.2)
    made.nobrakes("run")
    assert made.outcomes("one") == ["completed"] and made.status("one") == "done"


def test_a_doer_whose_tests_fail_alike_three_times_is_ended_and_its_work_is_kept(tmp_path: Path) -> None:
    made = project(tmp_path)
    tests = f"for round in 1 2 3; do {NOBRAKES} agent test && exit 9; done"
    made.does("one", f"work; echo 'exit 1' >tests/run.sh; {tests}; sleep 3600", turn=1)
    two = f"for round in 1 2; do {NOBRAKES} agent test && exit 9; done"
    explained = f"{two}; {NOBRAKES} agent log 'it is the port'; {two}; sleep 12"
    made.does("one", f"work; echo 'exit 1' >tests/run.sh; {explained}", turn=2)
    made.nobrakes("run", expect=None)
    first, second, *_ = made.outcomes("one")
    assert first == "gave_up_tests" != second, "its explanation ends the row"
    shown = made.ask("show", "one")["attempts"][0]
    assert shown["outcome"] == first and "kept failing in the same way" in shown["detail"]
