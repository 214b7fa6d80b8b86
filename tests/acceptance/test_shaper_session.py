"""A person plans with the Shaper in the real Claude Code CLI, at a terminal, against a scripted model on the loopback.

The person has worked in this repository with Claude Code before. They read what is proposed, approve it by
/commit-strategy and leave. The scripted model tries what a Shaper must not do; nothing of the session is replaced.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.claude.conftest import CLI, STUB, own_network

pytestmark = pytest.mark.claude

NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
TERMINAL = Path(__file__).parents[1] / "support" / "terminal.py"
KEY = "dummy"
CONFIG = f"""
main = "main"
[[checks]]
name = "test"
command = "make test"
[agents.claude]
executable = {json.dumps(CLI)}
model = "claude-sonnet-4-5"
base_url = "http://127.0.0.1:PORT/s/run"
"""
ENTER, ESCAPE = "\r", "\x1b"
DRIVER = """
import os, pathlib, runpy, sys
config = pathlib.Path(os.environ["CONFIG"])
config.write_text(config.read_text().replace("PORT", os.environ["NB_PORT"]))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
HELLO = "beads:\n  - id: hello\n    title: Greet people\n    needs: [begin]"
BYE = "beads:\n  - id: bye\n    title: Take leave of people"
LIVE = "beads:\n  - id: begin\n    title: Something else"


def bash(*commands: str) -> dict[str, Any]:
    return {"tools": [["Bash", {"command": command}] for command in commands]}


def propose(plan: str) -> str:
    return f"nobrakes propose - <<'PLAN'\n{plan}\nPLAN"


