"""The man page of nobrakes, in man(7), of the one table of commands: docs/reference/nobrakes.1.

`python -m docs.generate.reference --write docs/reference` writes it with the other pages.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nobrakes import __version__
from nobrakes.cli.main import function_of
from nobrakes.cli.parsing import before, load, root
from nobrakes.command_table import COMMANDS, FIRST, JOURNEYS, Entry, example

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
_ABOUT = """nobrakes runs coding agents in a git repository and merges only work that passes the project's checks. You
approve the plan; nobrakes assigns the work to agents, watches them, runs the checks, and merges or rejects each change.
Without a command, nobrakes prints what to do next. Every command accepts --help, and --json for programs."""
_FILES = (
    (
        ".nobrakes/config.toml",
        "The settings of the repository, tracked by git. `nobrakes config --all` prints them all.",
    ),
    ("~/.config/nobrakes/config.toml", "Your own settings, for all repositories."),
)
_ENVIRONMENT = (
    ("NOBRAKES_USER_HOME", "The folder of your own settings and state."),
    ("NOBRAKES_ACTOR", "The name to record for what you change."),
    ("NO_COLOR", "Set to print without colours."),
)
_EXITS = (
    ("0", "Success."),
    ("2", "The command line is wrong."),
    ("40", "Something waits for a person; the output names it."),
    ("70", "An internal error: a bug in nobrakes."),
    ("130", "You pressed Ctrl-C."),
)


def escaped(text: str) -> str:
    """One line of text for man(7)."""
    flat = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{flat}" if flat.startswith((".", "'")) else flat


def _listed(rows: Any) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", f"\\fB{escaped(name)}\\fR", escaped(text))


def _parameters(command: Any, words: str) -> Iterator[str]:
    context = command.context_class(command, info_name=words)
    yield from _listed(r for p in command.get_params(context) if (r := p.get_help_record(context)) and p.name != "help")


def _command(entry: Entry) -> Iterator[str]:
    first, *others = (inspect.getdoc(function_of(entry)) or entry.help).split("\n\n")
    yield from (f".SS {escaped(f'nobrakes {entry.words}')}", escaped(first))
    for paragraph in others:
        yield from (".PP", escaped(paragraph))
    yield from (".PP", f"Example: \\fB{escaped(example(entry))}\\fR")
    yield from _parameters(load(entry), entry.words)


def man_page() -> str:
    """The page; equal text for equal commands."""
    day = re.search(rf"^## \[{re.escape(__version__)}\] - (\S+)$", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)
    out = [f'.TH NOBRAKES 1 "{day[1] if day else ""}" "nobrakes {__version__}" "User Commands"']
    out += [".SH NAME", "nobrakes \\- run coding agents unattended; only work that passes your checks is merged"]
    out += [".SH SYNOPSIS", "\\fBnobrakes\\fR [\\fIOPTIONS\\fR] [\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]]"]
    out += [
        ".SH DESCRIPTION",
        escaped(_ABOUT),
        ".PP",
        "To begin, type:",
        *_listed((f"nobrakes {n}", t) for n, t in FIRST),
    ]
    out += [".SH OPTIONS", *_parameters(root(before), "nobrakes")]
    for journey in JOURNEYS:
        out.append(f".SH {escaped(re.sub(':.*', '', journey).upper())} COMMANDS")
        out += [line for one in COMMANDS if one.journey == journey and not one.hidden for line in _command(one)]
    for title, rows in (("FILES", _FILES), ("ENVIRONMENT", _ENVIRONMENT), ("EXIT STATUS", _EXITS)):
        out += [f".SH {title}", *_listed(rows)]
    return "\n".join([*out, ".SH SEE ALSO", "\\fBgit\\fR(1)"]) + "\n"
