"""Our launch, verdict and guard against the real CLI."""

from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.agents.claude import Claude
from nobrakes.beads.model import Outcome
from nobrakes.config.sections import AgentSettings

from .conftest import Bench

pytestmark = pytest.mark.claude

DONE = {"text": "All is done.\n\nNOBRAKES: COMPLETED"}


def test_work_is_written_committed_and_judged_complete(bench: Bench) -> None:
    commit = "git add -A && git commit -q -m 'Say hello' -m 'Bead: a1'"
    write = {"file_path": str(bench.workspace / "src.py"), "content": "print('hello')\n"}
    assignment = bench.assignment()
    ran = bench.run([{"tools": [["Write", write]]}, {"tools": [["Bash", {"command": commit}]]}, DONE], assignment)
    assert ran.verdict.outcome is Outcome.COMPLETED, (ran.verdict, ran.errors)
    assert ran.verdict.session == assignment.session
    assert ran.verdict.cost_usd is not None and ran.verdict.tokens["output_tokens"] > 0
    assert bench.git("show", "HEAD:src.py") == "print('hello')\n"
    assert "Bead: a1" in bench.git("log", "-1", "--format=%B")
    first = ran.requests[0]["body"]
    assert sorted(tool["name"] for tool in first["tools"]) == sorted(assignment.tools)
    assert "You are a Doer." in str(first["system"])
    assert first["max_tokens"] > 1
    assert Claude().refuses(ran.out) is None


def test_the_guard_refuses_another_branch_and_a_file_outside(bench: Bench) -> None:
    outside = bench.folder / "outside.txt"
    hostile = bench.workspace / ".claude" / "settings.local.json"
    tries = [
        ["Bash", {"command": "cd . && git checkout main"}],
        ["Write", {"file_path": str(outside), "content": "x"}],
        ["Bash", {"command": "git -C . switch main"}],
    ]
    hostile.parent.mkdir()
    hostile.write_text('{"disableAllHooks": true}')
    ran = bench.run([{"tools": [one]} for one in tries] + [DONE], bench.assignment())
    assert ran.verdict.outcome is Outcome.COMPLETED
    assert bench.git("branch", "--show-current").strip() == "task/bead-a1"
    assert not outside.exists()
    assert ran.told().count("nobrakes refuses this") >= 3


def test_a_hanging_or_missing_guard_refuses_every_tool_and_the_run(bench: Bench) -> None:
    write = {"file_path": str(bench.workspace / "src.py"), "content": "x"}
    ran = bench.run([{"tools": [["Write", write]]}, DONE], bench.assignment(guard=("/nowhere/guard",)))
    assert ran.verdict.outcome is Outcome.GUARD_FAILED
    assert "guard did not answer" in ran.verdict.detail
    assert not (bench.workspace / "src.py").exists()
    assert Claude().refuses(ran.out) is not None


def test_without_its_environment_the_guard_gives_no_canary(bench: Bench) -> None:
    whole = bench.assignment()
    ran = bench.run([DONE], replace(whole, env={k: v for k, v in whole.env.items() if k != "NOBRAKES_TESTS"}))
    assert ran.verdict.outcome is Outcome.GUARD_FAILED


def test_a_wrong_key_is_auth(bench: Bench) -> None:
    error = {"status": 401, "type": "authentication_error", "message": "invalid x-api-key"}
    ran = bench.run([error], bench.assignment(), {"CLAUDE_CODE_MAX_RETRIES": "1"})
    assert ran.verdict.outcome is Outcome.AUTH, ran.verdict


def test_the_turn_limit_ends_the_run(bench: Bench) -> None:
    whole = bench.assignment()
    claude = replace(whole.settings.claude, max_turns=2)  # type: ignore[attr-defined]
    limited = replace(whole, settings=AgentSettings(claude=claude))
    ran = bench.run([{"tools": [["Bash", {"command": "true"}]]}], limited)
    assert ran.verdict.outcome is Outcome.TURN_LIMIT, ran.verdict
    assert ran.code == 1


def test_a_session_is_resumed_with_a_prompt_from_a_file(bench: Bench) -> None:
    first = bench.assignment()
    bench.run([{"text": "NOBRAKES: BLOCKED"}], first)
    long = "remember " * 12_000
    ran = bench.run([DONE], replace(first, resume=True, prompt=long))
    assert ran.verdict.outcome is Outcome.COMPLETED, (ran.verdict, ran.errors)
    assert "- do it" in ran.told() and "remember remember" in ran.told()


def test_a_session_that_is_gone_is_not_the_beads_fault(bench: Bench) -> None:
    ran = bench.run([DONE], bench.assignment(resume=True))
    assert ran.verdict.outcome is Outcome.SESSION_LOST, (ran.verdict, ran.errors)
    assert ran.verdict.session is None


def test_nothing_is_written_into_the_humans_home(bench: Bench) -> None:
    bench.run([DONE], bench.assignment())
    assert (bench.folder / ".nobrakes" / "agents" / "claude" / "a1" / "projects").is_dir()
    assert not list(Path(bench.folder / "home").glob(".claude/projects/*"))
