"""The full command line: parse, call, show, and turn every kind of ending into text and an exit code.

1. A NobrakesError is its message, its hint and its code. A usage error is 2, Ctrl-C 130, a closed pipe 141.
2. Anything else is a bug: 70, a short text, and the traceback in a file under .nobrakes (stderr with --debug).
3. With --json the error is an envelope on stdout; the code is the same.
"""

import inspect
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from textwrap import wrap
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

import typer
from typer import Argument, Option
from typer.core import TyperCommand, TyperGroup

from .. import __version__, paths
from ..command_table import (
    ATOMIC,
    COMMANDS,
    FIRST,
    GROUPS,
    JOURNEYS,
    NOUNS,
    OLD_NAMES,
    SHOWN,
    UNKEYED,
    CommandFunction,
    Entry,
    Parameter,
    example,
    parameters_of,
)
from ..errors import NobrakesError, NotAllowed, UsageError
from ..text.cleaning import lines, one_line, unusable
from . import outcome
from .entry import interrupted as interrupted_early
from .outcome import (
    BEFORE,
    HOME,
    KEPT,
    MAIN_IS_SHOWN,
    PIPE_CLOSED,
    SUBJECT,
    As,
    Asked,
    Interrupted,
    Output,
    RequestKey,
    UserPlace,
    actor,
    asked,
    choose,
    emit,
    error_envelope,
    for_place,
    looked_at,
    opened_or_home,
    plain,
    said,
    text_or_stdin,
    write,
)
from .screen import Screen, screen_of

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
    own = dict(inspect.signature(function, eval_str=True).parameters)
    if command is None or own.pop("given", None) is None:
        return function
    more = [one.replace(kind=_ANYWHERE) for one in own.values()]
    return typed(
        name,
        function.__doc__ or command.__doc__,
        [one for one in parameters_of(command) if one.name not in own],
        function,
        more,
    )


def _typed(command: CommandFunction, at_home: bool) -> Callable[..., Output]:
    def do(user: bool = False, **given: Any) -> Output:
        with opened_or_home(user) as app:
            found, text = command(app, actor(), **given)
        return said(plain(found), text)

    more = [inspect.Parameter("user", _ANYWHERE, default=False, annotation=UserPlace)] if at_home else []
    return typed(command.__name__, command.__doc__, parameters_of(command), do, more)


def typed(
    name: str,
    story: str | None,
    parameters: Sequence[Parameter],
    do: Callable[..., Output],
    more: Sequence[inspect.Parameter] = (),
) -> Callable[..., Output]:
    """A function for typer that calls `do` with the given parameters."""
    wanted = {one.name: one for one in parameters}

    def called(**arguments: Any) -> Output:
        arguments |= {one.name: _chosen(name, one, arguments) for one in parameters if one.field.choices}
        given = {name: value for name, value in arguments.items() if value is not None}
        return do(**{name: _given(wanted[name], value) if name in wanted else value for name, value in given.items()})

    options = [option for one in parameters for option in _options(one)] + list(more)
    called.__signature__ = inspect.Signature(options, return_annotation=Output)  # type: ignore[attr-defined]
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
        raise UsageError(f"choose one way to {name} it", f"Use one of --{', --'.join(one.field.choices)}.")
    return found[0]


def _options(one: Parameter) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(word, _ANYWHERE, default=False, annotation=Annotated[bool, Option(f"--{word}", help=help)])
        for word, help in one.field.choices.items()
    ] or [_option(one)]


def _option(one: Parameter) -> inspect.Parameter:
    field, kind, default = one.field, one.type, one.default
    if isinstance(kind, GenericAlias):
        kind, default = list[get_args(kind)[0]], None  # type: ignore[misc]
    if default is None:
        kind = kind | None
    make: Any = Option if field.options else Argument
    how = make(*field.options, help=_help(one), metavar=field.metavar or None, min=field.least)
    return inspect.Parameter(one.name, _ANYWHERE, default=default, annotation=Annotated[kind, how])


