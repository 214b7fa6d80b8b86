"""A config.toml that is empty or broken: whoever only looks gets an answer, and is told in a line what is wrong."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.cli import entry, hot, main
from nobrakes.command_table import COMMANDS
from nobrakes.errors import ConfigError

OTHERS = {"config", "doctor", "plan example", "prompt", "watch", "mcp", "version", "help"}
OTHERS |= {"forge show", "forge scan", "pr show"}
OTHERS |= {"project list", "project show", "project status", "project whats-next"}  # above all repositories
"""Config answers with what is wrong, and a briefing, the archive's rule and what is followed live need it to be right."""
WITH = dict.fromkeys(("show", "history", "diff", "forge reviews"), "BEAD")
WITH |= {"escalation": "1", "session show": "1", "config get": "main"}
LOOKING = [one.words for one in COMMANDS if not (one.changes or one.hidden or one.words.startswith("agent"))]
READING = [f"{words} {WITH.get(words, '')}".strip() for words in LOOKING if words not in OTHERS]
READING += ["review BEAD", "providers"]
"""Every command that only shows, and two ways to look besides: a new one is here by itself."""
WRONG = {"empty": "", "no-toml": "x = = 3\n", "no-setting": "[review]\nnope = 1\n", "half": '[review]\nmerge = "squ'}
INVALID = "config.toml is not valid, so no work starts"
ENTRY = re.compile(rf"^\n?{re.escape(INVALID)}\n(?:  .*\n)+", re.MULTILINE)

Run = Callable[[str], tuple[int, str, str]]


def called(line: str) -> int:
    """As the console script calls it."""
    words = line.split()
    hot_one = hot.run(words) if words[0] in entry.HOT else None
    return main.run(words) if hot_one is None else hot_one


@pytest.fixture
def bead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(tmp_path)
    for words in (
        "init -q -b main",
        "config user.name You",
        "config user.email you@example.invalid",
        "commit -q --allow-empty -m Begin",
    ):
        subprocess.run(["git", *words.split()], check=True)
    assert called("init --test true") == called("session start What? --agent script") == 0
    assert called("add One --json") == 0
    said = capfd.readouterr().out.strip().splitlines()[-1]
    return str(json.loads(said)["data"]["id"])


@pytest.fixture
def run(bead: str, capfd: pytest.CaptureFixture[str]) -> Run:
    def one(line: str) -> tuple[int, str, str]:
        code = called(line.replace("BEAD", bead))
        said = capfd.readouterr()
        return code, said.out, said.err

    return one


@pytest.mark.slow
@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_whoever_looks_gets_an_answer_and_a_line(text: str, run: Run) -> None:
    config = Path(".nobrakes/config.toml")
    good = config.read_text()
    before = {line: run(line) for line in READING}
    assert not [line for line, (_, _, told) in before.items() if "config.toml" in told]
    config.write_text(text)
    for line in READING:
        code, said, told = run(line)
        assert code == before[line][0], (line, told)
        assert [word for word in told.splitlines() if "config.toml" in word and word.startswith("note: ")], line
        if code == 0 and line != "status":
            if line in ("board", "escalations"):  # they list what waits for a person: this too, and nothing else
                (entry,) = re.findall(ENTRY, said)
                reason = told.strip().removeprefix("note: ")
                assert " ".join(entry.split()) == f"{INVALID} {reason} mend {config} type: nobrakes config --check"
                said = said.replace(entry, "")
            assert said == before[line][1], line
    assert json.loads(run("status --json")[1])["ok"]
    code, said, _ = run("doctor")
    assert code == 1 and "config.toml" in said
    if text:
        assert run("run")[0] == run("config")[0] == ConfigError.code, "what acts by the settings refuses"
    config.write_text(good)
    assert run("list") == before["list"] and run("ready") == before["ready"]


def test_what_is_shown_meanwhile_is_what_held_before(run: Run) -> None:
    config = Path(".nobrakes/config.toml")
    assert '"main": "main"' in run("status --json")[1].replace('":"', '": "')
    config.write_text(config.read_text().replace('name = "test"', 'name = "others"') + "\n[limits]\ndoers = 7\n")
    run("status")
    config.write_text(config.read_text() + "\n[limits")
    _, said, told = run("providers --json")
    assert "the previous settings" in told and json.loads(said)["ok"]
    Path(".nobrakes/config.checked").unlink()
    assert "every setting's default" in run("providers")[2]


def test_a_database_that_is_gone_is_made_again_for_who_looks(run: Run) -> None:
    Path(".nobrakes/config.toml").write_text("x = = 3\n")
    Path(".nobrakes/nobrakes.db").unlink()
    code, said, told = run("list")
    assert code == 0 and "One" in said and "config.toml" in told
