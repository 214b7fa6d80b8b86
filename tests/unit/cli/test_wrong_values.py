"""What a command line may not say: values of another kind, and what is for people alone."""

import json

import pytest

from nobrakes.cli import main


@pytest.mark.parametrize(
    "argv",
    [["escalation", "four"], ["escalation", "1.5"], ["daemon", "start", "--wait", "long"], ["run", "--doers", "-1"],
     *(["daemon", words, "--wait", "-1"] for words in ("start", "stop", "restart")),
     ["review", "--limit", "0"], ["undo", "0"], ["escalation"], ["depend", "nb-1"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_values_and_missing_ones_are_refused_in_typers_words(argv, capsys):
    assert main.run([*argv, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["name"] == "UsageError"


@pytest.mark.parametrize("argv", [["pause"], ["--debug", "pause"]], ids=" ".join)
def test_an_agent_is_refused_what_is_for_people(argv, monkeypatch, capsys):
    monkeypatch.setenv("NOBRAKES_TOKEN", "x")
    assert main.run(argv) == 17
    assert "agents cannot use `nobrakes pause`" in capsys.readouterr().err
