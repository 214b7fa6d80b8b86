"""The command line: parse, call, show, and turn every kind of ending into text and an exit code.

1. A NobrakesError is its message, its hint and its code. A usage error is 2, Ctrl-C 130, a closed pipe 141.
2. Anything else is a bug: 70, a short text, and the traceback in a file under .nobrakes (stderr with --debug).
3. With --json the error is an envelope on stdout; the code is the same.
4. `parsed` reads the usual words by a command's own parameters. What it is not sure of, help and errors are typer's
   (cli.parsing), whose import costs more than most commands.
"""

import inspect
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from textwrap import wrap
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from .. import paths
from ..command_table import (
    ATOMIC,
    COMMANDS,
    GROUPS,
    UNKEYED,
    CommandFunction,
    Entry,
    Field,
    Parameter,
    parameters_of,
)
from ..errors import NobrakesError, NotAllowed, UsageError
from ..text.cleaning import lines, one_line, unusable
from . import outcome
from .entry import interrupted as interrupted_early
from .outcome import (
    ACT_AS,
    AS_JSON,
    BEFORE,
    HOME,
    KEPT,
    MAIN_IS_SHOWN,
    PIPE_CLOSED,
    REQUEST_KEY,
    SUBJECT,
    Asked,
    Interrupted,
    Output,
    UserPlace,
    actor,
    asked,
    choose,
    emit,
    error_envelope,
    for_place,
    looked_at,
    opened_or_home,
    said,
    text_or_stdin,
    write,
)
from .screen import Screen, read_words, screen_of

if TYPE_CHECKING:
    from ..daemon.service.status import FirstScreen


class Result(NamedTuple):
    """A command's result and its presentation."""

    entry: Entry
    output: Output
    as_json: bool


def function_of(entry: Entry) -> Callable[..., Output]:
    """Import the command's function. If printed by hand, `**given` are the parameters of every surface."""
    if (command := entry.command()) and not entry.cli:
        return _typed(command, entry.at_home)
    module, name = entry.target.split(":")
    function: Callable[..., Output] = getattr(import_module(f"nobrakes.cli.{entry.cli or module}"), name)
    own = inspect.signature(function).parameters
    if command is None or "given" not in own:
        return function
    every = [one for one in parameters_of(command) if one.name not in own]
    return typed(name, function.__doc__ or command.__doc__, every, function, parameters_of(function, 0))


def _typed(command: CommandFunction, at_home: bool) -> Callable[..., Output]:
    def do(user: bool = False, **given: Any) -> Output:
        with opened_or_home(user) as app:
            found, text = command(app, actor(), **given)
        return said(found, text)

    more = [Parameter("user", bool, get_args(UserPlace)[1], False)] if at_home else []
    return typed(command.__name__, command.__doc__, parameters_of(command), do, more)


def typed(
    name: str,
    story: str | None,
    parameters: Sequence[Parameter],
    do: Callable[..., Output],
    more: Sequence[Parameter] = (),
) -> Callable[..., Output]:
    """A function of the command line's values that calls `do` with the given parameters."""
    wanted = {one.name: one for one in parameters}

    def called(**arguments: Any) -> Output:
        arguments |= {one.name: _chosen(name, one, arguments) for one in parameters if one.field.choices}
        given = {name: value for name, value in arguments.items() if value is not None}
        return do(**{name: _given(wanted[name], value) if name in wanted else value for name, value in given.items()})

    options = [option for one in parameters for option in _options(one)] + list(more)
    given = [one.given() for one in options]
    called.__signature__ = inspect.Signature(given, return_annotation=Output)  # type: ignore[attr-defined]
    called.__doc__, called.__name__ = story, name
    return called


