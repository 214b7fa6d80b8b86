"""`nobrakes` alone: what this is, where things are, and the sensible next step in this repository."""

import inspect
import io
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer
from typer import Argument
from typer.core import TyperCommand, TyperGroup

from .. import paths
from ..errors import UsageError
from ..text.cleaning import one_line
from . import main
from .repository import (
    BEFORE,
    NEVER,
    As,
    Asked,
    Output,
    RequestKey,
    said,
    write,
)
from .screen import Screen
from .table import COMMANDS, FIRST, GROUPS, JOURNEYS, OLD_NAMES, Entry

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def _shown(entry: Entry) -> Callable[..., main.Result]:
    """The command's function with `--json`, and where it changes something with `--as` and `--request`."""
    function = main.function_of(entry)
    signature = inspect.signature(function, eval_str=True)
    own = "as_json" in signature.parameters

    def called(**arguments: Any) -> main.Result:
        asked = Asked(arguments.pop("act_as", None), arguments.pop("request_key", None))
        return main.call(entry, function, arguments, bool(arguments.pop("as_json")), asked)

    parameters = list(signature.parameters.values())
    if not own:
        parameters.append(
            inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        )
    parameters += [inspect.Parameter(name, _ANYWHERE, default=None, annotation=of) for name, of in _more(entry)]
    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters], return_annotation=main.Result
    )
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    called.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("Example:", "\b\nExample:")  # \b: not re-wrapped
    called.__name__ = function.__name__
    return called


_ANYWHERE = inspect.Parameter.KEYWORD_ONLY


def _more(entry: Entry) -> list[tuple[str, Any]]:
    """The options of every command that changes something."""
    if not entry.changes:
        return []
    return [("act_as", As), *([("request_key", RequestKey)] if entry.words not in NEVER else [])]


def load(entry: Entry) -> TyperCommand:
    """The command itself, imported."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    function = _shown(entry)
    app.command(name=entry.words.split()[-1], context_settings=SETTINGS)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    return command


class _Placeholder(TyperCommand):
    """A command by its words and its line of help, not imported yet."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.words.split()[-1], help=entry.help, hidden=entry.hidden, rich_markup_mode=None)
        self.entry = entry


class LazyGroup(TyperGroup):
    """A group of placeholders, listed by journey, of which the called one is loaded.

    `own`: the command that the group's word alone is.
    """

    own: Entry | None = None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As in typer, with the real command in the placeholder's place."""
        if args[0] in OLD_NAMES and self.name == "nobrakes":
            raise UsageError(f"`nobrakes {args[0]}` is now `nobrakes {OLD_NAMES[args[0]]}`")
        name, command, rest = super().resolve_command(ctx, args)
        own = getattr(command, "own", None)
        if own is not None and (not rest or rest[0].startswith("-")):
            return name, load(own), rest  # the group's word alone is a command too
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
        """The commands under the journey that they belong to."""
        shown = [(name, command) for name, command in self.commands.items() if not command.hidden]
        if self.name == "nobrakes":
            with formatter.section("Begin with"):
                formatter.write_dl(FIRST)
        for journey in JOURNEYS:
            rows = [(name, command.help or "") for name, command in shown if _journey(command) == journey]
            if rows:
                with formatter.section(journey if self.name == "nobrakes" else "Commands"):
                    formatter.write_dl(rows)


def _journey(command: Any) -> str:
    return command.entry.journey if isinstance(command, _Placeholder) else GROUPS[command.name][0]


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
    """The whole command line, nothing of it imported; `callback` runs before each command and for none."""
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
    """Coding agents build software in your repository, unattended, and cannot break it.

    Run `nobrakes` alone to see what the sensible next step is. Every command has --help and --json.
    Shell completion: nobrakes --install-completion
    """
    if version:
        from .. import __version__

        write(f"nobrakes {__version__}")
        raise typer.Exit()
    BEFORE.set(Asked(act_as, request_key))
    if ctx.invoked_subcommand is None:
        return overview()
    return None


def full_run(argv: list[str]) -> Any:
    """What the command gave back (a Result), the overview's Output, or an exit code. typer's complaints pass."""
    return root(before).main(args=argv, prog_name="nobrakes", standalone_mode=False)


def help(
    words: Annotated[list[str] | None, Argument(metavar="COMMAND", help="The command, such as `plan apply`.")] = None,
) -> Output:
    """The help of a command, as its --help prints it; without one, of all commands.

    Example: nobrakes help plan apply
    """

    text = io.StringIO()
    with redirect_stdout(text):
        root(before).main(args=[*(words or ()), "--help"], prog_name="nobrakes", standalone_mode=False)
    return said({"command": " ".join(words or ()), "help": text.getvalue()}, text.getvalue().rstrip())


_SHOWN = {
    "Forge": ("init", "plan apply", "shape", "add", "commit-strategy"),
    "Board": ("status", "list", "ready", "graph", "watch"),
    "Decision Desk": ("escalations", "answer", "resolve", "undo"),
    "Breaker Box": ("run", "daemon start", "pause", "stop", "doctor"),
}


def next_step() -> tuple[str, str]:
    """(command, why) for the repository around the current folder."""

    if paths.find() is None:
        if paths.repository_root(os.getcwd()) is None:
            return "git init", "nobrakes lives in a git repository, and there is none here"
        return "nobrakes init", "this repository does not use nobrakes yet"
    from ..daemon.service import now as views
    from ..decisions.service.hindrances import hindrances
    from .repository import looked_at

    with looked_at() as app:
        found = views.next_step(app.store, hindrances(app.store, app.paths, app.config), app.config.forge.rules())
    return one_line(found.command), one_line(found.why)


def overview() -> Output:
    """Short orientation, grouped by journey."""
    command, why = next_step()
    help_of = {entry.words: entry.help for entry in COMMANDS}
    data: dict[str, Any] = {
        "next": {"command": command, "why": why},
        "journeys": {name: {words: help_of[words] for words in shown} for name, shown in _SHOWN.items()},
    }

    def text(screen: Screen) -> str:
        out = ["nobrakes: coding agents build software in your repository, and cannot break it.", ""]
        for journey in JOURNEYS:
            name, _, rest = journey.partition(":")
            if name in _SHOWN:
                out.append(screen.paint(name, "bold") + f": {rest.strip()}")
                out += [f"  nobrakes {words:<16} {help_of[words]}" for words in _SHOWN[name]]
                out.append("")
        out.append(f"Next: {screen.paint(command, 'green')}   ({why})")
        out.append("All commands: nobrakes --help")
        return "\n".join(out)

    return Output(data, text)
