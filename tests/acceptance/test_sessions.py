"""Sessions from the command line: an agent that answers, asks, is killed, stopped and ended, beside the beads."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow
ANSWERS = "echo 'It would take a week.'; echo 'NOBRAKES: COMPLETED'"
ASKS = """nobrakes agent ask 'Which database?' >/dev/null
echo 'I asked you.'; echo 'NOBRAKES: BLOCKED'"""


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path / "project")


def plays(project: Scripted, session: int, *turns: str) -> None:
    for number, play in enumerate(turns, 1):
        (project.book / f"session~{session}.{number}").write_text(play)


def prompt(project: Scripted, session: int, turn: int) -> str:
    return (project.book / f"session~{session}.prompt.{turn}").read_text()


def test_a_question_is_answered_and_the_session_goes_on_with_it_once(project: Scripted) -> None:
    plays(project, 1, ASKS, ANSWERS, ANSWERS)
    project.nobrakes("session", "start", "Plan the move to a database.", "--agent", "script")
    project.nobrakes("run", expect=40)
    shown = project.ask("session", "show", "1")
    assert shown["session"]["state"] == "asking" and shown["messages"][-1]["text"].endswith("I asked you.")
    (question,) = project.ask("escalations")
    assert (question["title"], question["session"], question["bead"]) == ("Which database?", 1, None)
    assert "Which database?" in project.nobrakes("session", "show", "1").stdout
    project.nobrakes("answer", str(question["id"]), "SQLite")
    project.nobrakes("answer", str(question["id"]), "Postgres", expect=None)
    project.nobrakes("run")
    assert prompt(project, 1, 2).count("The answer: SQLite") == 1 and "Postgres" not in prompt(project, 1, 2)
    shown = project.ask("session", "show", "1")
    assert shown["session"]["state"] == "idle" and shown["messages"][-1]["text"] == "It would take a week."
    project.nobrakes("session", "say", "1", "Thanks. And a server?")
    project.nobrakes("run")
    assert prompt(project, 1, 3).count("And a server?") == 1
    assert [turn["outcome"] for turn in project.ask("session", "show", "1")["turns"]] == [
        "blocked", "completed", "completed",
    ]  # fmt: skip


def test_it_works_beside_the_beads_and_the_board_shows_it(project: Scripted) -> None:
    plays(project, 1, f"while [ ! -e {project.book}/go ]; do sleep 0.05; done; {ANSWERS}")
    project.plan([{"id": "a", "title": "A", "needs_tests": False}])
    project.nobrakes("session", "start", "Look around.", "--agent", "script")
    process = subprocess.Popen([NOBRAKES, "run", "--red-main"], cwd=project.folder, stdout=subprocess.DEVNULL)
    try:
        until(lambda: project.landed())
        (at_work,) = project.ask("status")["sessions"]
        assert (at_work["session"], at_work["state"], at_work["agent"]) == (1, "running", "script")
        assert "session 1" in project.nobrakes("board").stdout
    finally:
        (project.book / "go").write_text("")
        assert process.wait(60) == 0
    assert project.ask("session", "show", "1")["session"]["state"] == "idle"


def test_a_daemon_that_is_killed_leaves_its_session_to_the_next(project: Scripted) -> None:
    plays(project, 1, f"while [ ! -e {project.book}/go ]; do sleep 0.05; done; {ANSWERS}")
    project.nobrakes("session", "start", "Look around.", "--agent", "script")
    process = subprocess.Popen([NOBRAKES, "run", "--red-main"], cwd=project.folder, stdout=subprocess.DEVNULL)
    until(lambda: (project.book / "session~1.turns").exists())
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    (project.book / "go").write_text("")
    project.nobrakes("run")
    shown = project.ask("session", "show", "1")
    assert [turn["outcome"] for turn in shown["turns"]] == ["completed"] and shown["session"]["state"] == "idle"
    assert project.orphans() == []


def test_who_is_stopped_waits_and_who_is_ended_is_gone(project: Scripted) -> None:
    plays(project, 1, "while :; do sleep 0.05; done", ANSWERS)
    project.nobrakes("session", "start", "Look around.", "--agent", "script")
    process = subprocess.Popen([NOBRAKES, "run", "--red-main"], cwd=project.folder, stdout=subprocess.DEVNULL)
    until(lambda: (project.book / "session~1.turns").exists())
    project.nobrakes("session", "stop", "1")
    assert process.wait(60) == 0  # nothing else is to be done
    assert project.ask("session", "show", "1")["session"]["state"] == "idle"
    project.nobrakes("session", "say", "1", "Go on.")
    project.nobrakes("run")
    assert "Look around." in prompt(project, 1, 2) and "Go on." in prompt(project, 1, 2)
    project.nobrakes("session", "end", "1")
    project.nobrakes("run")
    assert project.ask("sessions") == [] and not (project.folder / ".nobrakes/scratch/session~1").exists()
    refused = project.nobrakes("session", "say", "1", "Hello?", expect=None)
    assert refused.returncode != 0 and "ended" in refused.stderr


def test_behind_the_wall_it_speaks_and_changes_nothing(tmp_path: Path) -> None:
    walled = Scripted(tmp_path / "project", more="")
    text = walled.config.read_text().replace('mode = "none"', 'mode = "auto"')
    walled.config.write_text(text.replace("[sandbox]", f'[sandbox]\nwrite = ["{walled.book}"]'))
    cheats = f"echo mine > {walled.folder}/shared; echo x > {walled.folder}/.nobrakes/nobrakes.db; {ASKS}"
    plays(walled, 1, cheats)
    before = (walled.folder / "shared").read_text()
    walled.nobrakes("session", "start", "Look around.", "--agent", "script")
    walled.nobrakes("run", expect=40)
    assert (walled.folder / "shared").read_text() == before
    assert walled.ask("session", "show", "1")["session"]["state"] == "asking"
