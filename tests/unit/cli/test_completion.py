"""Every command completes by the one table, also those that are answered without typer; a shell may be named."""

import pytest

from nobrakes.cli import main, parsing
from nobrakes.cli.entry import HOT
from nobrakes.command_table import COMMANDS, GROUPS


def completed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """What bash offers for the last word of the line."""
    monkeypatch.setenv("_NOBRAKES_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    with pytest.raises(SystemExit) as ended:
        main.run([])
    assert not ended.value.code
    return set(capsys.readouterr().out.split())


def test_every_command_is_offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [one for one in COMMANDS if not one.hidden]
    assert {one.words.split()[0] for one in shown} == completed("nobrakes ", monkeypatch, capsys)
    assert completed("nobrakes sho", monkeypatch, capsys) == {"show"}
    for group in GROUPS:
        inner = {one.words.split()[1] for one in shown if one.words.startswith(f"{group} ")}
        assert inner <= completed(f"nobrakes {group} ", monkeypatch, capsys)


def test_every_option_is_offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    missing = {}
    for entry in COMMANDS:
        shown = [one for one in parsing.load(entry).params if not getattr(one, "hidden", False)]
        wanted = {name for one in shown for name in one.opts if name.startswith("--")}
        if lacks := wanted - completed(f"nobrakes {entry.words} --", monkeypatch, capsys):
            missing[entry.words] = lacks
    assert missing == {}


def test_commands_that_are_answered_without_typer_are_among_them() -> None:
    assert {one.words.split()[0] for one in COMMANDS} >= HOT


@pytest.mark.parametrize(
    ("shell", "begins"), [("bash", "_nobrakes_completion()"), ("zsh", "#compdef nobrakes"), ("fish", "complete --com")]
)
def test_the_script_of_a_named_shell(
    shell: str, begins: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "")
    with pytest.raises(SystemExit):
        main.run(["--show-completion", shell])
    assert capsys.readouterr().out.startswith(begins)
