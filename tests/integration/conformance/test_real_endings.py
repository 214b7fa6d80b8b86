"""How the real CLIs end when the API refuses, when they are stopped, and when they try to get rid of their guard.

For each: the right outcome, a session that can be gone on with where it is worth that, no key in what they wrote.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import TABLE, Session
from nobrakes.beads.model import Outcome as O
from nobrakes.conformance import DUMMY, TRIALS, Dialect
from tests.integration.claude.conftest import CLI, own_network
from tests.support.real_clis import CODEX, GEMINI

PROGRAM = Path(__file__).parents[2] / "support" / "one_run.py"
REAL = {"claude": CLI, "codex": CODEX, "gemini": GEMINI}
MARKS = {name: getattr(pytest.mark, name) for name in REAL}
DONE = {"text": "It is done.\n\nNOBRAKES: COMPLETED"}
EACH = [pytest.param(name, marks=MARKS[name]) for name in REAL]


def play(folder: Path, name: str, steps: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    """One run in a network of its own; what came of it."""
    executable = REAL[name]
    if executable is None:
        pytest.skip(f"no {name}: run .ci/run once, or set NOBRAKES_{name.upper()} to an executable")
    own = {"name": name, "executable": executable, "folder": str(folder / "ground"), "steps": steps, "env": {}}
    own["env"] = {"CLAUDE_CODE_MAX_RETRIES": "1"} if name == "claude" else {}
    own["env"] |= spec.pop("more_env", {})
    (folder / "spec.json").write_text(json.dumps({**own, "own_network": bool(own_network()), **spec}))
    argv = [*own_network(), sys.executable, str(PROGRAM), str(folder / "spec.json")]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def tool(name: str, command: str) -> dict[str, Any]:
    return {"tools": [list(Dialect(name, "", 0, TRIALS[name]).shell(command))]}


REFUSALS = [
    ("claude", 429, "rate_limit_error", "Number of requests has exceeded your rate limit", O.RATE_LIMITED),
    ("claude", 529, "overloaded_error", "Overloaded", O.PROVIDER_DOWN),
    ("claude", 500, "api_error", "Internal server error", O.PROVIDER_DOWN),
    ("claude", 403, "permission_error", "Not allowed", O.AUTH),
    ("claude", 400, "invalid_request_error", "Your credit balance is too low to access the API.", O.BILLING),
    ("claude", 400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum", O.CONTEXT_OVERFLOW),
    ("claude", 404, "not_found_error", "model: claude-sonnet-4-5", O.MODEL_UNAVAILABLE),
    ("codex", 401, "invalid_api_key", "Incorrect API key provided", O.AUTH),
    ("codex", 403, "unsupported_country", "Country not supported", O.AUTH),
    ("codex", 429, "rate_limit_exceeded", "Too many requests", O.RATE_LIMITED),
    ("codex", 500, "server_error", "boom", O.PROVIDER_DOWN),
    ("gemini", 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", O.AUTH),
    ("gemini", 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", O.AUTH),
    ("gemini", 403, "PERMISSION_DENIED", "Permission denied", O.AUTH),
    ("gemini", 404, "NOT_FOUND", "models/gemini-2.5-pro is not found", O.MODEL_UNAVAILABLE),
    ("gemini", 400, "INVALID_ARGUMENT", "The input token count (2) exceeds the maximum number of tokens allowed (1).",
     O.CONTEXT_OVERFLOW),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "status", "kind", "message", "expected"),
    [pytest.param(*row, marks=MARKS[row[0]], id=f"{row[0]}: {row[1]} {row[4].value}") for row in REFUSALS],
)
def test_what_the_api_refuses(tmp_path: Path, name: str, status: int, kind: str, message: str, expected: O) -> None:
    error = {"status": status, "type": kind, "message": message}
    ran = play(tmp_path, name, [error])["first"]
    assert ran["outcome"] == expected.value, ran
    assert 1 <= ran["requests"] <= 30
    assert DUMMY not in ran["output"] + ran["errors"]
    if TABLE[expected].session is Session.FRESH:
        assert ran["session"] is None


@pytest.mark.claude
def test_nobody_who_listens_is_an_outage(tmp_path: Path) -> None:
    ran = play(tmp_path, "claude", [DONE], nobody=True)["first"]
    assert ran["outcome"] == O.NETWORK.value, ran


WAITS = (
    "python3 -c \"import os, time; file = open('new', 'w'); file.write(f'{os.getpid()}\\n'); file.close(); "
    "os.rename('new', 'waits'); time.sleep(600)\""
)


@pytest.mark.parametrize("name", EACH)
def test_who_is_stopped_at_work_leaves_nothing_and_can_go_on(tmp_path: Path, name: str) -> None:
    found = play(tmp_path, name, [tool(name, WAITS), DONE], stop="waits", then=[DONE])
    assert found["first"]["outcome"] == O.LOST.value, found["first"]  # who is stopped has no exit code
    assert found["left"] == []
    assert found["second"]["outcome"] == O.COMPLETED.value, found["second"]
    assert "pomegranate" in found["second"]["told"]
    assert found["second"]["session"] == found["first"]["session"]


@pytest.mark.claude
def test_work_in_the_background_does_not_outlive_the_turn_and_there_is_one_result(tmp_path: Path) -> None:
    quiet = WAITS.replace("time.sleep(600)", "time.sleep(3)")
    step = {"tools": [["Bash", {"command": quiet, "run_in_background": True}]]}
    found = play(tmp_path, "claude", [step, DONE])
    assert found["first"]["outcome"] == O.COMPLETED.value, found["first"]
    assert sum('"type":"result"' in line for line in found["first"]["output"].splitlines()) == 1


@pytest.mark.claude
def test_hooks_that_are_switched_off_at_work_stay_on(tmp_path: Path) -> None:
    off = '{"disableAllHooks": true}'
    tampers = [
        tool("claude", f"mkdir -p .claude && echo '{off}' >.claude/{name}")
        for name in ("settings.local.json", "settings.json")
    ]
    tampers.append(tool("claude", f"mkdir -p ~/.claude && echo '{off}' >~/.claude/settings.json"))
    found = play(tmp_path, "claude", [*tampers, tool("claude", "git push; echo x >escaped"), DONE])
    assert found["first"]["outcome"] == O.COMPLETED.value, found["first"]
    assert (Path(found["workspace"]) / ".claude" / "settings.local.json").exists()
    assert not (Path(found["workspace"]) / "escaped").exists()
    assert "nobrakes refuses this" in found["first"]["told"]


@pytest.mark.parametrize("name", EACH)
def test_its_own_permissions_let_through_the_contract_git_and_edits_and_nothing_else(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "ground" / "outside"
    steps = [
        {"tools": [list(Dialect(name, "", 0, TRIALS[name]).write(f"{tmp_path}/ground/workspace", "made", "made"))]},
        tool(name, "git add made && git commit -q -m Made"),
        tool(name, "python3 -m unittest --help"),
        tool(name, f"python3 -c \"open('{outside}', 'w')\""),
        DONE,
    ]
    permitted = [["git"], ["nobrakes"], ["python3", "-m", "unittest"]]
    found = play(tmp_path, name, steps, permitted=permitted)
    ran = found["first"]
    assert ran["outcome"] == O.COMPLETED.value, ran
    shown = subprocess.run(["git", "show", "HEAD:made"], cwd=found["workspace"], capture_output=True, text=True)
    assert shown.stdout.strip() == "made", ran["output"]
    assert "usage: python3 -m unittest" in ran["told"], ran["output"]
    assert not outside.exists()
