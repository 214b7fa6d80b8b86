"""Our ACP client against agents that behave in every way, as processes: answers, endings, signals, sessions."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.acp import Acp
from nobrakes.agents.adapter import AgentEnd, Assignment, Verdict, guard_argv
from nobrakes.beads.model import Outcome as O
from nobrakes.beads.model import Role
from nobrakes.config.sections import AcpSettings, AgentSettings
from tests.support.scripted import lives, until

pytestmark = pytest.mark.slow

AGENT = Path(__file__).parents[2] / "support" / "acp_agent.py"
DONE = ["say", "It is done.\n\nNOBRAKES: COMPLETED"]


class Bench:
    """A workspace on its branch, and agents that do what a script says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        for made in (self.workspace, folder / "home", folder / "sessions"):
            made.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "task/a1"], cwd=self.workspace, check=True)
        self.runs = 0
        self.script: dict[str, Any] = {}

    def assignment(self, *steps: list[Any], **script: Any) -> Assignment:
        """An attempt whose agent takes these steps."""
        self.runs += 1
        run = self.folder / f"run-{self.runs}"
        (run / "acp").mkdir(parents=True)
        path = run / "script.json"
        path.write_text(json.dumps({"turns": {"doer": steps}, "sessions": str(self.folder / "sessions"), **script}))
        (run / "prompt.md").write_text("- do it")
        return Assignment(
            role=Role.DOER, bead="a1", worker="Ada", attempt=1, prompt="- do it", prompt_file=str(run / "prompt.md"),
            workspace=str(self.workspace), folder=str(run), session="", resume=False,
            env={
                "PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "NOBRAKES_HOME": str(self.folder),
                "NOBRAKES_TOKEN": "token", "NOBRAKES_BRANCH": "task/a1", "NOBRAKES_TESTS": "tests/**",
                "NOBRAKES_GATES": "Makefile", "SECRET": "s",
            },
            settings=AgentSettings(acp=AcpSettings(command=(sys.executable, str(AGENT), str(path)))),
            system_prompt="You are a Doer.", guard=guard_argv(),
        )  # fmt: skip

    def start(self, given: Assignment, greets: bool = False) -> "subprocess.Popen[bytes]":
        """The client, with its files."""
        launch = Acp().launch(given)
        for name, content in launch.files.items():
            Path(given.folder, name).write_bytes(content)
        out, err = Path(given.folder, "out"), Path(given.folder, "err")
        with out.open("wb") as stdout, err.open("wb") as stderr:
            return subprocess.Popen(
                launch.greets if greets else launch.argv, env=dict(launch.env), cwd=self.workspace, stdin=subprocess.DEVNULL,
                stdout=stdout, stderr=stderr,
            )  # fmt: skip

    def ended(self, given: Assignment, child: "subprocess.Popen[bytes]") -> Verdict:
        """What its end means."""
        code = child.wait(60)
        self_test = Path(given.folder, "guard.ready")
        errors = Path(given.folder, "err").read_text()
        lines = self.said(given).encode().split(b"\n")
        return Acp().verdict(AgentEnd(code, lines, errors, self_test.read_text() if self_test.exists() else ""))

    def said(self, given: Assignment) -> str:
        return Path(given.folder, "out").read_text()

    def play(self, *steps: list[Any], **script: Any) -> tuple[Verdict, str]:
        """One whole run, and its output."""
        given = self.assignment(*steps, **script)
        verdict = self.ended(given, self.start(given))
        return verdict, self.said(given)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_work_is_judged_complete_with_session_tokens_and_cost(bench: Bench) -> None:
    verdict, said = bench.play(["think", "hm"], ["run", "echo made >a"], ["spend", 0.5], DONE)
    assert verdict.outcome is O.COMPLETED, (verdict, said)
    assert verdict.session and (bench.folder / "sessions" / verdict.session).exists()
    assert verdict.tokens == {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 5}
    assert verdict.cost_usd == 0.5
    known = json.loads((bench.folder / "sessions" / verdict.session).read_text())
    assert known["said"] == ["You are a Doer.\n- do it"]
    assert known["mcp"][0]["command"] == str(bench.folder / "bin" / "nobrakes")
    assert {one["name"]: one["value"] for one in known["mcp"][0]["env"]}["NOBRAKES_TOKEN"] == "token"


def test_the_guard_answers_what_the_agent_asks(bench: Bench) -> None:
    outside = str(bench.folder / "outside")
    _, said = bench.play(
        ["ask", "execute", "push", {"command": "git push"}],
        ["ask", "execute", "branch", {"command": ["git", "checkout", "main"]}],
        ["ask", "edit", "tests", {"path": "tests/test_a.py"}],
        ["ask", "edit", "outside", {"path": outside}],
        ["ask", "delete", "nothing named"],
        ["ask", "switch_mode", "mode"],
        ["ask", "execute", "status", {"command": "git status"}],
        ["ask", "edit", "code", {"path": "hello.py"}],
        ["ask", "other", "mcp tool", {"text": "x"}],
        DONE,
    )
    text = "".join(json.loads(line).get("text", "") for line in said.splitlines())
    refused = ["push", "branch", "tests", "outside", "nothing named", "mode"]
    for what in refused:
        assert f"{what}: no\n" in text
    for what in ("status", "code", "mcp tool"):
        assert f"{what}: yes\n" in text


