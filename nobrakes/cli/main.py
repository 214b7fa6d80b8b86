"""The full command line: parse, call, show, and turn every kind of ending into text and an exit code.

1. A NobrakesError is its message, its hint and its code. A usage error is 2, Ctrl-C 130, a closed pipe 141.
2. Anything else is a bug: 70, a short text, and the traceback in a file under .nobrakes (stderr with --debug).
3. With --json the error is an envelope on stdout; the code is the same.
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from .. import paths
from ..errors import NobrakesError, UsageError
from ..text.cleaning import lines, unusable
from .entry import interrupted as interrupted_early
from .repository import (
    KEPT,
    PIPE_CLOSED,
    Asked,
    Interrupted,
    Output,
    asked,
    choose,
    emit,
    error_envelope,
    write,
)
from .screen import screen_of
from .table import COMMANDS, Entry

# Calling a command of the table: its function is imported, and agents are refused what is for people.


class Result(NamedTuple):
    """What a called command gave back, and how it is to be shown."""

    entry: Entry
    output: Output
    as_json: bool


def _refuse_agents(entry: Entry) -> None:
    """An agent speaks through `nobrakes agent …`; everything else that changes something is for people."""
    if entry.changes and os.environ.get("NOBRAKES_TOKEN"):
        from ..errors import NotAllowed

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
    if signal.getsignal(signal.SIGINT) is interrupted_early:  # from here on the command ends in its own way
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _refuse_agents(entry)
    own = {"as_json": as_json} if "as_json" in function.__annotations__ else {}  # a command that streams wants to know
    said = asked(after)
    if not entry.changes:
        _refuse(said, entry)
        return Result(entry, function(**arguments, **own), as_json)
    actor = choose(said.name)
    if said.request is None:
        return Result(entry, function(**arguments, **own), as_json)
    from . import repository

    _refuse(Asked(None, said.request if entry.words in repository.NEVER else None), entry)
    KEPT.set(True)
    output = repository.once(entry.words, said.request, actor, arguments, lambda: function(**arguments, **own))
    return Result(entry, output, as_json)


def _refuse(said: Asked, entry: Entry) -> None:
    """UsageError for an option before the words of a command that does not take it."""
    for option, value in (("--as", said.name), ("--request", said.request)):
        if value is not None:
            from ..errors import UsageError

            raise UsageError(f"`nobrakes {entry.words}` takes no {option}", f"See `nobrakes {entry.words} --help`.")


BUG = 70


def _wants(flag: str, argv: list[str]) -> bool:
    """Whether a flag was given; what follows `--` is text."""
    return flag in (argv[: argv.index("--")] if "--" in argv else argv)


def _asks_for_help(argv: list[str]) -> bool:
    """Whether no repository is looked at."""
    return any(_wants(flag, argv) for flag in ("--help", "-h", "--version", "-V")) or argv[:1] == ["help"]


def _words(argv: list[str]) -> str:
    """The command that was meant, for the envelope of an error."""

    given = [word for word in argv if not word.startswith("-")][:2]
    known = {entry.words for entry in COMMANDS}
    for words in (" ".join(given), " ".join(given[:1])):
        if words in known:
            return words
    return ""


def fail(argv: list[str], error: BaseException, message: str, hint: str, code: int) -> int:
    """Say what went wrong, as text or as an envelope; `code`."""
    if _wants("--json", argv):
        write(error_envelope(_words(argv), error, code, hint))
        return code
    screen = screen_of(sys.stderr)
    out = [f"error: {lines(message)[0]}", *lines(message)[1:], *(f"  {h}" for h in lines(hint) if h)]
    if sys.stderr.isatty():
        out = [part for line in out for part in _wrapped(line, screen.width)]
    sys.stderr.write("\n".join([out[0].replace("error:", screen.paint("error:", "red"), 1), *out[1:]]))
    sys.stderr.write("\n")
    return code


def _bug(argv: list[str], error: BaseException) -> int:
    import traceback

    text = "".join(traceback.format_exception(error))
    if _wants("--debug", argv) or os.environ.get("NOBRAKES_DEBUG"):
        sys.stderr.write(text)
        where = "The traceback is above."
    else:
        where = _keep_traceback(text) or text
    return fail(argv, error, f"nobrakes itself failed: {type(error).__name__}: {error}", f"This is a bug. {where}", BUG)


def _keep_traceback(text: str) -> str | None:
    """Write the traceback to a file under .nobrakes; None: there is no such folder, or it cannot be written."""
    import time

    found = None if paths.strangers() else paths.find()
    if found is None:
        return None
    path = os.path.join(found.folder, f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt")
    try:
        private = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(private, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return None
    return f"The traceback is in {os.path.relpath(path)}; please send it along with what you did."


def _wrapped(line: str, width: int) -> list[str]:
    """The line as a terminal shows it: no word is cut, and what goes on keeps its indent."""
    from textwrap import wrap

    indent = line[: len(line) - len(line.lstrip())]
    return wrap(line, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False) or [""]


def _usage(argv: list[str], error: Any) -> int:
    """typer's own complaint as ours."""
    where = getattr(getattr(error, "ctx", None), "command_path", "nobrakes")
    said, hint = _did_you_mean(error.format_message())
    known = UsageError(said, f"{hint}See `{where} --help`.")
    return fail(argv, known, str(known), known.hint, known.code)


