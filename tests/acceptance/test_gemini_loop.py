"""The real Gemini CLI takes a bead from ready to merged main, against a scripted model on the loopback.

Nothing of the loop is replaced. What the guard must refuse is tried on the way, and is refused.
"""

import json
from pathlib import Path

import pytest

from tests.support.real_clis import CAP, CODE, DONE, GEMINI, NOBRAKES, TEST, committing, prepare, tool
from tests.support.sandboxes import in_both, in_sandbox

pytestmark = pytest.mark.gemini


def shell(command: str) -> dict[str, object]:
    return tool("run_shell_command", {"command": command, "description": "go on"})


def write(path: str, content: str) -> dict[str, object]:
    return tool("write_file", {"file_path": path, "content": content})


def in_one_call(path: str, text: str) -> dict[str, object]:
    return shell(f"cat >{path} <<'X'\n{text}X\n{committing('Do it')}")


def commit(subject: str) -> dict[str, object]:
    return shell(committing(subject))


def settings() -> str:
    if GEMINI is None:
        pytest.skip("no Gemini CLI: run .ci/run once, or set NOBRAKES_GEMINI to an executable")
    gemini = f'\n[agents.gemini]\nexecutable = {json.dumps(GEMINI)}\nmodel = "gemini-2.5-pro"\n'
    return f'[agents]\ntest_writer = "gemini"\ndoer = "gemini"\n{gemini}base_url = "http://127.0.0.1:PORT/s/gemini"\n'


@in_both
def test_gemini_takes_a_bead_from_ready_to_merged(tmp_path: Path, sandbox: str) -> None:
    field = prepare(tmp_path, settings(), sandbox)
    steps = [
        write("tests/test_hello.py", TEST),
        commit("Tests for greeting"),
        DONE,
        write("tests/more.py", "x = 1\n"),  # refused: a Doer does not change tests
        shell("git push"),  # refused
        write("hello.py", CODE),
        commit("Greet"),
        tool("*_progress", {"text": "greets"}),
        tool("*_notify", {"text": "Tea is ready."}),
        tool("*_done", {"outcome": "completed", "summary": "greet() is there"}),
        DONE,
    ]
    printed = field.let_them_work({"gemini": steps}, {"GEMINI_API_KEY": "dummy"})
    assert field.attempts() == [
        ("test_writer", "gemini", "completed"),
        ("doer", "gemini", "completed"),
        ("reviewer", "nobrakes", "completed"),
    ], printed
    field.assert_merged()
    assert "tests/more.py: the Doer does not change tests" in field.told()
    assert field.told().count("nobrakes refuses this") >= 2
    assert field.bead()["attempts"][1]["log"]["summary"] == "greet() is there"
    said = field.run(NOBRAKES, "events", "--json")
    assert "greets" in said and "Tea is ready." in said
    assert not (tmp_path / "home" / ".gemini").exists()


def test_a_repository_that_switches_the_hooks_off_is_not_worked_on(tmp_path: Path) -> None:
    field = prepare(tmp_path, settings())
    off = field.repository / ".gemini" / "settings.json"
    off.parent.mkdir()
    off.write_text(json.dumps({"hooksConfig": {"enabled": False}}))
    field.run("git", "add", ".gemini")
    field.run("git", "commit", "-q", "-m", "No hooks")
    # the shell command waits for its end, so that there is somebody to stop
    steps = [shell("python3 -c 'import time; time.sleep(120)'"), DONE]
    field.let_them_work({"gemini": steps}, {"GEMINI_API_KEY": "dummy"}, code=40)
    assert field.attempts() == [("test_writer", "gemini", "guard_failed")] * 2  # alone it may be chance
    assert field.bead()["status"] == "escalated"


@pytest.mark.parametrize("sandbox", [pytest.param("none", marks=pytest.mark.night), in_sandbox])
def test_a_cap_in_tokens_stops_gemini_while_it_works(tmp_path: Path, sandbox: str) -> None:
    field = prepare(tmp_path, settings() + CAP, sandbox)
    writes = [write("tests/test_hello.py", TEST), commit("Tests for greeting"), shell("sleep 120"), DONE]
    does = [in_one_call("hello.py", CODE), DONE]
    printed = field.let_them_work({"gemini": [*writes, *does]}, {"GEMINI_API_KEY": "dummy"})
    field.assert_capped("gemini", printed)
