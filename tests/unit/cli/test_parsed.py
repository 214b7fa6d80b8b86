"""The usual words are read without typer, and mean what typer reads in them: main.parsed is sure, or leaves it to it."""

import random
import re
import shlex
from typing import Any

import pytest

from nobrakes.cli import main, parsing
from nobrakes.cli.main import Call
from nobrakes.command_table import COMMANDS, Entry, example
from nobrakes.errors import UsageError
from tests.support.dose import everyday

TEXTS = [
    "nb-1",
    "a b",
    "",
    "-",
    "--",
    "7",
    "0",
    "-3",
    "007",
    "99999999999",
    "ä",
    "x=y",
    "--json",
    "-n",
    "-n5",
    "--no",
    "1.5",
]
LISTS = 120
BY_TYPER = {"mcp", "plan apply", "propose"}
"""Commands whose example only typer reads: it names a path, or its word is a group's too."""


@pytest.fixture
def typer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """(words, values by name) as typer reads an argument list; None: it refuses it, or prints help."""

    def read(argv: list[str]) -> tuple[str, dict[str, Any]] | None:
        try:
            found = parsing.by_typer(argv)
        except (UsageError, SystemExit):
            return None
        return found if isinstance(found, tuple) else None

    monkeypatch.setattr(Call, "result", lambda call: (call.entry.words, call.arguments))
    return read


def lists(entry: Entry) -> list[list[str]]:
    """Argument lists of the command: its own options with fitting and unfitting values, in any order and number."""
    known, rng = main.typed_in(entry, main.function_of(entry)), random.Random(entry.words)
    found = []
    for _ in range(LISTS):
        words = []
        for one in rng.choices(known, k=rng.randrange(len(known) + 1)):
            value = rng.choice(TEXTS)
            if one.field.options:
                name = rng.choice(one.field.options)
                flag = [name] if rng.random() < 0.9 else [f"{name}={value}"]
                words += flag if one.type is bool else rng.choice(([name, value], [f"{name}={value}"], [name]))
            else:
                words.append(value)
        found.append(
            [*entry.words.split(), *words, *rng.choice(((), (), (), ("nb-2",), ("--help",), ("--wrong", "x")))]
        )
    return found


@pytest.mark.parametrize(
    "entry",
    everyday(*COMMANDS[::5], ci=[one for one in COMMANDS if one not in COMMANDS[::5]]),
    ids=lambda one: one.words,
)
def test_both_parsers_read_the_same_values(entry: Entry, typer: Any) -> None:
    for argv in lists(entry):
        if (call := main.parsed(argv)) is not None:
            assert typer(argv) == (entry.words, call.arguments), argv


NEEDING = [one for one in COMMANDS if any(own.is_required() for own in main.typed_in(one, main.function_of(one)))]


@pytest.mark.parametrize("entry", NEEDING, ids=lambda one: one.words)
def test_a_command_without_its_required_words_is_wrong_usage(entry: Entry, capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.run(entry.words.split()) == 2, capsys.readouterr().err


def test_an_example_needs_no_typer() -> None:
    typed = {entry.words: shlex.split(re.split(r" [|<>] ", example(entry))[0], comments=True) for entry in COMMANDS}
    assert {words for words, line in typed.items() if main.parsed(line[1:]) is None} == BY_TYPER


@pytest.mark.parametrize(
    "line",
    [
        "status",
        "board",
        "list",
        "list -s doing --label=a --label b --epic e",
        "escalations --all",
        "answer 4 -",
        "add T -p 1 --needs a --needs b --draft",
        "hold nb-1 -m why --as Eva --request k",
        "resolve 3 --retry",
    ],
)
def test_what_people_type_all_day_needs_no_typer(line: str) -> None:
    assert main.parsed(line.split()) is not None
