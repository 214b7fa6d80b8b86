"""`ready`, `show` and `agent …` without typer: called all night, in the time of two empty Pythons.

The words are read by the table of operations. What is not plain here (another option, an empty text, a number with a
point, a second text from stdin) is read by the full command line.
"""

import os
import sys

from .. import paths
from ..lightjson import dumps, loads
from ..text.cleaning import age, cost_text, cut, lines, one_line, spoken
from .screen import Screen, paragraph, put, put_envelope, read_words, table

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..agents.service import agent_api
    from ..requests.model import RequestLine

    Values = dict[str, Any]


MORE = {"done": (("--outcome",), ("--keep-branch",))}
"""Options beside the parameters."""


def answer(words: "list[str]") -> "int | None":
    """Answer `agent`; returns its exit code, None: use the full command line."""
    from ..agents.service import agent_api  # a reader of the board needs nothing of it

    verb = words[0] if words else ""
    operation = next((one for one in agent_api.OPERATIONS if one.name == verb), None)
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
    reply = agent_api.perform(verb, arguments)
    return put_envelope(f"agent {verb}", dumps(reply.data)) if "--json" in read[0] else put(_plain(reply.text))


def _option(parameter: "agent_api.Parameter") -> str:
    return "--" + parameter.name.replace("_", "-")


def _arguments(
    operation: "agent_api.Operation", options: "dict[str, str]", texts: "list[str]", lists: "dict[str, list[str]]"
) -> "dict[str, Any] | None":
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
        if (said := options.get(_option(parameter))) is not None:
            found[parameter.name] = True if parameter.kind is bool else _read(parameter, said)
    if None in found.values():
        return None
    if first is not None and from_stdin:
        found[first.name] = sys.stdin.read()  # last, since who comes after us finds nothing there
    if first is not None and first.required and not str(found.get(first.name, "")).strip():
        return None
    return found


def _read(parameter: "agent_api.Parameter", said: str) -> "Any":
    if parameter.kind is not str:
        plain = said.isascii() and said.isdigit() and len(said) < 10
        return int(said) if plain and parameter.least <= int(said) <= parameter.most else None
    if said == "-":
        return None
    return None if parameter.choices and said not in parameter.choices else said


def _plain(text: str) -> str:
    return text if text.isascii() and text.isprintable() else "\n".join(lines(text))


# These import nothing but `paths`, `db.fast` and what prints; what is rare is imported when it happens. Anything that
# is not read here with certainty gives None, and the full command line answers.
def run(argv: "list[str]") -> "int | None":
    """Answer a hot command; returns its exit code, None: use the full command line."""
    try:
        return _VERBS[argv[0]](argv[1:])
    except Exception as error:
        if type(error).__name__ == "StoreReadOnly" and argv[0] in ("ready", "show"):
            return None  # the full command line can read a copy
        return int(_main().failed(argv, error))


def _main() -> "Any":
    from .entry import complete

    complete()
    from . import main

    return main


def _found() -> "paths.Paths | None":
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
    from ..db import fast

    data, more = fast.ready_json(found.database, int(limit))
    if "--json" in options:
        return put_envelope("ready", data, more)
    from . import screen

    return _noted(found, put(ready_text(loads(data), more, screen.screen_of(sys.stdout))))


def _show(words: "list[str]") -> "int | None":
    read = read_words(words, (), ("--json",))
    found = _found()
    if read is None or len(read[1]) != 1 or found is None:
        return None
    from ..db import fast

    path = found.database
    if (data := fast.show_json(path, read[1][0])) is None or "--json" in read[0]:
        return None if data is None else put_envelope("show", data)
    from . import screen

    def other(bead: str) -> "Any":
        text = fast.show_json(path, bead)
        return None if text is None else loads(text)

    return _noted(found, put(show_text(loads(data), screen.screen_of(sys.stdout), other)))


def _noted(found: "paths.Paths", code: int) -> int:
    """The exit code; where main moved on, the full command line's note about it is printed."""
    if "NOBRAKES_TOKEN" in os.environ or "NOBRAKES_RUN" in os.environ:
        return code
    from ..db import fast

    try:
        with open(found.judged, encoding="utf-8") as file:
            branch = loads(file.read())["values"]["main"]
    except (OSError, ValueError, LookupError, TypeError, StopIteration, RecursionError):  # somebody changed it
        return code
    if fast.connected(found.database, lambda db: fast.main_moved(db.execute, found.root, branch)):
        _main()
        from .outcome import opened

        with opened(is_reading=True) as app:
            app.store.now()  # whoever reads the store is told
    return code


def _agent(words: "list[str]") -> "int | None":

    return answer(words)


_VERBS = {"ready": _ready, "show": _show, "agent": _agent}

# A bead and a list of ready ones as text, made from the same JSON values that `--json` prints.
REMARKS = 5
NEIGHBOURS = 20
STYLES = {
    "done": "green",
    "escalated": "red",
    "cancelled": "dim",
    "draft": "dim",
    "doing": "cyan",
    "writing_tests": "cyan",
    "reviewing": "cyan",
}


def ready_text(beads: "list[Values]", more: int, screen: Screen) -> str:
    """Ready beads in order, and the number of others."""
    rows = [(b["id"], f"P{b['priority']}", b["status"], b["title"]) for b in beads]
    nothing = "no bead is ready; `nobrakes ready --explain` shows why"
    shown = table(("BEAD", "", "STATUS", "TITLE"), rows, screen) or nothing
    return f"{shown}\nand {more} more: nobrakes ready --limit {len(rows) + more}" if more else shown