@dataclass
class Person:
    """Somebody who has used Claude Code before, in a folder of a repository whose path has blanks."""

    folder: Path
    repository: Path

    def knows_claude(self, *, trusts: bool) -> None:
        """Let them have used Claude Code before; `trusts`: in this repository."""
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {str(self.repository): {"hasTrustDialogAccepted": trusts}},
        }
        (self.folder / "home" / ".claude").mkdir(parents=True)
        (self.folder / "home" / ".claude.json").write_text(json.dumps(known))

    def allows_everything(self) -> None:
        """Let their own settings allow every command and every edit without asking."""
        settings = {"permissions": {"allow": ["Bash", "Bash(nobrakes:*)", "Edit"], "defaultMode": "acceptEdits"}}
        (self.folder / "home" / ".claude" / "settings.json").write_text(json.dumps(settings))

    def run(self, *argv: str) -> str:
        done = subprocess.run(argv, cwd=self.repository, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def beads(self) -> dict[str, str]:
        return {bead["id"]: bead["status"] for bead in json.loads(self.run(NOBRAKES, "list", "--json"))["data"]}

    def talk(self, acts: list[tuple[str, str]], steps: list[dict[str, Any]], *argv: str) -> tuple[int, str, list[Any]]:
        """(exit code, what was shown, what the model was asked) of a session."""
        (self.repository / ".nobrakes" / "config.toml").write_text(CONFIG)
        play = {"argv": [NOBRAKES, *argv], "acts": acts, "log": str(self.folder / "shown"), "seconds": 40}
        (self.folder / "play.json").write_text(json.dumps(play))
        spec = {
            "scripts": {"run": steps},
            "argv": [sys.executable, "-c", DRIVER, str(TERMINAL), str(self.folder / "play.json")],
            "env": {
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "HOME": str(self.folder / "home"),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "ANTHROPIC_API_KEY": KEY,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "CONFIG": str(self.repository / ".nobrakes" / "config.toml"),
                "NB_PORT": "{port}",
            },
            "cwd": str(self.repository / "src" / "deep"),
            "stdin": os.devnull,
            "stdout": str(self.folder / "stdout"),
            "stderr": str(self.folder / "stderr"),
            "log": str(self.folder / "log"),
            "seconds": 100,
            "own_network": bool(own_network()),
        }
        (self.folder / "spec.json").write_text(json.dumps(spec))
        argv_ = [*own_network(), sys.executable, str(STUB), str(self.folder / "spec.json")]
        code = subprocess.run(argv_, timeout=120).returncode
        printed = (self.folder / "stdout").read_text() + (self.folder / "stderr").read_text()
        assert code != 124, printed
        return code, (self.folder / "shown").read_text(), json.loads((self.folder / "log").read_text())


@pytest.fixture
def person(tmp_path: Path) -> Person:
    if CLI is None:
        pytest.skip("no Claude Code CLI: install claude-agent-sdk, or set NOBRAKES_CLAUDE to an executable")
    person = Person(tmp_path, tmp_path / "a repository")
    (person.repository / "src" / "deep").mkdir(parents=True)
    (person.repository / "src" / "deep" / "app.py").write_text("x = 1\n")
    person.run("git", "init", "-q", "-b", "main")
    person.run("git", "config", "user.name", "You")
    person.run("git", "config", "user.email", "you@example.invalid")
    person.run("git", "add", "-A")
    person.run("git", "commit", "-q", "-m", "Begin")
    person.run(NOBRAKES, "init", "--test", "make test")
    person.run(NOBRAKES, "add", "The beginning", "--id", "begin")
    return person


LEAVE = ("Exit the CLI", ENTER)


def results(requests: list[Any]) -> str:
    """What the tools told the model."""
    blocks = [block for message in requests[-1]["body"]["messages"] for block in message["content"]]
    return json.dumps([block for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"])


def test_a_person_plans_with_the_shaper_approves_and_leaves(person: Person) -> None:
    person.knows_claude(trusts=True)
    before = person.run("git", "rev-parse", "main").strip()
    forbidden = [
        "git commit --allow-empty -m x",
        "echo 2 > ../../src/deep/app.py",
        "git -C ../.. tag mine",
        propose(LIVE),
    ]
    steps = [
        bash("nobrakes list --json", propose(HELLO), "nobrakes show hello --json"),
        bash(*forbidden),
        {"tools": [["Write", {"file_path": str(person.repository / "src/deep/app.py"), "content": "x = 2"}]]},
        {"text": "Which greeting do you want?"},
        bash("nobrakes commit-strategy --dry-run"),
        bash("nobrakes commit-strategy --yes"),
        bash(propose(BYE)),
        {"text": "Now it lives."},
    ]
    acts = [
        ("Which greeting do you want?", "/commit-strategy"),
        ("Approve what was proposed", ENTER),
        ("Do you want to proceed?", ENTER),
        ("Now it lives.", "/exit"),
        LEAVE,
    ]
    code, shown, requests = person.talk(acts, steps, "shape")
    assert code == 0, shown

    first = requests[0]["body"]
    system = json.dumps(first["system"])
    assert "You are the Shaper." in system and "- begin [needs_tests, task, P2] The beginning" in system
    assert "make test" in system
    assert {"Bash", "Read", "Glob", "Grep"} <= {tool["name"] for tool in first["tools"]}
    assert not {"Edit", "Write", "NotebookEdit"} & {tool["name"] for tool in first["tools"]}

    told = results(requests)
    assert told.count("nobrakes refuses this") == 3 and "proposed for: begin" in told
    assert (person.repository / "src" / "deep" / "app.py").read_text() == "x = 1\n"
    assert person.run("git", "tag") == ""
    assert '\\"status\\":\\"draft\\"' in told  # as it was proposed
    assert "1 draft would go live" in told and "1 bead went live" in told

    approval = next(r for r in requests if "The human approves the plan" in json.dumps(r["body"]["messages"][-1]))
    assert "nobrakes commit-strategy --yes" in json.dumps(approval["body"]["messages"][-1])
    assert person.beads() == {"begin": "needs_tests", "hello": "needs_tests", "bye": "draft"}
    assert person.run("git", "log", "--format=%s", f"{before}..main").splitlines() == [
        "Strategy: 1 new bead, 1 changed bead"
    ]
    assert "1 bead went live. To start the work: nobrakes run" in shown
    assert "1 draft needs your approval" in shown and "Take leave of people" in shown


def test_what_was_proposed_stays_when_the_person_declines_and_another_session_goes_on(person: Person) -> None:
    person.knows_claude(trusts=True)
    person.allows_everything()
    steps = [
        bash(propose(HELLO)),
        {"text": "Proposed it."},
        bash("nobrakes commit-strategy --yes"),
        {"text": "Never said."},
    ]
    acts = [
        ("Proposed it.", "/commit-strategy"),
        ("Approve what was proposed", ENTER),
        ("Esc to cancel", ESCAPE),
        ("What should Claude do instead?", "/exit"),
        LEAVE,
    ]
    code, shown, _ = person.talk(acts, steps, "shape")
    assert code == 0 and "1 draft needs your approval" in shown, shown
    assert person.beads() == {"begin": "needs_tests", "hello": "draft"}

    acts = [("Here we are again.", "/exit"), LEAVE]
    code, shown, requests = person.talk(acts, [{"text": "Here we are again."}], "shape", "--continue")
    assert code == 0, shown
    assert "Proposed it." in json.dumps(requests[0]["body"]["messages"])


def test_who_does_not_trust_the_folder_is_told_that_the_session_failed(person: Person) -> None:
    person.knows_claude(trusts=False)
    code, shown, requests = person.talk([("Enter to confirm", ENTER)], [{"text": "Never asked."}], "reshape")
    assert code == 32 and "the Shaper's session ended with exit code 1" in shown
    assert requests == [] and person.beads() == {"begin": "needs_tests"}
