"""An agent at work is asked to stop: by a cap, by a context that is nearly full, by a person. Its work is kept.

The agent is a program that speaks Claude Code's events and tells, message by message, how much it has used.
"""

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

PROGRAM = """#!@PYTHON@
import fcntl, json, os, pathlib, signal, subprocess, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit(print("2.1.329 (Claude Code)"))
book = pathlib.Path("@BOOK@")
session = sys.argv[sys.argv.index("--session-id" if "--session-id" in sys.argv else "--resume") + 1]
def say(**event):
    print(json.dumps({**event, "session_id": session}), flush=True)
lock = open(book / f"lock.{session}", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    (book / "overlap").touch()
if (book / "stubborn").exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
turn = len(list(book.glob("turn.*")))
(book / f"turn.{turn}").write_text(" ".join(sys.argv[1:]))
say(type="system", subtype="hook_response", hook_event="SessionStart", stdout="nobrakes-guard: ready", exit_code=0)
say(type="system", subtype="init", model="opus")
pathlib.Path(f"work.{turn}").write_text("half")
subprocess.run(["git", "add", "-A"]); subprocess.run(["git", "commit", "-qm", f"Work {turn}"])
if turn == 0:
    pathlib.Path(os.environ["NOBRAKES_HANDOFF"]).write_text("the zebra is half done")
    used = 0
    while True:
        used += 100
        usage = {"input_tokens": 0, "cache_read_input_tokens": used, "output_tokens": 0}
        say(type="assistant", message={"id": f"m{used}", "content": [], "usage": usage})
        time.sleep(0.2)
say(type="result", subtype="success", is_error=False, num_turns=1, result="NOBRAKES: COMPLETED", total_cost_usd=0.1)
"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that somebody is logged in."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "nobody")


def project(folder: Path, more: str, limits: str = "") -> Scripted:
    made = Scripted(folder, limits=limits, more=more)
    program = folder / "claude"
    program.write_text(PROGRAM.replace("@PYTHON@", sys.executable).replace("@BOOK@", str(made.book)))
    program.chmod(0o755)
    made.configure('doer = "script"', 'doer = "claude"')
    made.configure("[sandbox]", f"[agents.claude]\nexecutable = {json.dumps(str(program))}\n[sandbox]")
    made.add("one")
    return made


def prompt(made: Scripted, turn: int) -> str:
    path = made.book / f"turn.{turn}"
    return path.read_text() if path.exists() else ""


def test_a_full_context_is_handed_on_to_a_fresh_session(tmp_path: Path) -> None:
    made = project(tmp_path, "", "context_share = 0.01")
    made.nobrakes("run")
    assert made.outcomes("one") == ["gave_up_context", "completed"] and made.status("one") == "done"
    assert "--session-id" in prompt(made, 1) and "the zebra is half done" in prompt(made, 1)
    assert made.git("show", "main:work.0") == "half"


def test_the_tokens_of_one_attempt_end_it_like_its_turns(tmp_path: Path) -> None:
    made = project(tmp_path, "[caps.attempt]\ntokens = 1000\n")
    made.nobrakes("run")
    assert made.outcomes("one") == ["turn_limit", "completed"] and made.status("one") == "done"
    assert "--resume" in prompt(made, 1) and made.git("show", "main:work.0") == "half"


@pytest.mark.parametrize("scope", ["day", "run", "bead"])
def test_a_cap_stops_who_is_at_work_and_a_person_hears_of_it_once(tmp_path: Path, scope: str) -> None:
    made = project(tmp_path, f"[caps.{scope}]\ntokens = 1000\n")
    with made.running():
        until(lambda: made.outcomes("one") == ["capped"])
        assert made.show("one")["failures"] == 0
        until(lambda: made.open() if scope == "bead" else made.events("cap_reached"))
    made.configure("tokens = 1000", "tokens = 100000000")
    if scope == "bead":
        (asked,) = made.open()  # once
        assert asked["type"] == "cap_reached"
        made.nobrakes("resolve", str(asked["id"]), "--retry")
    made.nobrakes("run")
    assert made.outcomes("one") == ["capped", "completed"] and made.status("one") == "done"
    assert "--resume" in prompt(made, 1) and made.git("show", "main:work.0") == "half"
    assert len(made.events("cap_reached")) == (scope != "bead")


def test_who_was_stopped_by_a_person_goes_on_with_the_same_session(tmp_path: Path) -> None:
    made = project(tmp_path, "")
    with made.running() as run:
        until(lambda: (made.folder / ".nobrakes" / "workspaces" / "one" / "work.0").exists())
        until(lambda: begun(made))
        made.nobrakes("stop")
        run.communicate(timeout=60)
    assert made.outcomes("one") == ["interrupted"] and made.show("one")["failures"] == 0
    made.nobrakes("resume")
    made.nobrakes("run")
    assert made.outcomes("one") == ["interrupted", "completed"] and made.status("one") == "done"
    session = prompt(made, 0).partition("--session-id ")[2].split()[0]
    assert f"--resume {session}" in prompt(made, 1) and "You were stopped" in prompt(made, 1)
    assert "# Your task" in prompt(made, 0) and "# Your task" not in prompt(made, 1)


@pytest.mark.parametrize("stubborn", [False, True])
def test_one_agent_is_stopped_and_its_bead_goes_on(tmp_path: Path, stubborn: bool) -> None:
    made = project(tmp_path, "", "grace_seconds = 1")
    if stubborn:
        made.flag("stubborn").touch()
    with made.running() as run:
        until(lambda: begun(made))
        made.nobrakes("stop", "one")
        until(lambda: made.outcomes("one")[:1] == ["interrupted"])
        run.communicate(timeout=60)
    assert made.outcomes("one") == ["interrupted", "completed"] and made.status("one") == "done"
    assert made.show("one")["failures"] == 0 and len(made.events("stop_asked")) == 1
    assert "--resume" in prompt(made, 1) and made.git("show", "main:work.0") == "half"


def test_one_agent_is_stopped_and_its_bead_is_held(tmp_path: Path) -> None:
    made = project(tmp_path, "")
    with made.running() as run:
        until(lambda: begun(made))
        made.nobrakes("stop", "one", "--hold", "I look at it first")
        run.communicate(timeout=60)
    assert made.outcomes("one") == ["interrupted"] and made.status("one") == "needs_doer"
    assert made.show("one")["held"] == "I look at it first" and not made.events("paused")
    made.nobrakes("release", "one")
    made.nobrakes("run")
    assert made.status("one") == "done" and made.git("show", "main:work.0") == "half"


def test_nobody_goes_on_with_a_session_while_its_last_run_lives(tmp_path: Path) -> None:
    made = project(tmp_path, "", "grace_seconds = 10")  # longer than two commands take on a busy machine
    made.flag("stubborn").touch()
    with made.running() as run:
        until(lambda: begun(made))
        made.nobrakes("cancel", "one")
        made.nobrakes("undo")  # while the agent, which hears no TERM, works on
        run.communicate(timeout=60)
    assert made.outcomes("one") == ["cancelled", "completed"] and made.status("one") == "done"
    session = prompt(made, 0).partition("--session-id ")[2].split()[0]
    assert f"--resume {session}" in prompt(made, 1) and not made.flag("overlap").exists()


def begun(made: Scripted) -> bool:
    """Whether the daemon has seen that the session began."""
    with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
        return bool(db.execute("SELECT 1 FROM attempts WHERE json_extract(data, '$.begun')").fetchone())