def where(bead: "Values") -> str:
    return place(bead["status"], bead["held"])


def place(status: str, held: "str | None", request: "RequestLine | None" = None) -> str:
    if request is not None:
        status = f"in request #{request.number}" if request.number else "in a request"
    return f"{status} (held)" if held is not None else status


def show_text(bead: "Values", screen: Screen, find: "Callable[[str], Values | None]") -> str:
    """Everything about a bead; `find` returns another bead."""
    out = [f"{screen.paint(bead['id'], 'bold')}  {one_line(bead['title'])}", "  " + _head(bead, screen)]
    if bead["assignee"]:
        out.append(f"  {one_line(bead['assignee'])} is working on this bead")
    if bead["held"]:
        out.append(f"  held: {one_line(bead['held'])}")
    if bead["defer_until"]:
        out.append(f"  deferred until {spoken(bead['defer_until'])}")
    if bead["merged_commit"]:
        word = "merged" if bead["status"] == "done" else "reopened after its merge"
        out.append(f"  {word} as {bead['merged_commit'][:12]}")
    if paid := cost_text(bead["cost"]):
        out.append(f"  cost: {one_line(paid)}")
    out += _request(bead.get("request"))
    from ..beads import progress
    from ..db.fast import ADDED

    out += [f"  {name}: {one_line(text)}" for name, text in progress.added_texts(bead, ADDED)]
    for name in ("description", "notes"):
        if bead[name]:
            out += ["", f"{name}:", paragraph(bead[name])]
    for title, text in progress.texts(bead["metadata"]):
        out += ["", f"{title.lower()}:", paragraph(text)]
    if bead["acceptance"]:
        out += ["", "done when:", *(f"  - {one_line(line)}" for line in bead["acceptance"])]
    mine = [(d["needs"], d["type"]) for d in bead["dependencies"] if d["bead"] == bead["id"]]
    others = [(d["bead"], d["type"]) for d in bead["dependencies"] if d["needs"] == bead["id"]]
    out += _neighbours("waits for:", mine, find)
    out += _neighbours("beads that wait for this bead:", others, find)
    if bead["attempts"]:
        out += ["", "attempts:", *(f"  {attempt_text(attempt, screen.width - 2)}" for attempt in bead["attempts"])]
    if bead["escalations"]:
        out += ["", "needs your decision:"]
        out += [f"  escalation {e['id']}: {e['type']}: {one_line(e['title'])}" for e in bead["escalations"]]
    return "\n".join(out)


def _request(request: "Values | None") -> "list[str]":
    if request is None:
        return []
    name = f"pull request #{request['number']}" if request["number"] else f"branch {one_line(request['branch'])}"
    return [f"  {name}, {request['state']}: {one_line(request['url'])}", *request_text(request, "    ")]


def request_text(request: "Values", indent: str) -> "list[str]":
    """A pull request's state, checks, approvals and comments, newest last."""
    out = [f"{indent}{one_line(request['says'])}"] if request["says"] else []
    checks = ", ".join(f"{one_line(one['name'])} {one['state']}" for one in request["checks"])
    out += [f"{indent}checks: {checks}"] if checks else []
    approved = ", ".join(map(one_line, request["approved_by"]))
    out += [f"{indent}approved by {approved}"] if approved else []
    for one in request["remarks"][-REMARKS:]:
        place = f" on {one_line(one['path'])}" + (f":{one['line']}" if one["line"] else "") if one["path"] else ""
        out.append(f"{indent}{one_line(one['by'])} wrote{place}: {cut(one_line(one['text']), 200)}")
    return out


def _head(bead: "Values", screen: Screen) -> str:
    parts = [screen.paint(where(bead), STYLES.get(bead["status"], "")), bead["type"], f"P{bead['priority']}"]
    parts += [f"epic {bead['epic']}"] if bead["epic"] else []
    parts += [one_line(", ".join(bead["labels"]))] if bead["labels"] else []
    parts += [f"{bead['failures']} failed"] if bead["failures"] else []
    return "  ".join(parts)


def _neighbours(word: str, pairs: "list[tuple[str, str]]", find: "Callable[[str], Values | None]") -> "list[str]":
    out = ["", word] if pairs else []
    for other, type_ in pairs[:NEIGHBOURS]:
        bead = find(other)
        brief = f"{bead['status']:<13} {cut(one_line(bead['title']), 60)}  " if bead else ""
        out.append(f"  {other}  {brief}({type_})")
    if len(pairs) > NEIGHBOURS:
        out.append(f"  and {len(pairs) - NEIGHBOURS} more")
    return out


def attempt_text(attempt: "Values", columns: int) -> str:
    """One attempt on one line: worker, ending, duration."""
    end, role = ((word or "works").replace("_", " ") for word in (attempt["outcome"], attempt["role"]))
    took = f" after {age(attempt['ended_at'] - attempt['started_at'])}" if attempt["ended_at"] else ""
    rounds = attempt["data"].get("rounds")
    took += f", {rounds} test round{'s' if rounds != 1 else ''}" if rounds else ""
    detail = f": {one_line(attempt['detail'])}" if attempt["detail"] else ""
    return cut(f"{attempt['number']}  {role:<11} {one_line(attempt['name']):<8}  {end}{took}{detail}", columns)
