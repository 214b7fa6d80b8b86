"""The full command line: parse, call, show, and turn every kind of ending into text and an exit code.

1. A NobrakesError is its message, its hint and its code. A usage error is 2, Ctrl-C 130, a closed pipe 141.
2. Anything else is a bug: 70, a short text, and the traceback in a file under .nobrakes (stderr with --debug).
3. With --json the error is an envelope on stdout; the code is the same.
"""

import os
import sys
from typing import Any

from .. import paths
from ..core.errors import NobrakesError, UsageError
from ..core.text.cleaning import unusable
from ..wording.text import lines
from .dispatch import Result
from .output import PIPE_CLOSED, Interrupted, Output, emit, error_envelope, write
from .screen import screen_of

BUG = 70


def _wants(flag: str, argv: list[str]) -> bool:
    """Whether a flag was given; what follows `--` is text."""
    return flag in (argv[: argv.index("--")] if "--" in argv else argv)


def _asks_for_help(argv: list[str]) -> bool:
    """Whether no repository is looked at."""
    return any(_wants(flag, argv) for flag in ("--help", "-h", "--version", "-V")) or argv[:1] == ["help"]


def _words(argv: list[str]) -> str:
    """The command that was meant, for the envelope of an error."""
    from .table import COMMANDS

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
        from ..git import ownership

        ownership.check()
    from . import full

    return full.run(argv)


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
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
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
