"""The full command line by typer: every spelling, help, completion, and what is wrong with the words.

Its options are made of the same parameters that main.parsed reads.
"""

import inspect
import io
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import redirect_stdout
from typing import Annotated, Any, get_args

import typer
from typer import Argument, Option
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..command_table import (
    COMMANDS,
    FIRST,
    GROUPS,
    JOURNEYS,
    NOUNS,
    OLD_NAMES,
    SHOWN,
    Entry,
    Field,
    Parameter,
    example,
)
from ..errors import UsageError
from . import main
from .main import Call, Result, default, is_list, overview, typed_in
from .outcome import ACT_AS, BEFORE, REQUEST_KEY, Asked, Output, said, write

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def by_typer(argv: list[str]) -> Any:
    """The result of the command, as `root` returns it. UsageError: what typer says of the words."""
    if argv[1:] and argv[0] in ("--install-completion", "--show-completion"):  # typer asks which shell calls, else
        os.environ["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    try:
        return root(before).main(args=argv, prog_name="nobrakes", standalone_mode=False)
    except typer.TyperException as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "nobrakes")
        said, hint = _did_you_mean(error.format_message())
        raise UsageError(said, f"{hint}See `{where} --help`.") from None
    except typer.Abort:
        raise KeyboardInterrupt from None


def _did_you_mean(message: str) -> tuple[str, str]:
    for opening, closing in ((" Did you mean ", "?"), (" (Possible options: ", ")"), (" (Did you mean one of: ", ")")):
        said, found, like = message.partition(opening)
        if found:
            names = [name.strip(" '") for name in like.removesuffix(closing).split(",")]
            return said, f"Did you mean {' or '.join(map(repr, names))}? "
    return message.replace("is not a valid int range", "is not a whole number"), ""


def _shown(entry: Entry) -> Callable[..., Result]:
    function = main.function_of(entry)

    def called(**arguments: Any) -> Result:
        return Call(entry, function, arguments).result()

    options = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default(one), annotation=_option(one))
        for one in typed_in(entry, function)
    ]
    called.__signature__ = inspect.Signature(options, return_annotation=Result)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in options}
    called.__doc__ = (
        f"{inspect.cleandoc(function.__doc__ or '')}\n\n\b\nExample: {example(entry)}"  # \b: not re-wrapped
    )
    called.__name__ = function.__name__
    return called


def _option(one: Parameter) -> Any:
    """Its type for typer, and how it is typed."""
    kind: Any = list[get_args(one.type)[0]] if is_list(one) else one.type  # type: ignore[misc]
    make: Any = Option if one.field.options else Argument
    how = make(
        *one.field.options,
        help=_help(one),
        metavar=one.field.metavar or None,
        min=one.field.least,
        max=one.field.greatest,
        hidden=one.field.hidden,
    )
    return Annotated[kind if default(one) is not None else kind | None, how]


def _help(one: Parameter) -> str:
    field, last = one.field, "".join(one.field.one_of[-1:])
    more = f"; {', '.join(field.one_of[:-1])} or {last}" if last not in field.help else ""
    more += "; repeatable" if get_args(one.type)[-1:] == (...,) and field.options else ""
    more += "; '-' reads stdin" if field.reads_stdin else ""
    return f"{field.help.removesuffix('.')}{more}." if more else field.help


def load(entry: Entry) -> TyperCommand:
    """The imported command."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name=entry.words.split()[-1], context_settings=SETTINGS)(_shown(entry))
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
        is_alone = rest[0].startswith("-") if rest else not ctx.resilient_parsing  # which a shell's question is
        if (own := getattr(command, "own", None)) is not None and is_alone:
            return name, load(own), rest  # the group's word alone is a command too
        if name == "plan" and isinstance(command, LazyGroup) and rest and _is_file(rest[0], command.commands):
            return name, command, ["apply", *rest]  # `nobrakes plan FILE`
        return name, load(command.entry) if isinstance(command, _Placeholder) else command, rest

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The group's commands, and what the group's word alone takes."""
        found = super().shell_complete(ctx, incomplete)
        return found if self.own is None else [*found, *load(self.own).shell_complete(ctx, incomplete)]

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
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and the commit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Without a command: the overview as JSON.")] = False,
    act_as: Any = None,
    request_key: Any = None,
) -> Any:
    """Run coding agents unattended; only work that passes your checks is merged.

    Run `nobrakes` alone to see what to do next. Every command has --help and --json.
    Shell completion: nobrakes --install-completion"""
    if version:
        from .doctor import own_commit

        commit = own_commit()
        write(f"nobrakes {__version__}" + (f" ({commit})" if commit else ""))
        raise typer.Exit()
    BEFORE.set(Asked(act_as, request_key))
    return overview(as_json) if ctx.invoked_subcommand is None else None


before.__annotations__ |= {one.name: _option(one) for one in (ACT_AS, REQUEST_KEY)}


def help(
    words: Annotated[list[str] | None, Field("The command, such as `plan apply`.", metavar="COMMAND")] = None,
    all_commands: Annotated[bool, Field("List every command, grouped by subject.", ("--all",))] = False,
) -> Output:
    """Show the help of a command. Without one, show the commands that you need first."""
    text = io.StringIO()
    if words and all_commands:
        raise UsageError("`--all` cannot be combined with a command name", "Leave out the command, or leave out --all.")
    if all_commands:
        for subject, noun in NOUNS.items():
            entries = [one for one in COMMANDS if one.subject == subject and not one.hidden]
            text.write(f"{noun}:\n" + "".join(f"  {one.words:<20} {one.help}\n" for one in entries) + "\n")
    else:
        with redirect_stdout(text):
            by_typer([*(words or ()), "--help"])
    return said({"command": " ".join(words or ()), "help": text.getvalue()}, text.getvalue().rstrip())
