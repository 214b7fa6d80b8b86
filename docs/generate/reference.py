"""The reference, Markdown and a man page, printed from the code itself: docs/reference is this module's output.

python -m docs.generate.reference commands           prints one page
python -m docs.generate.reference --write docs/reference   writes all of them
"""

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from docs.generate.man import man_page
from docs.generate.pages import events_page, outcomes_page, row, settings_page
from docs.generate.profiles_page import profiles_page
from docs.generate.public_page import public_events_page
from docs.generate.views_page import views_page
from nobrakes import errors
from nobrakes.cli.main import function_of
from nobrakes.cli.parsing import before, load, root
from nobrakes.command_table import COMMANDS, JOURNEYS, Entry, example

if TYPE_CHECKING:
    from nobrakes.agents.service.agent_api import Operation

_INTRO = """Every command accepts `--help`, and `--json` for programs. With `--json` a command prints one object:
`{"ok": true, "command": …, "data": …}`, or `{"ok": false, "command": …, "error": {"code", "name", "message", "hint"}}`,
where `error.code` is the [exit code](errors.md). Commands marked *streams* print one JSON object in each line instead.
[Views](views.md) describes the data of each command.

Commands that change something also accept these options:

- `--as NAME`: the name of the actor (default: `NOBRAKES_ACTOR`, or the person at the keyboard).
- `--request KEY`: run the command only once for this key. For thirty days, the same command with the same key prints
  its first result again. nobrakes refuses other arguments with the same key. A command that failed stores no key.

If an agent uses a command marked *people only*, nobrakes refuses it with exit code 17 (`NOBRAKES_TOKEN` is set).

The output has colours on a terminal, unless `NO_COLOR` is set. Without a command, `nobrakes` prints what to do next.
Options of `nobrakes` itself come before the command:
"""


def _parameters(command: Any, words: str) -> list[str]:
    context = command.context_class(command, info_name=words)
    records = [(p, p.get_help_record(context)) for p in command.get_params(context)]
    rows = [(record[0], record[1]) for p, record in records if record and p.name != "help"]
    return ["| | |", "|---|---|", *(row(f"`{name}`", text) for name, text in rows)]


def _command(entry: Entry) -> list[str]:
    marks = [word for word, given in (("people only", entry.changes), ("streams", entry.streams)) if given]
    story = inspect.getdoc(function_of(entry)) or ""
    out = [f"### nobrakes {entry.words}", "", " ".join(story.split())]
    out += ["", f"*{', '.join(marks)}*"] if marks else []
    return [*out, "", "```sh", example(entry), "```", "", *_parameters(load(entry), entry.words), ""]


def commands() -> str:
    """The reference of every command that is not hidden, by journey."""
    out = ["# Commands", "", _INTRO, *_parameters(root(before), "nobrakes"), ""]
    for journey in JOURNEYS:
        out += [f"## {journey}", ""]
        for entry in COMMANDS:
            if entry.journey == journey and not entry.hidden:
                out += _command(entry)
    return "\n".join(out).rstrip() + "\n"


def error_classes() -> list[type[errors.NobrakesError]]:
    """Every class of error, by exit code."""
    found = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.NobrakesError)]
    return sorted(found, key=lambda c: (c.code, c.__name__))


_ANY = "Any other error that a person can fix; also `nobrakes doctor` if it found something broken."


def error_reference() -> str:
    """The reference of exit codes."""
    out = ["# Errors and exit codes", "", "The exit code 0 means success. Every other code has one meaning:", ""]
    out += [row("code", "name", "what it means", "what to do"), "|---|---|---|---|"]
    for c in error_classes():
        meaning = _ANY if c is errors.NobrakesError else _first(c)
        out.append(row(str(c.code), c.__name__, meaning, c.hint or "see the message"))
    out += [
        row("70", "", "An internal error: a bug in nobrakes.", "Report it with the traceback and what you did."),
        row("130", "", "You pressed Ctrl-C.", ""),
        row("141", "", "The reader of the output ended first (`nobrakes list | head`).", ""),
    ]
    return "\n".join(out) + "\n"


def _first(of: Any) -> str:
    return " ".join((inspect.getdoc(of) or "").split())


_OPERATIONS = """# What an agent can do

Agents use these operations in two equivalent ways: as `nobrakes agent …` on the command line, or as tools of the MCP
server `nobrakes mcp`. An operation applies only to the bead of the attempt whose token is in `NOBRAKES_TOKEN`. The
token is refused after the attempt ended or another attempt got the bead.

nobrakes removes terminal escapes and invisible characters from a text, and cuts it at {limit} characters. An attempt
may make {remarks} remarks and ask people {questions} times. `--wait` waits at most {wait:.0f} s. On the
command line `-` as a text reads standard input, and every command takes `--json`.
"""
_BOARD = """## In your own agent's session

Without a token, `nobrakes mcp` reads the board of the repository in the current folder, and files drafts. Drafts
become live only when you type `nobrakes commit-strategy`. To add it to Claude Code: `claude mcp add nobrakes --
nobrakes mcp`.
"""


def operations_page() -> str:
    """The reference of the operations, from their one table."""
    from nobrakes.agents.db import edits as agents_edits
    from nobrakes.agents.service import agent_api, board_api, client

    facts = {"limit": agents_edits.LIMIT, "remarks": agents_edits.REMARKS[1], "questions": agents_edits.QUESTIONS[1]}
    out = [_OPERATIONS.format(**facts, wait=client.MAX_SECONDS)]
    for operation in agent_api.OPERATIONS:
        out += _operation(operation, f"`nobrakes agent {operation.name}`")
    out.append(_BOARD)
    for operation in board_api.OPERATIONS:
        out += _operation(operation, "")
    return "\n".join(out).rstrip() + "\n"


def _operation(operation: "Operation", command: str) -> list[str]:
    tool = operation.name.replace("-", "_")
    out = [f"### {operation.name}", "", operation.help, ""]
    out += [f"{command}; tool `{tool}`" if command else f"tool `{tool}`", ""]
    if not operation.parameters:
        return out
    out += [row("argument", "what it is", "type"), "|---|---|---|"]
    for parameter in operation.parameters:
        kinds = {str: "text", int: "whole number", float: "number", bool: "true or false", list: "list of texts"}
        kind = kinds[parameter.kind]
        kind = " or ".join(f"`{choice}`" for choice in parameter.choices) or kind
        out.append(row(f"`{parameter.name}`", parameter.help, kind + (", required" if parameter.required else "")))
    return [*out, ""]


PAGES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    "errors": error_reference,
    "settings": settings_page,
    "events": events_page,
    "events-public": public_events_page,
    "outcomes": outcomes_page,
    "operations": operations_page,
    "views": views_page,
    "agent-profiles": profiles_page,
}
"""The generated pages of docs/reference, by name."""
MAN = "nobrakes.1"


def main(argv: list[str]) -> int:
    """Print one page, or write them all into a folder."""
    if len(argv) == 2 and argv[0] == "--write":
        for name, page in {**{f"{name}.md": page for name, page in PAGES.items()}, MAN: man_page}.items():
            with open(os.path.join(argv[1], name), "w", encoding="utf-8") as file:
                file.write(page())
        return 0
    if len(argv) != 1 or argv[0] not in PAGES:
        sys.stderr.write(f"usage: python -m docs.generate.reference {'|'.join(PAGES)} | --write FOLDER\n")
        return 2
    sys.stdout.write(PAGES[argv[0]]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
