"""`ready`, `show` and `agent …` without typer: called all night, in the time of two empty Pythons.

1. Imports nothing but `places`, `store.hot` and what prints; what is rare is imported when it happens.
2. Anything that is not read here with certainty gives None, and the full command line answers.
"""

import os
import sys

from .. import places
from ..lightjson import loads, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_words(
    words: "list[str]", valued: "tuple[str, ...]", flags: "tuple[str, ...]"
) -> "tuple[dict[str, str], list[str]] | None":
    """(options, texts) of a command line whose every option is known and given once; None for any other."""
    options: dict[str, str] = {}
    texts: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word == "--":
            return options, texts + words[place:]
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            texts.append(word)
            continue
        if name in options or (name not in valued and word not in flags):
            return None
        if name in valued and not equals:
            if place == len(words):
                return None
            value = words[place]
            place += 1
        options[name] = value
    return options, texts


def run(argv: "list[str]") -> "int | None":
    """Answer a hot command; its exit code, or None where the full command line has to."""
    try:
        return _VERBS[argv[0]](argv[1:])
    except KeyboardInterrupt:
        from . import main

        return main.interrupted(argv)
    except Exception as error:
        if type(error).__name__ == "StoreReadOnly" and argv[0] in ("ready", "show"):
            return None  # the full command line can read a copy
        from . import main

        return main.failed(argv, error)


def put(text: str) -> int:
    """Print it; the exit code."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


def put_envelope(command: str, data: str) -> int:
    """Print the envelope around JSON text; the exit code."""
    return put('{"ok":true,"command":"' + command + '","data":' + visible(data) + "}")


def _found() -> "places.Places | None":
    """The repository, where there is nothing to be said about it first."""
    found = places.find()
    if found is None or places.strangers() or not os.path.exists(found.database) or found.config_is_new():
        return None
    return found


def _ready(words: "list[str]") -> "int | None":
    read = read_words(words, ("--limit", "-n"), ("--json",))
    found = _found()
    if read is None or read[1] or found is None:
        return None
    options = read[0]
    limit = options.get("--limit", options.get("-n", "20"))
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit) < 10**9):
        return None
    from ..store import hot

    data = hot.ready_json(found.database, int(limit))
    if "--json" in options:
        return put_envelope("ready", data)
    from . import beadtext, screen

    return put(beadtext.ready_text(loads(data), screen.screen_of(sys.stdout)))


def _show(words: "list[str]") -> "int | None":
    read = read_words(words, (), ("--json",))
    found = _found()
    if read is None or len(read[1]) != 1 or found is None:
        return None
    from ..store import hot

    path = found.database
    data = hot.show_json(path, read[1][0])
    if data is None or "--json" in read[0]:
        return None if data is None else put_envelope("show", data)
    from . import beadtext, screen

    def other(bead: str) -> "Any":
        text = hot.show_json(path, bead)
        return None if text is None else loads(text)

    return put(beadtext.show_text(loads(data), screen.screen_of(sys.stdout), other))


def _agent(words: "list[str]") -> "int | None":
    from . import hotagent

    return hotagent.answer(words)


_VERBS = {"ready": _ready, "show": _show, "agent": _agent}
