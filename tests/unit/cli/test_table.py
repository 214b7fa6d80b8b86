"""The table of commands is what help, completion and docs show."""

import inspect
import re
import shlex

import pytest

from nobrakes.cli import main, parsing
from nobrakes.cli.outcome import Output
from nobrakes.cli.parsing import before
from nobrakes.command_table import COMMANDS, EXAMPLES, FIRST, GROUPS, JOURNEYS, NOUNS, OLD_NAMES, SHOWN, Entry, example
from nobrakes.errors import UsageError
from tests.support.dose import everyday

SOME = COMMANDS[::8]
by_words = pytest.mark.parametrize("entry", COMMANDS, ids=[entry.words for entry in COMMANDS])


@by_words
def test_every_command_is_explained_and_takes_json_and_help(entry, capsys):
    function, command = main.function_of(entry), parsing.load(entry)
    assert inspect.getdoc(function), f"{entry.words} has no help"
    assert inspect.signature(function, eval_str=True).return_annotation is Output
    assert entry.help.endswith(".") and len(entry.help) <= 72 and entry.journey in JOURNEYS
    assert [parameter.name for parameter in command.params if not parameter.help] == [], "these have no help"
    assert "--json" in {option for parameter in command.params for option in parameter.opts}
    with pytest.raises(SystemExit) as end:
        command.main(["--help"], prog_name=entry.words)
    assert end.value.code == 0


def test_no_command_is_there_twice_and_every_group_is_described():
    words = [entry.words for entry in COMMANDS]
    assert len(set(words)) == len(words)
    assert {word.split()[0] for word in words if " " in word} == set(GROUPS)


@by_words
def test_every_command_has_an_example_that_it_takes(entry: Entry) -> None:
    typed = shlex.split(re.split(r" [|<>] ", example(entry))[0], comments=True)
    words = entry.words.split()
    assert typed[: len(words) + 1] == ["nobrakes", *words]
    command = parsing.load(entry)
    command.make_context(entry.words, typed[len(words) + 1 :])
    assert f"Example: {example(entry)}" in (command.help or "")


def test_an_example_is_of_a_command() -> None:
    assert set(EXAMPLES) <= {entry.words for entry in COMMANDS}


def test_help_lists_every_command_without_importing_one(capsys):
    import sys

    loaded = {name for name in sys.modules if name.startswith("nobrakes.cli.")}
    for name in ("nobrakes.cli.beads", "nobrakes.cli.decisions"):
        sys.modules.pop(name, None)
    with pytest.raises(SystemExit):
        parsing.root(before).main(["--help"], prog_name="nobrakes")
    first = capsys.readouterr().out
    names = [line.split()[0] for line in first.split("Options:")[0].splitlines() if re.match(r"  \w", line)]
    listed = [name for name in names if name in {entry.words.split()[0] for entry in COMMANDS}]
    assert sorted(listed) == sorted([*(words for words, _ in FIRST), *SHOWN]) and len(listed) <= 20
    assert "nobrakes help --all" in first
    every = str(parsing.help(None, True).data["help"])
    assert {entry.subject for entry in COMMANDS} == set(NOUNS)
    for entry in COMMANDS:
        assert (f"\n  {entry.words:<20} {entry.help}\n" in every) is not entry.hidden, entry.words
    assert "nobrakes.cli.beads" not in sys.modules and "nobrakes.cli.decisions" not in sys.modules
    for name in loaded:
        __import__(name)


def said(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    code = main.run(line.split())
    out = capsys.readouterr()
    return code, out.out, out.err


def test_help_opens_with_the_commands_of_a_first_day(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "help")[1]
    heads = [line for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert heads[0] == "Begin with:" and heads[1].startswith("Forge") and heads[-1] == "Options:"
    first = shown.split("Begin with:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in first.splitlines() if line[2] != " "] == [words for words, _ in FIRST]
    assert said(capsys, "-h")[1] == said(capsys, "--help")[1] == shown
    assert said(capsys, "-V")[1] == said(capsys, "--version")[1] != ""


@pytest.mark.parametrize(
    "entry", everyday(*SOME, ci=[entry for entry in COMMANDS if entry not in SOME]), ids=lambda entry: entry.words
)
def test_help_in_words_is_the_help_of_the_command(entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    asked = said(capsys, f"help {entry.words}")
    assert asked[0] == 0 and asked[1] == said(capsys, f"{entry.words} --help")[1] and "Usage: nobrakes" in asked[1]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("statsu", "Did you mean 'status'?"),
        ("plan aply x", "Did you mean 'apply'?"),
        ("help plan aply", "Did you mean 'apply'?"),
        ("list --stauts done", "Did you mean '--status'?"),
    ],
)
def test_what_is_mistyped_is_answered_with_what_was_meant(
    line: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = said(capsys, line)
    assert (code, out) == (UsageError.code, "") and meant in err


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_who_types_an_old_name_is_told_the_new_one(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = {entry.words for entry in COMMANDS}
    assert old not in words and new.split(" --")[0] in words
    code, out, err = said(capsys, old)
    assert (code, out) == (UsageError.code, "") and f"is now `nobrakes {new}`" in err