def _did_you_mean(message: str) -> tuple[str, str]:
    """The complaint, and typer's suggestion as a hint of its own."""
    for opening, closing in ((" Did you mean ", "?"), (" (Possible options: ", ")"), (" (Did you mean one of: ", ")")):
        said, found, like = message.partition(opening)
        if found:
            names = [name.strip(" '") for name in like.removesuffix(closing).split(",")]
            return said, f"Did you mean {' or '.join(map(repr, names))}? "
    return message, ""


def interrupted(argv: list[str]) -> int:
    """Ctrl-C: no more than that is said."""
    error = Interrupted("interrupted")
    if _wants("--json", argv):
        return fail(argv, error, str(error), "", error.code)
    sys.stderr.write("\ninterrupted\n")
    return error.code


def _of_the_disk(error: OSError) -> Exception:
    """A disk that is full or read-only is no bug of ours, wherever it shows."""
    from ..host.files import storage_errors

    try:
        with storage_errors(str(error.filename or "a file")):
            raise error
    except (NobrakesError, OSError) as found:
        return found


def failed(argv: list[str], error: Exception) -> int:
    """Turn what a command raised into text, or an envelope, and an exit code."""
    if isinstance(error.__cause__, KeyboardInterrupt):  # a class that was being made turned it into a RuntimeError
        return interrupted(argv)
    if isinstance(error, OSError):
        error = _of_the_disk(error)
    if isinstance(error, NobrakesError):
        return fail(argv, error, str(error), error.hint, error.code)
    typer = sys.modules.get("typer")  # where it was not needed, nothing of it was raised
    if typer is not None and isinstance(error, typer.TyperException):
        return _usage(argv, error)
    if typer is not None and isinstance(error, typer.Abort):
        return interrupted(argv)
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    return _bug(argv, error)


def _called(argv: list[str]) -> Any:
    """What the command gave back: a Result; an Output or an exit code where it was the full command line's own."""
    if paths.strangers() and not _asks_for_help(argv):
        from ..git import location

        location.check()

    from .group import full_run

    return full_run(argv)


def readable(argv: list[str]) -> list[str]:
    """The arguments as UTF-8, whatever the locale says. UsageError for one that is not, and names no file either."""
    found = []
    for arg in argv:
        why = "" if arg.isascii() else unusable(arg)
        if why and not os.path.lexists(arg):
            try:
                arg = os.fsencode(arg).decode()
            except UnicodeError:
                shown = arg[:40].encode("utf-8", "backslashreplace").decode()
                raise UsageError(f"the argument '{shown}' {why}", "Give it in UTF-8.") from None
        found.append(arg)
    return found


def run(argv: list[str]) -> int:
    """Run one command line; the exit code. Nothing but SystemExit of a closed pipe leaves it."""
    try:
        argv = readable(argv)
        result = _called(argv)
        if isinstance(result, Output):  # of the overview
            return emit(result, "", _wants("--json", argv))
        if isinstance(result, Result):
            if result.entry.streams and result.as_json:  # its lines are all there is
                return 0
            return emit(result.output, result.entry.words, result.as_json)
        return result if isinstance(result, int) else 0
    except KeyboardInterrupt:
        return interrupted(argv)
    except Exception as error:
        return failed(argv, error)