def _help(one: Parameter) -> str:
    field, last = one.field, "".join(one.field.one_of[-1:])
    more = f"; {', '.join(field.one_of[:-1])} or {last}" if last not in field.help else ""
    more += "; repeatable" if get_args(one.type)[-1:] == (...,) and field.options else ""
    more += "; '-' reads stdin" if field.reads_stdin else ""
    return f"{field.help.removesuffix('.')}{more}." if more else field.help


def call(
    entry: Entry, function: Callable[..., Output], arguments: Mapping[str, Any], as_json: bool, after: Asked
) -> Result:
    """Call the command's function, once for a key; refuses agents."""
    if signal.getsignal(signal.SIGINT) is interrupted_early:  # from here on the command ends in its own way
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if entry.changes and os.environ.get("NOBRAKES_TOKEN"):
        raise NotAllowed(
            f"an agent may not use `nobrakes {entry.words}`",
            "Say what you need with `nobrakes agent escalate`, or ask with `nobrakes agent ask`.",
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
            raise UsageError(f"`nobrakes {entry.words}` takes no {option}", f"See `nobrakes {entry.words} --help`.")


BUG = 70


def _wants(flag: str, argv: list[str]) -> bool:
    """Ignores what follows `--`."""
    return flag in (argv[: argv.index("--")] if "--" in argv else argv)


def _words(argv: list[str]) -> str:
    given = [word for word in argv if not word.startswith("-")][:2]
    known = {entry.words for entry in COMMANDS}
    for words in (" ".join(given), " ".join(given[:1])):
        if words in known:
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
    return f"The traceback is in {os.path.relpath(path)}; please send it along with what you did."


def _wrapped(line: str, width: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    return wrap(line, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False) or [""]


def _did_you_mean(message: str) -> tuple[str, str]:
    for opening, closing in ((" Did you mean ", "?"), (" (Possible options: ", ")"), (" (Did you mean one of: ", ")")):
        said, found, like = message.partition(opening)
        if found:
            names = [name.strip(" '") for name in like.removesuffix(closing).split(",")]
            return said, f"Did you mean {' or '.join(map(repr, names))}? "
    return message.replace("is not a valid int range", "is not a whole number"), ""


def interrupted(argv: list[str]) -> int:
    """Report Ctrl-C."""
    error = Interrupted("interrupted")
    if _wants("--json", argv):
        return fail(argv, error, str(error), "", error.code)
    sys.stderr.write("\ninterrupted\n")
    return error.code


def _as_disk_error(error: OSError) -> Exception:
    """A full or read-only disk is not a bug."""
    from ..host.files import storage_errors

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
    if isinstance(error, typer.TyperException):
        where = getattr(getattr(error, "ctx", None), "command_path", "nobrakes")
        said, hint = _did_you_mean(error.format_message())
        known = UsageError(said, f"{hint}See `{where} --help`.")
        return fail(argv, known, str(known), known.hint, known.code)
    if isinstance(error, typer.Abort):
        return interrupted(argv)
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
                raise UsageError(f"the argument '{shown}' {why}", "Give it in UTF-8.") from None
        found.append(arg)
    return found


def run(argv: list[str]) -> int:
    """Returns the exit code; raises only SystemExit, for a closed pipe."""
    try:
        SUBJECT.set(HOME if _wants("--user", argv) else "")
        argv = readable(argv)
        if paths.strangers() and not (
            any(_wants(flag, argv) for flag in ("--help", "-h", "--version", "-V")) or argv[:1] == ["help"]
        ):
            from ..git import location

            location.check()
        result = root(before).main(args=argv, prog_name="nobrakes", standalone_mode=False)
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


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def _shown(entry: Entry) -> Callable[..., Result]:
    function = function_of(entry)
    signature = inspect.signature(function, eval_str=True)
    own = "as_json" in signature.parameters

    def called(**arguments: Any) -> Result:
        asked = Asked(arguments.pop("act_as", None), arguments.pop("request_key", None))
        return call(entry, function, arguments, bool(arguments.pop("as_json")), asked)

    parameters = list(signature.parameters.values())
    if not own:
        parameters.append(
            inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        )
    parameters += [inspect.Parameter(name, _ANYWHERE, default=None, annotation=of) for name, of in _more(entry)]
    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters], return_annotation=Result
    )
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    called.__doc__ = (
        f"{inspect.cleandoc(function.__doc__ or '')}\n\n\b\nExample: {example(entry)}"  # \b: not re-wrapped
    )
    called.__name__ = function.__name__
    return called


