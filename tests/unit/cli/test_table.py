"""The table of commands is what help, completion and docs show."""

import inspect

import pytest

from nobrakes.cli import dispatch, group
from nobrakes.cli.full import before
from nobrakes.cli.output import Output
from nobrakes.cli.table import COMMANDS, GROUPS, JOURNEYS

by_words = pytest.mark.parametrize("entry", COMMANDS, ids=[entry.words for entry in COMMANDS])


@by_words
def test_every_command_has_a_function_with_help_that_returns_an_output(entry):
    function = dispatch.function_of(entry)
    assert inspect.getdoc(function), f"{entry.words} has no help"
    assert inspect.signature(function, eval_str=True).return_annotation is Output


@by_words
def test_every_command_takes_json_and_help(entry):
    command = group.load(entry)
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--json" in options
    with pytest.raises(SystemExit) as end:
        command.main(["--help"], prog_name=entry.words)
    assert end.value.code == 0


@by_words
def test_every_parameter_has_help(entry):
    for parameter in group.load(entry).params:
        assert parameter.help, f"{entry.words}: {parameter.name} has no help"


@by_words
def test_the_line_in_the_list_is_one_sentence(entry):
    assert entry.help.endswith(".") and len(entry.help) <= 72 and entry.journey in JOURNEYS


def test_no_command_is_there_twice_and_every_group_is_described():
    words = [entry.words for entry in COMMANDS]
    assert len(set(words)) == len(words)
    assert {word.split()[0] for word in words if " " in word} == set(GROUPS)


def test_help_lists_every_command_without_importing_one(capsys):
    import sys

    loaded = {name for name in sys.modules if name.startswith("nobrakes.cli.")}
    for name in ("nobrakes.cli.beads", "nobrakes.cli.desk"):
        sys.modules.pop(name, None)
    with pytest.raises(SystemExit):
        group.root(before).main(["--help"], prog_name="nobrakes")
    shown = capsys.readouterr().out
    for entry in COMMANDS:
        word = entry.words.split()[0]
        assert f"\n  {word}" in shown or entry.hidden, entry.words
        if " " not in entry.words:
            assert entry.help in " ".join(shown.split())
    assert "nobrakes.cli.beads" not in sys.modules and "nobrakes.cli.desk" not in sys.modules
    for name in loaded:
        __import__(name)
