"""The real Codex takes a bead from ready to merged main, against a scripted model on the loopback.

Nothing of the loop is replaced. What the guard must refuse is tried on the way, and is refused.
"""

import json
from pathlib import Path

import pytest

from tests.support.real_clis import CAP, CLAUDE, CODE, CODEX, DONE, NOBRAKES, TEST, committing, prepare, tool
from tests.support.sandboxes import in_both, in_sandbox, needs_sandbox

pytestmark = pytest.mark.codex


def patch(path: str, text: str) -> dict[str, object]:
    """A call of apply_patch that adds a file."""
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return tool("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")


def shell(command: str) -> dict[str, object]:
    return tool("exec_command", {"cmd": command})


def in_one_call(path: str, text: str) -> dict[str, object]:
    return shell(f"cat >{path} <<'X'\n{text}X\n{committing('Do it')}")


def commit(subject: str) -> dict[str, object]:
    return shell(committing(subject))


SLEEPS: dict[str, object] = {"tools": [["exec_command", {"cmd": "sleep 30", "yield_time_ms": 30000}]]}
DOES = [
    patch("tests/more.py", "x = 1"),  # refused: a Doer does not change tests
    shell("git push"),  # refused
    shell('echo "key:$CODEX_API_KEY$OPENAI_API_KEY:"'),
    patch("hello.py", CODE),
    commit("Greet"),
    {**shell("true"), "until": "mcp__nobrakes"},
    tool("mcp__nobrakes::progress", {"text": "greets"}),
    tool("mcp__nobrakes::notify", {"text": "Tea is ready."}),
    tool("mcp__nobrakes::done", {"outcome": "completed", "summary": "greet() is there"}),
    DONE,
]


def codex_settings() -> str:
    if CODEX is None:
        pytest.skip("no Codex: run .ci/run once, or set NOBRAKES_CODEX to an executable")
    url = "http://127.0.0.1:PORT/s/codex/v1"
    return f'\n[agents.codex]\nexecutable = {json.dumps(CODEX)}\nmodel = "gpt-5.5"\nbase_url = "{url}"\n'


@in_both
def test_codex_takes_a_bead_from_ready_to_merged(tmp_path: Path, sandbox: str) -> None:
    settings = codex_settings()
    field = prepare(tmp_path, '[agents]\ntest_writer = "codex"\ndoer = "codex"\n' + settings, sandbox)
    writes = [patch("tests/test_hello.py", TEST), commit("Tests for greeting"), DONE]
    printed = field.let_them_work({"codex": [*writes, *DOES]}, {"OPENAI_API_KEY": "dummy"})
    assert field.attempts() == [
        ("test_writer", "codex", "completed"),
        ("doer", "codex", "completed"),
        ("reviewer", "nobrakes", "completed"),
    ], printed
    field.assert_merged()
    assert "tests/more.py: the Doer does not change tests" in field.told()
    assert field.told().count("nobrakes refuses this") >= 2
    assert "key::" in field.told()
    assert field.bead()["attempts"][1]["log"]["summary"] == "greet() is there"
    said = field.run(NOBRAKES, "events", "--json")
    assert "greets" in said and "Tea is ready." in said
    assert not (tmp_path / "home" / ".codex").exists()


@in_both
def test_without_a_key_codex_works_with_the_humans_login(tmp_path: Path, sandbox: str) -> None:
    settings = codex_settings()
    field = prepare(tmp_path, '[agents]\ntest_writer = "codex"\ndoer = "codex"\n' + settings, sandbox)
    human = tmp_path / "home" / ".codex"
    human.mkdir(parents=True)
    (human / "auth.json").write_text('{"OPENAI_API_KEY": "dummy"}')
    (human / "config.toml").write_text('model = "of-the-human"\n')
    writes = [patch("tests/test_hello.py", TEST), commit("Tests for greeting"), DONE]
    field.let_them_work({"codex": [*writes, *DOES]}, {})
    field.assert_merged()
    assert "of-the-human" not in field.told()
    assert sorted(path.name for path in human.iterdir()) == ["auth.json", "config.toml"]


@needs_sandbox
def test_a_login_that_is_renewed_by_rename_in_a_sandbox_is_the_humans(tmp_path: Path) -> None:
    field = prepare(tmp_path, '[agents]\ntest_writer = "codex"\ndoer = "codex"\n' + codex_settings(), "bubblewrap")
    login = tmp_path / "home" / ".codex" / "auth.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"OPENAI_API_KEY": "dummy"}')
    renew = """
import os
path = os.environ["NOBRAKES_CANARY"].replace("guard.ready", "codex/auth.json")
with open(path + ".new", "w") as new:
    new.write(open(path).read().replace("dummy", "renewed"))
os.rename(path + ".new", path)
"""
    writes = [shell(f"python3 -c '{renew}'"), patch("tests/test_hello.py", TEST), commit("Tests for greeting"), DONE]
    field.let_them_work({"codex": [*writes, *DOES]}, {})
    field.assert_merged()
    assert login.read_text() == '{"OPENAI_API_KEY": "renewed"}'
    assert not list((field.repository / ".nobrakes" / "runs").rglob("auth.json"))


@pytest.mark.claude
def test_claude_writes_the_tests_and_codex_does_the_work(tmp_path: Path) -> None:
    settings = codex_settings()
    if CLAUDE is None:
        pytest.skip("no Claude Code CLI: install claude-agent-sdk, or set NOBRAKES_CLAUDE to an executable")
    claude = f'\n[agents.claude]\nexecutable = {json.dumps(CLAUDE)}\nmodel = "claude-sonnet-4-5"\n'
    claude += 'base_url = "http://127.0.0.1:PORT/s/claude"\n'
    field = prepare(tmp_path, '[agents]\ntest_writer = "claude"\ndoer = "codex"\n' + claude + settings)
    writes = [
        tool("Write", {"file_path": f"{field.workspace}/tests/test_hello.py", "content": TEST}),
        tool("Bash", {"command": "git add -A && git commit -q -m 'Tests for greeting' -m 'Bead: hello'"}),
        DONE,
    ]
    keys = {"OPENAI_API_KEY": "dummy", "ANTHROPIC_API_KEY": "dummy"}
    printed = field.let_them_work({"claude": writes, "codex": DOES}, keys)
    assert field.attempts() == [
        ("test_writer", "claude", "completed"),
        ("doer", "codex", "completed"),
        ("reviewer", "nobrakes", "completed"),
    ], printed
    field.assert_merged()


@pytest.mark.parametrize("sandbox", [pytest.param("none", marks=pytest.mark.night), in_sandbox])
def test_a_cap_in_tokens_stops_codex_while_it_works(tmp_path: Path, sandbox: str) -> None:
    field = prepare(tmp_path, '[agents]\ntest_writer = "codex"\ndoer = "codex"\n' + codex_settings() + CAP, sandbox)
    writes = [patch("tests/test_hello.py", TEST), commit("Tests for greeting"), SLEEPS, DONE]
    does = [in_one_call("hello.py", CODE), DONE]
    printed = field.let_them_work({"codex": [*writes, *does]}, {"OPENAI_API_KEY": "dummy"})
    field.assert_capped("codex", printed)
