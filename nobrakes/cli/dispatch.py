"""Calling a command of the table: its function is imported, and agents are refused what is for people."""

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from .asking import KEPT, Asked, asked, choose
from .output import Output
from .table import Entry


class Result(NamedTuple):
    """What a called command gave back, and how it is to be shown."""

    entry: Entry
    output: Output
    as_json: bool


def _refuse_agents(entry: Entry) -> None:
    """An agent speaks through `nobrakes agent …`; everything else that changes something is for people."""
    if entry.changes and os.environ.get("NOBRAKES_TOKEN"):
        from ..core.errors import NotAllowed

        raise NotAllowed(
            f"an agent may not use `nobrakes {entry.words}`",
            "Say what you need with `nobrakes agent escalate`, or ask with `nobrakes agent ask`.",
        )


def function_of(entry: Entry) -> Callable[..., Output]:
    """Import the command's function."""
    module, name = entry.target.split(":")
    function: Callable[..., Output] = getattr(import_module(f"nobrakes.cli.{module}"), name)
    return function


def call(
    entry: Entry, function: Callable[..., Output], arguments: Mapping[str, Any], as_json: bool, after: Asked
) -> Result:
    """Call the command's function, unless an agent asks that may not; under a key, once."""
    _refuse_agents(entry)
    if entry.new_name and not as_json:
        sys.stderr.write(f"note: `nobrakes {entry.words}` is now `nobrakes {entry.new_name}`\n")
    own = {"as_json": as_json} if "as_json" in function.__annotations__ else {}  # a command that streams wants to know
    said = asked(after)
    if not entry.changes:
        _refuse(said, entry)
        return Result(entry, function(**arguments, **own), as_json)
    actor = choose(said.name)
    if said.request is None:
        return Result(entry, function(**arguments, **own), as_json)
    from . import requests

    _refuse(Asked(None, said.request if entry.words in requests.NEVER else None), entry)
    KEPT.set(True)
    output = requests.once(entry.words, said.request, actor, arguments, lambda: function(**arguments, **own))
    return Result(entry, output, as_json)


def _refuse(said: Asked, entry: Entry) -> None:
    """UsageError for an option before the words of a command that does not take it."""
    for option, value in (("--as", said.name), ("--request", said.request)):
        if value is not None:
            from ..core.errors import UsageError

            raise UsageError(f"`nobrakes {entry.words}` takes no {option}", f"See `nobrakes {entry.words} --help`.")
