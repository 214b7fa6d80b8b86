"""Usual command lines, read without typer: its import alone costs four times Python's own start.

1. Read here: a command of the table, its own options given once, values of their type within bounds, as many texts as
   it takes. Everything else (help, mistakes, repeated options, completion) is None, and typer's to answer.
2. What is read here is what typer would have read: a test compares the two for every parameter of every command.
"""

import os
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

from .options import NUMBER, WHOLE, Argument, Option, sides, within
from .table import COMMANDS, Entry
from .words import read_words


class Line(NamedTuple):
    """A command line that was read."""

    entry: Entry
    arguments: dict[str, Any]
    as_json: bool


class Parameter(NamedTuple):
    """A parameter of a command's function."""

    name: str
    allowed: tuple[Any, ...]  # the types of its values
    made: Option | Argument
    required: bool


class _Unusual(Exception):
    """Not to be read here."""


def read(argv: list[str], load: Callable[[Entry], Callable[..., Any]]) -> Line | None:
    """The command line with its values; None: it is not a usual one."""
    entry = _entry(argv)
    if entry is None:
        return None
    try:
        return _read(entry, argv[len(entry.words.split()) :], parameters(load(entry)))
    except _Unusual:
        return None


def _entry(argv: list[str]) -> Entry | None:
    known = {entry.words: entry for entry in COMMANDS}
    return known.get(" ".join(argv[:2])) or known.get(argv[0] if argv else "")


def parameters(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a command's function, in order; `as_json` is not one of them."""
    hints = get_type_hints(function, include_extras=True)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    with_default = {*names[code.co_argcount - len(function.__defaults__ or ()) : code.co_argcount]}
    with_default |= {*(function.__kwdefaults__ or {})}
    found = []
    for name in names:
        if name == "as_json":
            continue
        hint, made = get_args(hints[name])
        allowed = get_args(hint) if NoneType in get_args(hint) else (hint,)
        found.append(Parameter(name, allowed, made, name not in with_default))
    return found


def _read(entry: Entry, words: list[str], known: list[Parameter]) -> Line:
    valued: dict[str, Parameter] = {}
    flags: dict[str, tuple[Parameter, bool]] = {}
    for one in known:
        if isinstance(one.made, Option):
            is_flag = bool in one.allowed
            yes, no = sides(one.name, one.made, is_flag)
            valued |= {} if is_flag else dict.fromkeys(yes, one)
            flags |= {name: (one, True) for name in yes if is_flag} | dict.fromkeys(no, (one, False))
    if any(word[:1] == "-" != word[1:2] and "=" in word for word in words):
        raise _Unusual  # to typer the = belongs to the value of a short option
    given = read_words(words, tuple(valued), (*flags, "--json"))
    if given is None:
        raise _Unusual
    options, texts = given
    as_json = options.pop("--json", None) is not None
    values: dict[str, Any] = {}
    for name, text in options.items():
        one, value = flags[name] if name in flags else (valued[name], _value(valued[name], text))
        if one.name in values:  # the same by two names
            raise _Unusual
        values[one.name] = value
    values |= _placed([one for one in known if isinstance(one.made, Argument)], texts)
    if any(one.required and one.name not in values for one in known):
        raise _Unusual
    return Line(entry, values, as_json)


def _placed(places: list[Parameter], texts: list[str]) -> dict[str, Any]:
    """The texts as values of the arguments, in order; the last argument may take several."""
    values: dict[str, Any] = {}
    left = list(texts)
    for one in places:
        if not left:
            break
        if list[str] in one.allowed:
            values[one.name], left = left, []
        else:
            values[one.name] = _value(one, left.pop(0))
    if left:
        raise _Unusual
    return values


def _value(one: Parameter, text: str) -> Any:
    if text.startswith("-"):
        raise _Unusual
    if list[str] in one.allowed:
        return [text]
    if str in one.allowed:
        return text
    settings = one.made.settings
    if Path in one.allowed:
        path = Path(text)
        if os.access(path, os.R_OK) or not os.path.lexists(path):
            return path
        raise _Unusual
    number: float
    if int in one.allowed and WHOLE.fullmatch(text):
        number = int(text)
    elif float in one.allowed and NUMBER.fullmatch(text):
        number = float(text)
    else:
        raise _Unusual
    if not within(number, settings):
        raise _Unusual
    return number
