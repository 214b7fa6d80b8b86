"""The real Claude Code CLI goes on with its session: after an answer, and after its session is gone.

It asks, its attempt ends, a person answers when no daemon runs, and the next attempt is the same session: it hears the
answer once, and does not begin again.
"""

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_clis import CLAUDE, CODE, DONE, NOBRAKES, TEST, Field, prepare, tool

pytestmark = pytest.mark.claude

KEY = {"ANTHROPIC_API_KEY": "dummy"}
ASKS = tool("Bash", {"command": "nobrakes agent ask 'Which greeting, zebra or hello?' --wait 0"})
BLOCKED = {"text": "I wait for the human.\n\nNOBRAKES: BLOCKED"}
NEEDS_PERSON = 40


def commit(subject: str) -> dict[str, object]:
    return tool("Bash", {"command": f"git add -A && git commit -q -m '{subject}' -m 'Bead: hello'"})


def begun(folder: Path) -> Field:
    """A repository in which the Doer has asked and stopped."""
    if CLAUDE is None:
        pytest.skip("no Claude Code CLI: install claude-agent-sdk, or set NOBRAKES_CLAUDE to an executable")
    claude = f'[agents.claude]\nexecutable = {json.dumps(CLAUDE)}\nmodel = "claude-sonnet-4-5"\n'
    url = 'base_url = "http://127.0.0.1:PORT/s/run"\n'
    field = prepare(folder, f'[agents]\ntest_writer = "claude"\ndoer = "claude"\n{claude}{url}')
    writes = [tool("Write", {"file_path": f"{field.workspace}/tests/test_hello.py", "content": TEST})]
    steps = [*writes, commit("Tests for greeting"), DONE, ASKS, BLOCKED]
    printed = field.let_them_work({"run": steps}, KEY, NEEDS_PERSON)
    assert field.attempts() == [("test_writer", "claude", "completed"), ("doer", "claude", "blocked")], printed
    return field


def goes_on(field: Field, *steps: dict[str, Any]) -> list[dict[str, Any]]:
    """`nobrakes run` once more, with another port of the model; the requests that the model was sent."""
    config = field.repository / ".nobrakes" / "config.toml"
    config.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", config.read_text()))
    field.let_them_work({"run": list(steps)}, KEY)
    found: list[dict[str, Any]] = json.loads(field.told())
    return found


def answer(field: Field) -> None:
    (asked,) = json.loads(field.run(NOBRAKES, "escalations", "--json"))["data"]
    assert asked["type"] == "question" and "zebra" in asked["title"]
    field.run(NOBRAKES, "answer", str(asked["id"]), "Take hello, said the okapi.")


def sessions(field: Field) -> list[str]:
    """The session of each attempt of an agent."""
    with sqlite3.connect(field.repository / ".nobrakes" / "nobrakes.db") as db:
        named = "SELECT provider_session FROM attempts JOIN sessions ON sessions.id = attempts.session"
        rows = db.execute(f"{named} WHERE role <> 'reviewer' ORDER BY attempts.id").fetchall()
    return [row[0] for row in rows]


WORKS = tool("Bash", {"command": f"cat >hello.py <<'EOF'\n{CODE}EOF"})


def test_an_answer_goes_to_the_session_that_asked_once(tmp_path: Path) -> None:
    field = begun(tmp_path)
    answer(field)
    requests = goes_on(field, WORKS, commit("Greet"), DONE)
    assert field.attempts()[1:] == [
        ("doer", "claude", "blocked"),
        ("doer", "claude", "completed"),
        ("reviewer", "nobrakes", "completed"),
    ]
    field.assert_merged()
    writer, asked, told = sessions(field)
    assert asked == told != writer
    said = json.dumps(requests[-1]["body"]["messages"])
    assert said.count("said the okapi") == 1 and "NOBRAKES: BLOCKED" in said  # it has all that it said before
    assert said.count("# Your task") == 1 and said.count("# You go on with bead hello") == 1
    assert not kept(field).exists(), "what Claude Code kept goes with the clone of a bead that is done"


def kept(field: Field) -> Path:
    return field.repository / ".nobrakes" / "agents" / "claude" / "hello"


@pytest.mark.slow
def test_after_a_cancel_that_is_taken_back_the_answer_begins_a_fresh_session_at_once(tmp_path: Path) -> None:
    field = begun(tmp_path)
    field.run(NOBRAKES, "cancel", "hello")
    goes_on(field, DONE)
    assert not kept(field).exists()
    field.run(NOBRAKES, "undo")
    answer(field)  # it asks again what it asked
    goes_on(field, WORKS, commit("Greet"), DONE)
    assert [outcome for _, _, outcome in field.attempts()[1:]] == ["blocked", "completed", "completed"], "none was lost"
    field.assert_merged()
    _, asked, fresh = sessions(field)
    assert asked != fresh


@pytest.mark.slow
def test_a_session_that_is_gone_is_followed_by_a_fresh_one_that_hears_the_answer(tmp_path: Path) -> None:
    field = begun(tmp_path)
    shutil.rmtree(kept(field) / "projects")
    answer(field)
    requests = goes_on(field, WORKS, commit("Greet"), DONE)
    assert [outcome for _, _, outcome in field.attempts()[1:]] == ["blocked", "session_lost", "completed", "completed"]
    field.assert_merged()
    assert field.bead()["failures"] == 0
    _, asked, lost, fresh = sessions(field)
    assert asked == lost != fresh
    said = json.dumps(requests[-1]["body"]["messages"])
    assert said.count("said the okapi") == 1 and "# You go on with" not in said