_ANYWHERE = inspect.Parameter.KEYWORD_ONLY


def _more(entry: Entry) -> list[tuple[str, Any]]:
    if not entry.changes:
        return []
    return [("act_as", As), *([("request_key", RequestKey)] if entry.changes != UNKEYED else [])]


def load(entry: Entry) -> TyperCommand:
    """The imported command."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    function = _shown(entry)
    app.command(name=entry.words.split()[-1], context_settings=SETTINGS)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    return command


class _Placeholder(TyperCommand):
    """A command's words and help, not imported yet."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.words.split()[-1], help=entry.help, hidden=entry.hidden, rich_markup_mode=None)
        self.entry = entry


def _is_file(word: str, commands: Collection[str]) -> bool:
    """Whether this is a file or an option, and not a command or a misspelt one."""
    from difflib import get_close_matches

    return word not in {*commands, "-h", "--help"} and (os.path.exists(word) or not get_close_matches(word, commands))


class LazyGroup(TyperGroup):
    """Placeholders by journey; only the called one is loaded. `own`: the command of the group's word alone."""

    own: Entry | None = None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As in typer, with the real command in the placeholder's place."""
        if args[0] in OLD_NAMES and self.name == "nobrakes":
            raise UsageError(f"`nobrakes {args[0]}` is now `nobrakes {OLD_NAMES[args[0]]}`")
        name, command, rest = super().resolve_command(ctx, args)
        if (own := getattr(command, "own", None)) is not None and (not rest or rest[0].startswith("-")):
            return name, load(own), rest  # the group's word alone is a command too
        if name == "plan" and isinstance(command, LazyGroup) and rest and _is_file(rest[0], command.commands):
            return name, command, ["apply", *rest]  # `nobrakes plan FILE`
        return name, load(command.entry) if isinstance(command, _Placeholder) else command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what it is, the first commands, all commands, and the options last."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)
        with formatter.section("Options"):
            formatter.write_dl([r for p in self.get_params(ctx) if (r := p.get_help_record(ctx)) is not None])
        self.format_epilog(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """All commands of a group; of nobrakes those of a first day and, by journey, a first week."""
        rows = [(name, command.help or "") for name, command in self.commands.items() if not command.hidden]
        if self.name != "nobrakes":
            with formatter.section("Commands"):
                formatter.write_dl(rows)
            return
        with formatter.section("Begin with"):
            formatter.write_dl(FIRST)
        for journey in JOURNEYS:
            if rows := [*shown(journey, SHOWN).items()]:
                with formatter.section(journey):
                    formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text("All commands: nobrakes help --all")


def shown(journey: str, words: frozenset[str]) -> dict[str, str]:
    """A journey's words in table order, with help."""
    known = {one.words.split()[0]: (one.journey, one.help) for one in reversed(COMMANDS)} | GROUPS
    names = dict.fromkeys(one.words.split()[0] for one in COMMANDS)
    return {name: known[name][1] for name in names if name in words and known[name][0] == journey}


def _members(entries: Sequence[Entry], group: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in entries:
        words = entry.words.split()
        if group is None and words[0] in GROUPS:
            if words[0] not in found:
                found[words[0]] = LazyGroup(
                    name=words[0],
                    help=GROUPS[words[0]][1],
                    commands=_members(entries, words[0]),
                    rich_markup_mode=None,
                    context_settings=SETTINGS,
                )
            if len(words) == 1:
                found[words[0]].own = entry
        elif group is None or (len(words) == 2 and words[0] == group):
            found[words[-1]] = _Placeholder(entry)
    return found


def root(callback: Callable[..., Any]) -> TyperGroup:
    """The full command line without imports; `callback` runs before each command and for none."""
    app = typer.Typer(
        name="nobrakes",
        cls=LazyGroup,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        invoke_without_command=True,
        context_settings=SETTINGS,
    )
    app.callback()(callback)
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    group.commands.update(_members(COMMANDS, None))
    return group


def before(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when nobrakes itself fails.")] = False,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Without a command: the overview as JSON.")] = False,
    act_as: As = None,
    request_key: RequestKey = None,
) -> Any:
    """Run coding agents unattended; only work that passes your checks is merged.

    Run `nobrakes` alone to see what to do next. Every command has --help and --json.
    Shell completion: nobrakes --install-completion"""
    if version:
        write(f"nobrakes {__version__}")
        raise typer.Exit()
    BEFORE.set(Asked(act_as, request_key))
    return overview(as_json) if ctx.invoked_subcommand is None else None


