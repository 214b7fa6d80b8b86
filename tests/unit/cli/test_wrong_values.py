"""Values of a command line are checked where they are read."""

import json

import pytest

from nobrakes.cli import main


@pytest.mark.parametrize(
    "argv",
    [["escalation", "four"], ["escalation", "1.5"], ["daemon", "start", "--wait", "long"], ["run", "--doers", "-1"],
     ["reviews", "--limit", "0"], ["undo", "0"], ["escalation"], ["depend", "nb-1"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_values_and_missing_ones_are_refused_in_typers_words(argv, capsys):
    assert main.run([*argv, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["name"] == "UsageError"
