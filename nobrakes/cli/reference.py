"""`python -m nobrakes.cli.reference commands|errors`: the Markdown reference, printed from the code itself."""

import inspect
import sys
from typing import Any

from ..core import errors
from .group import function_of, load
from .table import COMMANDS, JOURNEYS, Entry

_INTRO = """Every command takes `--help`, and `--json` for programs. With `--json` a command prints one envelope:
`{"ok": true, "command": …, "data": …}`, or `{"ok": false, "command": …, "error": {"code", "name", "message", "hint"}}`,
where `error.code` is the exit code. Commands marked *streams* print one JSON object a line instead.
Where `NOBRAKES_TOKEN` is set (inside an agent) commands marked *people only* are refused with exit code 17.

Shell completion: `nobrakes --install-completion`."""


def _parameters(entry: Entry) -> list[str]:
    command = load(entry)
    context = command.context_class(command, info_name=entry.words)
    records = [(p, p.get_help_record(context)) for p in command.get_params(context)]
    rows = [(record[0], record[1]) for p, record in records if record and p.name != "help"]
    return [f"| `{name.replace('|', chr(92) + '|')}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows]


def _command(entry: Entry) -> list[str]:
    marks = [word for word, given in (("people only", entry.changes), ("streams", entry.streams)) if given]
    help_ = inspect.getdoc(function_of(entry)) or ""
    story, _, example = help_.partition("Example:")
    out = [f"### nobrakes {entry.words}", "", " ".join(story.split())]
    out += ["", f"*{', '.join(marks)}*"] if marks else []
    out += ["", "```sh", " ".join(example.split()), "```"] if example else []
    return [*out, "", "| | |", "|---|---|", *_parameters(entry), ""]


def commands() -> str:
    """The reference of every command that is not hidden, by journey."""
    out = ["# Commands", "", _INTRO, ""]
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


def error_reference() -> str:
    """The reference of exit codes."""
    out = ["# Errors and exit codes", "", "0 is success. Every other code has one meaning:", ""]
    out += ["| code | name | what it means | what to do next |", "|---|---|---|---|"]
    out += [f"| {c.code} | {c.__name__} | {_first(c)} | {c.hint} |" for c in error_classes()]
    out += [
        "| 70 | | nobrakes itself failed: a bug | Send the traceback that it names along with what you did. |",
        "| 130 | | Ctrl-C | |",
        "| 141 | | nobody read the output any more (`nobrakes list \\| head`) | |",
    ]
    return "\n".join(out) + "\n"


def _first(of: Any) -> str:
    return " ".join((inspect.getdoc(of) or "").split()).replace("|", "\\|")


def main(argv: list[str]) -> int:
    """Print one of the two."""
    pages = {"commands": commands, "errors": error_reference}
    if len(argv) != 1 or argv[0] not in pages:
        sys.stderr.write("usage: python -m nobrakes.cli.reference commands|errors\n")
        return 2
    sys.stdout.write(pages[argv[0]]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