def test_files_are_those_of_the_workspace(bench: Bench) -> None:
    (bench.folder / "secret").write_text("hidden words")
    (bench.workspace / "link").symlink_to(bench.folder)
    (bench.workspace / "mine").write_text("my words")
    _, said = bench.play(
        ["read", "mine"], ["read", "../secret"], ["read", "link/secret"], ["read", "/etc/passwd"], ["read", "no"],
        ["write", "new/a.py", "x"], ["write", "../b.py", "x"], ["write", "link/c.py", "x"], ["write", "Makefile", "x"],
        ["write", ".git/hooks/d", "x"], ["terminal"], DONE,
    )  # fmt: skip
    assert "my words" in said and "hidden words" not in said and "root:" not in said
    assert (bench.workspace / "new" / "a.py").read_text() == "x"
    written = [path.name for path in bench.folder.rglob("*.py")]
    assert written == ["a.py"] and not (bench.workspace / "Makefile").exists()
    assert not (bench.workspace / ".git" / "hooks" / "d").exists()
    assert "no terminal: -32601" in said and not (bench.workspace / "terminal").exists()


def test_a_session_is_gone_on_with_and_its_past_is_not_told_again(bench: Bench) -> None:
    first, _ = bench.play(["say", "NOBRAKES: BLOCKED"])
    assert first.outcome is O.BLOCKED and first.session
    again = replace(bench.assignment(DONE), session=first.session, resume=True)
    verdict = bench.ended(again, bench.start(again))
    assert (verdict.outcome, verdict.session) == (O.COMPLETED, first.session)
    assert "You are a Doer" not in bench.said(again)
    assert len(json.loads((bench.folder / "sessions" / first.session).read_text())["said"]) == 2


@pytest.mark.parametrize("script", [{}, {"loads": False}])
def test_a_session_that_is_gone_is_never_silently_a_new_one(bench: Bench, script: dict[str, Any]) -> None:
    gone = replace(bench.assignment(DONE, **script), session="00000000-0000-4000-8000-000000000007", resume=True)
    verdict = bench.ended(gone, bench.start(gone))
    assert (verdict.outcome, verdict.session) == (O.SESSION_LOST, None), bench.said(gone)


def test_who_cannot_load_a_session_is_not_asked_to(bench: Bench) -> None:
    verdict, _ = bench.play(DONE, loads=False)
    assert (verdict.outcome, verdict.session) == (O.COMPLETED, None)


@pytest.mark.parametrize(
    ("steps", "script", "outcome"),
    [
        ([["say", "x"], ["stop", "max_tokens"]], {}, O.CONTEXT_OVERFLOW),
        ([["say", "x"], ["stop", "max_turn_requests"]], {}, O.TURN_LIMIT),
        ([["stop", "refusal"]], {}, O.INVALID_REQUEST),
        ([], {}, O.EMPTY_OUTPUT),
        ([["say", "x"], ["error", -32603, "API Error: 429 Too Many Requests"]], {}, O.RATE_LIMITED),
        ([["say", "x"], ["die", 3]], {}, O.CRASHED),
        ([DONE], {"login": True}, O.AUTH),
        ([DONE], {"version": 99}, O.VERSION_UNSUPPORTED),
    ],
)
def test_endings(bench: Bench, steps: list[list[Any]], script: dict[str, Any], outcome: O) -> None:
    verdict, said = bench.play(*steps, **script)
    assert verdict.outcome is outcome, (verdict, said)


def test_an_agent_that_is_not_there_or_says_no_word_of_the_protocol(bench: Bench) -> None:
    for command, outcome in [
        (("/nowhere/agent",), O.MISSING_EXECUTABLE),
        ((str(bench.folder),), O.BAD_CONFIGURATION),
        (("echo", "Usage: agent"), O.BAD_CONFIGURATION),
    ]:
        given = bench.assignment()
        given = replace(given, settings=AgentSettings(acp=AcpSettings(command=command)))
        assert bench.ended(given, bench.start(given)).outcome is outcome


def test_an_agent_that_is_greeted_is_given_no_prompt(bench: Bench) -> None:
    given = bench.assignment(["run", "touch worked"], DONE, login=True)
    assert bench.start(given, greets=True).wait(60) == 0, bench.said(given)
    assert '"session"' not in bench.said(given) and not (bench.workspace / "worked").exists()
    silent = replace(given, settings=AgentSettings(acp=AcpSettings(command=("echo", "Usage: agent"))))
    assert bench.ended(silent, bench.start(silent, greets=True)).outcome is O.BAD_CONFIGURATION


def test_without_its_guard_no_agent_is_started(bench: Bench) -> None:
    given = bench.assignment(["run", "touch started"], DONE)
    given = replace(given, guard=("/nowhere/guard",))
    assert bench.ended(given, bench.start(given)).outcome is O.GUARD_FAILED
    assert not (bench.workspace / "started").exists()


def test_term_cancels_the_turn(bench: Bench) -> None:
    given = bench.assignment(["wait"], DONE)
    child = bench.start(given)
    until(lambda: "waiting" in bench.said(given))
    child.send_signal(signal.SIGTERM)
    verdict = bench.ended(given, child)
    assert (verdict.outcome, child.returncode) == (O.INTERRUPTED, 130), verdict
    assert verdict.session


def test_an_agent_that_does_not_hear_is_killed_with_its_children(bench: Bench) -> None:
    pid = bench.workspace / "pid"
    spawn = f"trap '' TERM; echo $$ >{pid}.new; mv {pid}.new {pid}; while :; do sleep 1; done"
    given = bench.assignment(["leave_here", spawn], ["hang"], deaf=True)
    child = bench.start(given)
    until(lambda: pid.exists() and "hanging" in bench.said(given))
    child.send_signal(signal.SIGTERM)
    assert bench.ended(given, child).outcome is O.INTERRUPTED
    assert not lives(int(pid.read_text()))
