"""A command that needs no pydantic does not pay for it, and values are still checked where they must be."""

import json
import subprocess
import sys

import pytest

from nobrakes.cli import main


@pytest.mark.parametrize("argv", [["--help"], ["version"], ["plan", "example"], ["list", "--help"]], ids=" ".join)
def test_reading_text_and_flags_imports_no_pydantic(argv):
    code = (
        f"import sys; from nobrakes.cli.main import run; assert run({argv!r}) == 0; "
        "print([m for m in ('pydantic', 'networkx', 'sqlmodel', 'git', 'rich', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "argv",
    [["escalation", "four"], ["escalation", "1.5"], ["daemon", "start", "--wait", "long"], ["run", "--doers", "-1"],
     ["reviews", "--limit", "0"], ["undo", "0"], ["escalation"], ["depend", "nb-1"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_values_and_missing_ones_are_refused_in_typers_words(argv, capsys):
    assert main.run([*argv, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["name"] == "UsageError"
