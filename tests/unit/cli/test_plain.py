"""What is read without typer is what typer reads, for every parameter of every command; the rest is left to typer."""

import inspect
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from nobrakes.cli import calling, full, group, main, plain
from nobrakes.cli.options import Argument, Option, sides
from nobrakes.cli.output import said
from nobrakes.cli.table import COMMANDS, Entry, entry

TEXTS = ("word", "two words", "", "7", "0", "-1", "--", "3.5", "1e3", "007", "٣", "9999999999", "-x", "/nowhere/at all")


def words_of(one: plain.Parameter, text: str) -> Iterator[list[str]]:
    """Ways to give one parameter a text."""
    if isinstance(one.made, Argument):
        yield [text]
        return
    yes, no = sides(one.name, one.made, bool in one.allowed)
    for name in (*yes, *no):
        if bool in one.allowed:
            yield [name]
            yield [f"{name}={text}"]
        else:
            yield [name, text]
            yield [f"{name}={text}"]


def lines(words: str) -> Iterator[list[str]]:
    """Command lines: what is required, and each parameter with each text, before it and after it."""
    known = plain.parameters(calling.function_of(entry(words)))
    required = list(itertools.chain(*(next(words_of(one, "1")) for one in known if one.required)))
    yield required
    yield [*required, "--json"]
    yield [*required, "more"]
    yield [*required, "--unknown"]
    for one, text in itertools.product(known, TEXTS):
        for given in words_of(one, text):
            yield [*given, *required]
            yield [*required, *given]
            yield [*given, *required, *given]


def seen(monkeypatch: pytest.MonkeyPatch, reader: Any) -> list[tuple[str, dict[str, Any], bool]]:
    """What commands are called with from now on, by way of one of the two readers; nothing is done."""
    found: list[tuple[str, dict[str, Any], bool]] = []

    def call(entry: Entry, function: object, arguments: dict[str, Any], as_json: bool) -> calling.Result:
        found.append((entry.words, arguments, as_json))
        return calling.Result(entry, said({}, ""), as_json)

    monkeypatch.setattr(reader, "call", call)
    return found


@pytest.mark.parametrize("words", [entry.words for entry in COMMANDS])
def test_both_read_the_same(words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    by_typer = seen(monkeypatch, group)
    known = inspect.signature(calling.function_of(entry(words))).parameters.values()
    defaults = {one.name: one.default for one in known if one.default is not one.empty and one.name != "as_json"}
    usual = 0
    for line in lines(words):
        argv = [*words.split(), *line]
        read = plain.read(argv, calling.function_of)
        if read is None:
            continue
        usual += 1
        by_typer.clear()
        full.run(argv)
        ((called, arguments, as_json),) = by_typer
        mine = {**defaults, **read.arguments}
        assert (called, arguments, as_json) == (read.entry.words, mine, read.as_json), argv
    assert usual >= 2


@pytest.mark.parametrize(
    "argv",
    [[], ["--help"], ["list", "--help"], ["--json"], ["--debug", "list"], ["lis"], ["list", "--stat", "done"],
     ["list", "--limit", "5", "--limit", "6"], ["plan"], ["daemon", "status", "extra"]],
    ids=" ".join,
)  # fmt: skip
def test_the_unusual_is_left_to_typer(argv: list[str]) -> None:
    assert plain.read(argv, calling.function_of) is None


def test_a_usual_line_imports_no_typer() -> None:
    code = (
        "import sys; from nobrakes.cli.main import run; assert run(['version']) == 0; "
        "print('typer' in sys.modules, 'click' in sys.modules)"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"


def test_an_agent_is_refused_on_either_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NOBRAKES_TOKEN", "x")
    for argv in (["pause"], ["--debug", "pause"]):
        assert main.run(argv) != 0
        assert "an agent may not use `nobrakes pause`" in capsys.readouterr().err


def test_every_parameter_says_what_it_is() -> None:
    for one in COMMANDS:
        for parameter in plain.parameters(calling.function_of(one)):
            assert isinstance(parameter.made, Option | Argument), (one.words, parameter.name)