def _given(one: Parameter, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    reads = one.field.reads_stdin and (value == "-" or one.is_required())
    return text_or_stdin(value, one.name) if reads else value


def _chosen(name: str, one: Parameter, arguments: dict[str, Any]) -> str:
    found = [word for word in one.field.choices if arguments.pop(word)]
    if len(found) != 1:
        raise UsageError(f"choose exactly one {name} option", f"Use one of --{', --'.join(one.field.choices)}.")
    return found[0]


def _options(one: Parameter) -> list[Parameter]:
    chosen = [Parameter(word, bool, Field(help, (f"--{word}",)), False) for word, help in one.field.choices.items()]
    return chosen or [one]


def typed_in(entry: Entry, function: Callable[..., Output]) -> tuple[Parameter, ...]:
    """What can be typed after the command's words: its own, and what each command takes."""
    own = parameters_of(function, 0)
    more = [] if any(one.name == "as_json" for one in own) else [AS_JSON]
    more += [ACT_AS] if entry.changes else []
    more += [REQUEST_KEY] if entry.changes not in ("", UNKEYED) else []
    return (*own, *more)


class Call(NamedTuple):
    """A command's function, and the value of each parameter."""

    entry: Entry
    function: Callable[..., Output]
    arguments: dict[str, Any]

    def result(self) -> "Result":
        given = dict(self.arguments)
        asked = Asked(given.pop("act_as", None), given.pop("request_key", None))
        return call(self.entry, self.function, given, bool(given.pop("as_json")), asked)


def parsed(argv: list[str]) -> Call | None:
    """The call that these words mean; None: typer has to say."""
    words = " ".join(argv[: 2 if argv[:1] and argv[0] in GROUPS else 1])
    if (entry := ENTRIES.get(words)) is None:
        return None
    known = typed_in(entry, function := function_of(entry))
    options = {name: one for one in known for name in one.field.options}
    lists: dict[str, list[str]] = {name: [] for name, one in options.items() if is_list(one)}
    valued = tuple(name for name, one in options.items() if one.type in (str, int))
    flags = tuple(name for name, one in options.items() if one.type is bool and "/" not in name)
    if (read := read_words(argv[words.count(" ") + 1 :], valued, flags, lists)) is None:
        return None
    given, texts = read
    found: list[tuple[Parameter, Any]] = [(options[name], value) for name, value in given.items()]
    found += [(options[name], values) for name, values in lists.items() if values]
    free = [one for one in known if not one.field.options]
    found += [(one, texts[place:] if is_list(one) else texts[place]) for place, one in enumerate(free[: len(texts)])]
    arguments = {one.name: default(one) for one in known}
    arguments |= {one.name: _read(one, value) for one, value in found}
    is_sure = len({one.name for one, _ in found}) == len(found)  # each in one spelling
    is_sure &= len(texts) <= len(free) or any(map(is_list, free))
    return Call(entry, function, arguments) if is_sure and inspect.Parameter.empty not in arguments.values() else None


ENTRIES = {one.words: one for one in COMMANDS}


def is_list(one: Parameter) -> bool:
    return isinstance(one.type, GenericAlias)


def default(one: Parameter) -> Any:
    """The value of what was not typed; Parameter.empty: it must be."""
    return None if is_list(one) and not one.is_required() else one.default


def _read(one: Parameter, value: Any) -> Any:
    """The value of what was typed; Parameter.empty: only typer can say."""
    if one.type is bool:
        return True
    if one.type is int:
        is_plain = value.isascii() and value.isdigit() and len(value) < 10
        least, greatest = one.field.least or 0, one.field.greatest or 10**9
        return int(value) if is_plain and least <= int(value) <= greatest else inspect.Parameter.empty
    if isinstance(one.type, type) and issubclass(one.type, os.PathLike) and os.access(value, os.R_OK):
        return one.type(value)  # type: ignore[call-arg]
    return value if one.type is str or (is_list(one) and get_args(one.type)[0] is str) else inspect.Parameter.empty


def call(
    entry: Entry, function: Callable[..., Output], arguments: Mapping[str, Any], as_json: bool, after: Asked
) -> Result:
    """Call the command's function, once for a key; refuses agents."""
    if signal.getsignal(signal.SIGINT) is interrupted_early:  # from here on the command ends in its own way
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if entry.changes and os.environ.get("NOBRAKES_TOKEN"):
        raise NotAllowed(
            f"agents cannot use `nobrakes {entry.words}`",
            "Report what you need with `nobrakes agent escalate`, or ask with `nobrakes agent ask`.",
        )
    # a command that streams wants to know
    own = {"as_json": as_json} if "as_json" in inspect.signature(function).parameters else {}
    said = asked(after)
    if not entry.changes:
        _refuse(said, entry)
        return Result(entry, function(**arguments, **own), as_json)
    actor = choose(said.name)
    if said.request is None:
        return Result(entry, function(**arguments, **own), as_json)
    _refuse(Asked(None, said.request if entry.changes == UNKEYED else None), entry)
    KEPT.set(True)
    is_atomic = entry.changes == ATOMIC
    output = outcome.once(entry.words, said.request, is_atomic, actor, arguments, lambda: function(**arguments, **own))
    return Result(entry, output, as_json)


def _refuse(said: Asked, entry: Entry) -> None:
    """UsageError for an option before a command that does not take it."""
    for option, value in (("--as", said.name), ("--request", said.request)):
        if value is not None:
            raise UsageError(f"`nobrakes {entry.words}` has no {option}", f"See `nobrakes {entry.words} --help`.")


BUG = 70


def _wants(flag: str, argv: list[str]) -> bool:
    """Ignores what follows `--`."""
    return flag in (argv[: argv.index("--")] if "--" in argv else argv)


def _words(argv: list[str]) -> str:
    given = [word for word in argv if not word.startswith("-")][:2]
    for words in (" ".join(given), " ".join(given[:1])):
        if words in ENTRIES:
            return words
    return ""


def fail(argv: list[str], error: BaseException, message: str, hint: str, code: int) -> int:
    """Report the error as text or envelope; returns `code`."""
    message, hint = (for_place(text, SUBJECT.get()) for text in (message, hint))
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
    return f"The traceback is in {os.path.relpath(path)}; please send it together with what you did."


def _wrapped(line: str, width: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    return wrap(line, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False) or [""]


def interrupted(argv: list[str]) -> int:
    """Report Ctrl-C."""
    error = Interrupted("interrupted")
    if _wants("--json", argv):
        return fail(argv, error, str(error), "", error.code)
    sys.stderr.write("\ninterrupted\n")
    return error.code


def _as_disk_error(error: OSError) -> Exception:
    """A full or read-only disk is not a bug."""
    from ..files import storage_errors

    try:
        with storage_errors(str(error.filename or "a file")):
            raise error
    except (NobrakesError, OSError) as found:
        return found


def failed(argv: list[str], error: Exception) -> int:
    """Report a command's exception; returns the exit code."""
    if isinstance(error.__cause__, KeyboardInterrupt):  # a class that was being made turned it into a RuntimeError
        return interrupted(argv)
    if isinstance(error, OSError):
        error = _as_disk_error(error)
    if isinstance(error, NobrakesError):
        return fail(argv, error, str(error), error.hint, error.code)
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    return _bug(argv, error)


def readable(argv: list[str]) -> list[str]:
    """The arguments as UTF-8, whatever the locale. UsageError for other bytes that name no file."""
    found = []
    for arg in argv:
        why = "" if arg.isascii() else unusable(arg)
        if why and not os.path.lexists(arg):
            try:
                arg = os.fsencode(arg).decode()
            except UnicodeError:
                shown = arg[:40].encode("utf-8", "backslashreplace").decode()
                raise UsageError(f"the argument '{shown}' {why}", "Type the argument in UTF-8.") from None
        found.append(arg)
    return found


def result_of(argv: list[str]) -> Any:
    """A command's Result, the Output of the overview, or the exit code of what typer printed."""
    if "_NOBRAKES_COMPLETE" not in os.environ:  # a shell asks typer to complete
        if argv in ([], ["--json"]):
            return overview(argv != [])
        if (found := parsed(argv)) is not None:
            return found.result()
    from .parsing import by_typer

    return by_typer(argv)


def run(argv: list[str]) -> int:
    """Returns the exit code; raises only SystemExit, for a closed pipe."""
    try:
        SUBJECT.set(HOME if _wants("--user", argv) else "")
        BEFORE.set(None)
        argv = readable(argv)
        if paths.strangers() and not (
            any(_wants(flag, argv) for flag in ("--help", "-h", "--version", "-V")) or argv[:1] == ["help"]
        ):
            from ..git import location

            location.check()
        result = result_of(argv)
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


def orientation(is_visiting: bool) -> "tuple[FirstScreen | None, str, str]":
    """(the answers of a morning, the next command, why) for the repository around the current folder."""

    if paths.find() is None:
        if paths.repository_root(os.getcwd()) is None:
            return None, "git init", "nobrakes needs a git repository, and this folder is not in one"
        return None, "nobrakes init", "this repository does not use nobrakes yet"
    from ..app import blockers
    from ..daemon.service import status

    MAIN_IS_SHOWN.set(True)
    with looked_at() as app:
        stands = blockers(app)
        found = status.next_step(app.store, stands, app.config.forge)
        working = status.workers(app.store, stands.works)
        first = status.first_screen(app.store, app.git, app.paths, app.config, stands, working, is_visiting)
    return first, one_line(found.command), one_line(found.why + found.other)


def overview(as_json: bool) -> Output:
    """The answers of a morning, and the next step."""
    first, command, why = orientation(not as_json)
    data = {"next": {"command": command, "why": why}, "first": first}

    def text(screen: Screen) -> str:
        from .views import first_text

        tagline = ["nobrakes: run coding agents unattended; only work that passes your checks is merged."]
        out = tagline if first is None else first_text(first, screen)
        out += ["", f"Next: {screen.paint(command, 'green')}   ({why})"]
        return "\n".join([*out, "First commands: nobrakes help   All commands: nobrakes help --all"])

    return Output(data, text)