def help(
    words: Annotated[list[str] | None, Argument(metavar="COMMAND", help="The command, such as `plan apply`.")] = None,
    all_commands: Annotated[bool, Option("--all", help="List every command, grouped by subject.")] = False,
) -> Output:
    """Show the help of a command. Without one, show the commands that you need first."""
    text = io.StringIO()
    if words and all_commands:
        raise UsageError("`--all` cannot be combined with a command name", "Leave out the command, or --all.")
    if all_commands:
        for subject, noun in NOUNS.items():
            entries = [one for one in COMMANDS if one.subject == subject and not one.hidden]
            text.write(f"{noun}:\n" + "".join(f"  {one.words:<20} {one.help}\n" for one in entries) + "\n")
    else:
        with redirect_stdout(text):
            root(before).main(args=[*(words or ()), "--help"], prog_name="nobrakes", standalone_mode=False)
    return said({"command": " ".join(words or ()), "help": text.getvalue()}, text.getvalue().rstrip())


def orientation(is_visiting: bool) -> "tuple[FirstScreen | None, str, str]":
    """(the answers of a morning, the next command, why) for the repository around the current folder."""

    if paths.find() is None:
        if paths.repository_root(os.getcwd()) is None:
            return None, "git init", "nobrakes needs a git repository, and there is none here"
        return None, "nobrakes init", "this repository does not use nobrakes yet"
    from ..app import blockers
    from ..daemon.service import now as views
    from ..daemon.service import status

    MAIN_IS_SHOWN.set(True)
    with looked_at() as app:
        stands = blockers(app)
        found = views.next_step(app.store, stands, app.config.forge)
        working = status.workers(app.store, stands.works)
        first = status.first_screen(app.store, app.git, app.paths, app.config, stands, working, is_visiting)
    return first, one_line(found.command), one_line(found.why + found.other)


def overview(as_json: bool) -> Output:
    """The answers of a morning, and the next step."""
    first, command, why = orientation(not as_json)
    data = {"next": {"command": command, "why": why}, "first": plain(first)}

    def text(screen: Screen) -> str:
        from .views import first_text

        tagline = ["nobrakes: run coding agents unattended; only work that passes your checks is merged."]
        out = tagline if first is None else first_text(first, screen)
        out += ["", f"Next: {screen.paint(command, 'green')}   ({why})"]
        return "\n".join([*out, "First commands: nobrakes help   All commands: nobrakes help --all"])

    return Output(data, text)
