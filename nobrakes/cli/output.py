"""What a command hands back, and how it is shown: text for people, one JSON envelope for programs.

1. A command returns an Output; `emit` prints it. Nothing else writes to stdout, except commands that stream.
2. The envelope is {"ok": true, "command", "data"} or {"ok": false, "command", "error"}; error.code is the exit code.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from ..core.errors import NobrakesError
from ..core.public.values import plain as plain
from ..lightjson import visible
from .screen import Screen, screen_of

PIPE_CLOSED = 141  # as a shell reports a program that SIGPIPE ended


class Interrupted(NobrakesError):
    """Ctrl-C."""

    code = 130


class Output(NamedTuple):
    """The result of a command.

    `data` becomes JSON values (see `plain`) when JSON is asked for; `text` is for people.
    """

    data: Any
    text: Callable[[Screen], str]
    error: NobrakesError | None = None  # why, for all that it has to show, the exit code is not 0
    more: int | None = None  # of a list that is cut: how many there are beyond it, told in the envelope


def said(data: Any, text: str) -> Output:
    """An Output whose text is ready and needs no screen."""
    return Output(data, lambda screen: text)


def dumps(value: Any) -> str:
    """`value` as one line of JSON, of which every character is seen."""
    import json

    return visible(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def envelope(command: str, data: Any, more: int | None = None) -> str:
    """The envelope of a command that did what it was asked."""
    left = {} if more is None else {"more": more}
    return dumps({"ok": True, "command": command, "data": data, **left})


def error_envelope(command: str, error: BaseException, code: int, hint: str, data: Any = None) -> str:
    """The envelope of a command that did not; `data` is what it has to show all the same."""
    # a special case of an error is named by the error that is documented
    documented = (c.__name__ for c in type(error).__mro__ if c.__module__ == "nobrakes.core.errors")
    name = type(error).__name__ if isinstance(error, Interrupted) else next(documented, type(error).__name__)
    found: dict[str, Any] = {"code": code, "name": name, "message": str(error), "hint": hint}
    details = getattr(error, "details", None)
    if details:
        found["details"] = details
    more = {} if data is None else {"data": data}
    return dumps({"ok": False, "command": command, **more, "error": found})


def pipe_closed() -> NoReturn:
    """Nobody reads any more: end quietly, and keep Python from complaining when it closes stdout."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    raise SystemExit(PIPE_CLOSED)


def write(text: str) -> None:
    """One or more whole lines to stdout, at once."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        pipe_closed()


def emit(output: Output, command: str, as_json: bool) -> int:
    """Show the result; the exit code."""
    error = output.error
    if not as_json:
        text = output.text(screen_of(sys.stdout))
        if text:
            write(text)
    elif error is None:
        write(envelope(command, output.data, output.more))
    else:
        write(error_envelope(command, error, error.code, error.hint, output.data))
    return 0 if error is None else error.code
