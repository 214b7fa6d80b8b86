"""The hot dispatcher reads what it is sure of, and nothing else."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import Bead
from nobrakes.cli import hot, main
from nobrakes.cli.screen import read_words
from nobrakes.store import create_store

HEAVY = ("json", "re", "typing", "enum", "typer", "pydantic", "networkx", "git", "sqlmodel", "dataclasses", "inspect")


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ([], ({}, [])),
        (["a", "--json"], ({"--json": ""}, ["a"])),
        (["--limit", "5"], ({"--limit": "5"}, [])),
        (["--limit=5"], ({"--limit": "5"}, [])),
        (["--limit="], ({"--limit": ""}, [])),
        (["-"], ({}, ["-"])),
        (["--", "--json"], ({}, ["--json"])),
        (["--limit", "--json"], ({"--limit": "--json"}, [])),
    ],
)
def test_what_is_read(words, read):
    assert read_words(words, ("--limit",), ("--json",)) == read


@pytest.mark.parametrize("words", [["--limit"], ["--nope"], ["--json=1"], ["--json", "--json"], ["-x"], ["--help"]])
def test_what_is_left_to_the_full_command_line(words):
    assert read_words(words, ("--limit",), ("--json",)) is None


@given(st.lists(st.sampled_from(["a", "-", "--", "--json", "--limit", "--limit=3", "--x", "5", ""]), max_size=6))
def test_no_word_is_lost_and_none_is_made_up(words):
    read = read_words(words, ("--limit",), ("--json",))
    if read is None:
        return
    options, texts = read
    assert all(text in words for text in texts) and set(options) <= {"--json", "--limit"}
    spoken = len(texts) + sum(
        2 if name == "--limit" and f"--limit={value}" not in words else 1 for name, value in options.items()
    )
    assert spoken + _separates(words) == len(words)


def _separates(words):
    """Whether a `--` separates: one that is not the value of the --limit before it."""
    left = iter(words)
    for word in left:
        if word == "--":
            return True
        if word == "--limit":
            next(left, None)
    return False


@pytest.mark.parametrize(
    "argv", [["ready", "--explain"], ["ready", "nb-1"], ["show"], ["show", "a", "b"], ["agent"], ["agent", "dance"],
             ["agent", "log"], ["ready", "--limit", "0", "--json"], ["ready", "-n", "x", "--json"],
             ["agent", "done", "sideways"], ["agent", "done", "failed", "--outcome", "blocked"]]
)  # fmt: skip
def test_the_unusual_falls_through_before_anything_is_touched(argv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOBRAKES_HOME", raising=False)
    assert hot.run(argv) is None


def test_the_dispatcher_imports_nothing_that_costs():
    code = (
        "import sys; before = set(sys.modules); import nobrakes.cli.entry, nobrakes.cli.hot; "
        f"print([m for m in sys.modules if m not in before and m.split('.')[0] in {HEAVY!r}])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("module", ["typer", "nobrakes.command_table", "nobrakes.cli.main"])
def test_ctrl_c_while_the_command_is_loaded_ends_it_without_a_traceback(module):
    begin = (
        "import os, sys; sys.argv = ['nobrakes', '--version']; from nobrakes.cli.entry import main; "
        f"sys.addaudithook(lambda name, args: name == 'import' and args[0] == {module!r} and os.kill(os.getpid(), 2)); "
        "sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"\ninterrupted\n")


def test_ctrl_c_that_a_class_turned_into_another_error_is_an_interruption(capsys):
    with pytest.raises(RuntimeError) as told:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()
    assert main.failed(["status"], told.value) == 130
    assert capsys.readouterr().err == "\ninterrupted\n"


@pytest.mark.parametrize("command", ["show", "list"])
def test_whatever_the_locale_cannot_write_is_escaped_and_json_stays_json(command, tmp_path):
    (tmp_path / ".nobrakes").mkdir()
    store = create_store(str(tmp_path / ".nobrakes" / "nobrakes.db"))
    store.put([Bead("nb-1", "Schön 😀")], [], "me")
    store.close()
    (tmp_path / ".nobrakes" / "config.toml").write_text("")
    env = os.environ | {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env["NOBRAKES_HOME"] = str(tmp_path / ".nobrakes")
    words = [sys.executable, "-m", "nobrakes", command, *(["nb-1"] if command == "show" else [])]
    text, as_json = (subprocess.run([*words, *more], capture_output=True, env=env) for more in ((), ("--json",)))
    assert text.returncode == 0 and rb"Sch\xf6n \U0001f600" in text.stdout, text
    [data] = [json.loads(as_json.stdout)["data"]] if command == "show" else json.loads(as_json.stdout)["data"]
    assert data["title"] == "Schön 😀"


@pytest.mark.parametrize("kept", ["", "{", "[" * 100_000, '{"values": 3}', '{"values": {"main": 7}}', "\udcff"])
def test_whatever_the_kept_settings_hold_what_is_ready_is_shown(kept, tmp_path, monkeypatch, capsys):
    folder = tmp_path / ".nobrakes"
    folder.mkdir()
    store = create_store(str(folder / "nobrakes.db"))
    store.put([Bead("nb-1", "First")], [], "me")
    store.close()
    (folder / "config.toml").write_text("")
    (folder / "config.checked").write_bytes(kept.encode("utf-8", "surrogateescape"))
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOBRAKES_HOME", str(folder))
    assert hot.run(["show", "nb-1"]) == 0
    assert "First" in capsys.readouterr().out
