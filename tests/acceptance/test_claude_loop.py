"""The real Claude Code CLI takes a bead from ready to merged main, against a scripted model on the loopback.

The Test Writer writes a failing test, the Doer makes it pass; nothing of the loop is replaced. The Doer reads its bead,
claims its progress and hands in by the tools of nobrakes' own MCP server.
"""

import json
from pathlib import Path

import pytest

from tests.support.real_clis import CLAUDE, CODE, DONE, NOBRAKES, TEST, prepare, tool
from tests.support.sandboxes import in_both

pytestmark = pytest.mark.claude


def commit(subject: str) -> dict[str, object]:
    return tool("Bash", {"command": f"git add -A && git commit -q -m '{subject}' -m 'Bead: hello'"})


@in_both
def test_the_real_cli_takes_a_bead_from_ready_to_merged(tmp_path: Path, sandbox: str) -> None:
    if CLAUDE is None:
        pytest.skip("no Claude Code CLI: install claude-agent-sdk, or set NOBRAKES_CLAUDE to an executable")
    claude = f'[agents.claude]\nexecutable = {json.dumps(CLAUDE)}\nmodel = "claude-sonnet-4-5"\n'
    url = 'base_url = "http://127.0.0.1:PORT/s/run"\n'
    field = prepare(tmp_path, f'[agents]\ntest_writer = "claude"\ndoer = "claude"\n{claude}{url}', sandbox)
    other = field.repository / ".nobrakes" / "agents" / "claude" / "other"
    other.mkdir(parents=True)
    (other / "session").write_text("what another bead said")
    steps = [
        tool("Bash", {"command": f"cat {other.parent}/*/session"}),
        tool("Bash", {"command": "python3 -c 'import urllib.request as r; r.urlopen(\"http://elsewhere.invalid/x\")'"}),
        tool("Write", {"file_path": f"{field.workspace}/tests/test_hello.py", "content": TEST}),
        commit("Tests for greeting"),
        DONE,
        tool("mcp__nobrakes__bead", {}),
        tool("Write", {"file_path": f"{field.workspace}/hello.py", "content": CODE}),
        commit("Greet"),
        tool("mcp__nobrakes__progress", {"text": "greets"}),
        tool("mcp__nobrakes__notify", {"text": "Tea is ready."}),
        tool("mcp__nobrakes__done", {"outcome": "completed", "summary": "greet() is there"}),
        DONE,
    ]
    printed = field.let_them_work({"run": steps}, {"ANTHROPIC_API_KEY": "dummy"})
    assert field.attempts() == [
        ("test_writer", "claude", "completed"),
        ("doer", "claude", "completed"),
        ("reviewer", "nobrakes", "completed"),
    ], printed
    field.assert_merged()
    assert ("what another bead said" in field.told()) is (sandbox == "none")
    refused = [e["metadata"] for e in field.events() if e["metadata"]["kind"] == "hosts_refused"]
    assert [e["hosts"] for e in refused] == ([] if sandbox == "none" else [["elsewhere.invalid:80"]])
    assert ("Forbidden" in field.told()) is (sandbox == "bubblewrap")
    assert field.bead()["attempts"][1]["log"]["summary"] == "greet() is there"
    assert "Tea is ready." in field.run(NOBRAKES, "events", "--json")
