"""`ready`, `show` and `agent …` without typer: called all night, in the time of two empty Pythons.

1. Imports nothing but `places`, `store.fast.reads` and what prints; what is rare is imported when it happens.
2. Anything that is not read here with certainty gives None, and the full command line answers.
"""

import os
import sys

from .. import paths
from ..lightjson import loads
from .words import put, put_envelope, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(argv: "list[str]") -> "int | None":
    """Answer a hot command; its exit code, or None where the full command line has to."""
    try:
        return _VERBS[argv[0]](argv[1:])
    except KeyboardInterrupt:
        return int(_main().interrupted(argv))
    except Exception as error:
        if type(error).__name__ == "StoreReadOnly" and argv[0] in ("ready", "show"):
            return None  # the full command line can read a copy
        return int(_main().failed(argv, error))


def _main() -> "Any":
    """The full command line, which shows errors."""
    from .packages import complete

    complete()
    from . import main

    return main


def _found() -> "paths.Paths | None":
    """The repository, where there is nothing to be said about it first."""
    found = paths.find()
    if found is None or paths.strangers() or not os.path.exists(found.database) or found.config_is_new():
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
    from ..store.fast import reads

    data, more = reads.ready_json(found.database, int(limit))
    if "--json" in options:
        return put_envelope("ready", data, more)
    from . import beadtext, screen

    return put(beadtext.ready_text(loads(data), more, screen.screen_of(sys.stdout)))


def _show(words: "list[str]") -> "int | None":
    read = read_words(words, (), ("--json",))
    found = _found()
    if read is None or len(read[1]) != 1 or found is None:
        return None
    from ..store.fast import reads

    path = found.database
    data = reads.show_json(path, read[1][0])
    if data is None or "--json" in read[0]:
        return None if data is None else put_envelope("show", data)
    from . import beadtext, screen

    def other(bead: str) -> "Any":
        text = reads.show_json(path, bead)
        return None if text is None else loads(text)

    return put(beadtext.show_text(loads(data), screen.screen_of(sys.stdout), other))


def _agent(words: "list[str]") -> "int | None":
    from . import hotagent

    return hotagent.answer(words)


_VERBS = {"ready": _ready, "show": _show, "agent": _agent}
