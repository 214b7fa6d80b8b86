"""Typer commands that are imported when they are called: the table makes them, the options that all have are added.

1. A group knows its commands as placeholders from the table; only the called one is loaded.
2. A command function returns an Output; its docstring is its help.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .asking import As, Asked, RequestKey
from .dispatch import Result, call, function_of
from .requests import NEVER
from .table import COMMANDS, FIRST, GROUPS, JOURNEYS, Entry

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def _shown(entry: Entry) -> Callable[..., Result]:
    """The command's function with `--json`, and where it changes something with `--as` and `--request`."""
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
