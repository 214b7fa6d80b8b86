"""Every kind of ending is a text, a code, and with --json an envelope."""

import json
import os
import re
import subprocess
import sys

import pytest

from nobrakes.cli import main
from nobrakes.cli.outcome import said
from nobrakes.command_table import entry
from nobrakes.errors import Deadlock


@pytest.fixture
def command(monkeypatch):
    """Make `nobrakes resume` do what the test says."""

    def use(does):
        monkeypatch.setattr(main, "function_of", lambda found: does)

    return use


def test_a_result_is_text_or_an_envelope(command, capsys):
    def does() -> main.Result:
        """Help."""
        return said({"paused": False}, "resumed: new work starts again")

    command(does)
    assert main.run(["resume"]) == 0
    assert capsys.readouterr().out == "resumed: new work starts again\n"
    assert main.run(["resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "command": "resume", "data": {"paused": False}}


def _raising(error):
    def does():
        """Help."""
        raise error

    return does


def test_an_error_is_a_message_a_hint_and_its_code(command, capsys):
    command(_raising(Deadlock("a waits for b, b waits for a")))
    assert main.run(["resume"]) == Deadlock.code
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err == f"error: a waits for b, b waits for a\n  {Deadlock.hint}\n"
    assert main.run(["resume", "--json"]) == Deadlock.code
    shown = capsys.readouterr()
    assert shown.err == ""
    assert json.loads(shown.out) == {
        "ok": False,
        "command": "resume",
        "error": {
            "code": Deadlock.code,
            "name": "Deadlock",
            "message": "a waits for b, b waits for a",
            "hint": Deadlock.hint,
        },
    }


def test_escape_codes_in_an_error_are_harmless(command, capsys):
    command(_raising(Deadlock("\x1b[2Jevil\x07")))
    main.run(["resume"])
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [["lst"], ["list", "--nope"], ["show"], ["daemon"], ["daemon", "strat"], ["escalation", "four"]]
)
def test_a_wrong_command_line_is_code_2(argv, capsys):
    assert main.run(argv) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("error: ") and "--help" in shown.err
    assert main.run([*argv, "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["error"]["code"], found["error"]["name"]) == (False, 2, "UsageError")


def test_a_mistyped_command_suggests_the_right_one(capsys):
    main.run(["lst"])
    assert "'list'" in capsys.readouterr().err


def test_ctrl_c_is_130(command, capsys):
    command(_raising(KeyboardInterrupt()))
    assert main.run(["resume"]) == 130


def test_a_bug_is_70_with_its_traceback_in_a_file(command, capsys, tmp_path, monkeypatch):
    folder = tmp_path / ".nobrakes"
    folder.mkdir()
    (folder / "config.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOBRAKES_HOME", raising=False)
    command(_raising(ZeroDivisionError("boom")))
    assert main.run(["resume"]) == 70
    err = capsys.readouterr().err
    assert "ZeroDivisionError: boom" in err and "Traceback" not in err
    [crash] = folder.glob("crash-*.txt")
    assert "Traceback" in crash.read_text() and crash.name in err
    assert main.run(["--debug", "resume"]) == 70
    assert "Traceback" in capsys.readouterr().err
    assert main.run(["resume", "--json"]) == 70
    assert json.loads(capsys.readouterr().out)["error"]["code"] == 70


CHANGING = ["resume", "pause", "init", "answer", "undo", "plan apply", "commit-strategy", "run", "daemon start"]


@pytest.mark.parametrize("words", CHANGING)
def test_an_agent_may_not_change_anything(words, command, capsys, monkeypatch):
    called = []

    def does():
        """Help."""
        called.append(1)
        return said({}, "")

    command(does)
    monkeypatch.setenv("NOBRAKES_TOKEN", "t")
    assert entry(words).changes
    assert main.run(words.split()) == 17
    assert "nobrakes agent escalate" in capsys.readouterr().err and not called
    monkeypatch.delenv("NOBRAKES_TOKEN")
    assert main.run(words.split()) == 0 and called


def test_version(capsys):
    from nobrakes import __version__

    assert main.run(["--version"]) == 0
    assert re.fullmatch(rf"nobrakes {__version__} \([0-9a-f]{{12}}\)\n", capsys.readouterr().out)


def test_completion_knows_the_commands(capsys, monkeypatch):
    monkeypatch.setenv("_NOBRAKES_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "nobrakes daemon st")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit) as end:
        main.run([])
    assert end.value.code == 0
    assert {"start", "stop", "status"} <= set(capsys.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.parametrize(("argv", "code"), [(["version"], 141), (["--help"], 1)])
def test_nobody_reads_any_more(argv, code, tmp_path):
    program = f"import sys; from nobrakes.cli.main import run; sys.exit(run({argv!r}))"
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (code, b"")


def test_a_json_flag_after_two_dashes_is_text(capsys):
    assert main.run(["lst", "--", "--json"]) == 2
    assert capsys.readouterr().err.startswith("error: ")
