"""`nobrakes agent …` without typer: what agents say, ask and read, in the time of two empty Pythons.

The words are read by the table of operations. What is not plain here (another option, an empty text, a number with a
point, a second text from stdin) is read by the full command line.
"""

import sys

from ..lightjson import dumps
from ..operations.agent import api
from .words import put, put_envelope, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MORE = {"done": (("--outcome",), ("--keep-branch",))}
"""Options beside the parameters: an outcome may be said by name, and a branch is kept if nothing is said."""


def answer(words: "list[str]") -> "int | None":
    """Answer `agent` with these words; its exit code, or None where the full command line has to."""
    verb = words[0] if words else ""
    operation = next((one for one in api.OPERATIONS if one.name == verb), None)
    if operation is None or verb == "test":  # its exit code says how the checks ended
        return None
    valued: tuple[str, ...]
    flags: tuple[str, ...]
    valued, flags = MORE.get(verb, ((), ()))
    valued += tuple(_option(p) for p in operation.parameters[1:] if p.kind not in (bool, list))
    lists: dict[str, list[str]] = {_option(p): [] for p in operation.parameters[1:] if p.kind is list}
    flags += tuple(_option(p) for p in operation.parameters[1:] if p.kind is bool)
    read = read_words(words[1:], valued, ("--json", *flags), lists)
    if read is not None and read[0].get("--wait", "0") != "0":  # its exit code says whether somebody answered
        return None
    arguments = None if read is None else _arguments(operation, *read, lists)
    if read is None or arguments is None:
        return None
    reply = api.perform(verb, arguments)
    return put_envelope(f"agent {verb}", dumps(reply.data)) if "--json" in read[0] else put(_plain(reply.text))


def _option(parameter: api.Parameter) -> str:
    return "--" + parameter.name.replace("_", "-")


def _arguments(
    operation: api.Operation, options: "dict[str, str]", texts: "list[str]", lists: "dict[str, list[str]]"
) -> "dict[str, Any] | None":
    """What the words say for each parameter; None where they do not say it plainly."""
    found: dict[str, Any] = {}
    first, *others = operation.parameters or (None,)
    if len(texts) > 1 or (texts and first is None) or ("--keep-branch" in options and "--discard-branch" in options):
        return None
    word = texts[0] if texts else options.get("--outcome")
    if options.get("--outcome", word) != word:
        return None
    from_stdin = word == "-" and first is not None and first.required
    if first is not None and word is not None and not from_stdin:
        found[first.name] = _read(first, word)
    for parameter in others:
        if parameter.kind is list:
            found[parameter.name] = lists[_option(parameter)]
            continue
        said = options.get(_option(parameter))
        if said is not None:
            found[parameter.name] = True if parameter.kind is bool else _read(parameter, said)
    if None in found.values():
        return None
    if first is not None and from_stdin:
        found[first.name] = sys.stdin.read()  # last, since who comes after us finds nothing there
    if first is not None and first.required and not str(found.get(first.name, "")).strip():
        return None
    return found


def _read(parameter: api.Parameter, said: str) -> "Any":
    """The value that the word stands for; None where the full command line has to judge it."""
    if parameter.kind is not str:
        plain = said.isascii() and said.isdigit() and len(said) < 10
        return int(said) if plain and parameter.least <= int(said) <= parameter.most else None
    if said == "-":
        return None
    return None if parameter.choices and said not in parameter.choices else said


def _plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    from ..wording.text import lines

    return "\n".join(lines(text))
