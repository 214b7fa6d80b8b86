"""`ready`, `show` and `agent …` without typer: called all night, in the time of two empty Pythons.

1. Imports nothing but `places`, `operations.door` and `store.hot`; what is rare is imported when it happens.
2. Anything that is not read here with certainty gives None, and the full command line answers.
"""

import os
import sys

from .. import places
from ..operations import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SAYING = ("log", "progress", "notify")
TEXTS = ("--summary", "--blockers", "--learnings")


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


def _print(text: str) -> int:
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


def _envelope(command: str, data: str) -> int:
    return _print('{"ok":true,"command":"' + command + '","data":' + data + "}")


def _parse(text: str) -> "Any":
    """JSON without the module json, which imports re; SQLite made the text, so it is right."""
    import _json

    scanner: Any = _json.make_scanner
    return scanner(_Context)(text, 0)[0]


class _Context:
    """What the scanner asks its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: "dict[str, str]" = {}  # noqa: RUF012 - the scanner's own


def _ready(words: "list[str]") -> "int | None":
    read = read_words(words, ("--limit", "-n"), ("--json",))
    found = places.find()
    if read is None or read[1] or found is None or not os.path.exists(found.database):
        return None
    options = read[0]
    limit = options.get("--limit", options.get("-n", "20"))
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit) < 10**9):
        return None
    from ..store import hot

    data = hot.ready_json(found.database, int(limit))
    if "--json" in options:
        return _envelope("ready", data)
    from . import beadtext, screen

    return _print(beadtext.ready_text(_parse(data), screen.screen_of(sys.stdout)))


def _show(words: "list[str]") -> "int | None":
    read = read_words(words, (), ("--json",))
    found = places.find()
    if read is None or len(read[1]) != 1 or found is None or not os.path.exists(found.database):
        return None
    from ..store import hot

    path = found.database
    data = hot.show_json(path, read[1][0])
    if data is None or "--json" in read[0]:
        return None if data is None else _envelope("show", data)
    from . import beadtext, screen

    def other(bead: str) -> "Any":
        text = hot.show_json(path, bead)
        return None if text is None else _parse(text)

    return _print(beadtext.show_text(_parse(data), screen.screen_of(sys.stdout), other))


def _text(text: str) -> "str | None":
    """The argument, or stdin for '-'; None where there is nothing in it."""
    found = sys.stdin.read() if text == "-" else text
    return found if found.strip() else None


def _agent(words: "list[str]") -> "int | None":
    verb = words[0] if words else ""
    if verb in SAYING:
        return _say(verb, words[1:])
    handler = {"ask": _ask, "escalate": _escalate, "answer": _answer, "done": _done}.get(verb)
    return handler(words[1:]) if handler else None


def _say(verb: str, words: "list[str]") -> "int | None":
    read = read_words(words, ("--step", "--of") if verb == "progress" else (), ("--json",))
    if read is None or len(read[1]) != 1:
        return None
    options = read[0]
    if "--step" in options or "--of" in options:
        return _claim(read[1][0], options)
    if (text := _text(read[1][0])) is None:
        return None
    door.say(verb, text)
    return _envelope(f"agent {verb}", '{"written":true}') if "--json" in options else _print(door.WRITTEN)


def _claim(text: str, options: "dict[str, str]") -> "int | None":
    numbers = [options.get(name) for name in ("--step", "--of")]
    if "--json" in options or not all(n is None or (n.isascii() and n.isdigit() and len(n) < 5) for n in numbers):
        return None
    if (found := _text(text)) is None:
        return None
    _, doubt = door.progress(found, *(None if n is None else int(n) for n in numbers))
    return _print(door.WRITTEN + (f"; but {doubt}" if doubt else ""))


def _ask(words: "list[str]") -> "int | None":
    read = read_words(words, ("--wait",), ())
    if read is None or len(read[1]) != 1:
        return None
    wait = read[0].get("--wait", "0")
    if not (wait.isascii() and wait.isdigit()) or (text := _text(read[1][0])) is None:
        return None
    number, answer = door.ask(text, float(wait))
    return _print(door.no_answer(number) if answer is None else _plain(answer))


def _plain(text: str) -> str:
    if text.isprintable():
        return text
    from .text import lines

    return "\n".join(lines(text))


def _escalate(words: "list[str]") -> "int | None":
    read = read_words(words, ("--detail",), ("--json",))
    if read is None or len(read[1]) != 1 or read[0].get("--detail") == "-":
        return None
    if (text := _text(read[1][0])) is None:
        return None
    number = door.escalate(text, read[0].get("--detail", ""))
    if "--json" in read[0]:
        return _envelope("agent escalate", '{"escalation":' + str(number) + "}")
    return _print(door.suggested(number))


def _answer(words: "list[str]") -> "int | None":
    if len(words) > 1 or not all(word.isascii() and word.isdigit() for word in words):
        return None
    number, answer = door.answer(int(words[0]) if words else None)
    return _print(door.no_answer(number) if answer is None else _plain(answer))


def _done(words: "list[str]") -> "int | None":
    read = read_words(words, ("--outcome", *TEXTS), ("--json", "--discard-branch", "--keep-branch"))
    if read is None or len(read[1]) > 1:
        return None
    options = read[0]
    said = {*read[1], *([options["--outcome"]] if "--outcome" in options else [])}
    outcome = door.OUTCOMES.get(said.pop() if said else "completed")
    both = "--discard-branch" in options and "--keep-branch" in options
    if outcome is None or said or both or "-" in (options.get(name) for name in TEXTS):
        return None
    summary, blockers, learnings = (options.get(name, "") for name in TEXTS)
    door.done(outcome, summary, blockers, learnings, "--discard-branch" not in options)
    if "--json" in options:
        return _envelope("agent done", '{"outcome":"' + outcome + '"}')
    return _print(door.HANDED_IN)


_VERBS = {"ready": _ready, "show": _show, "agent": _agent}
