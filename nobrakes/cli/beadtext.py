"""A bead, and a list of ready ones, as text.

Made from the same JSON values that `--json` prints. Imports nothing that costs: cli.hot writes with it.
"""

from ..core.beads import imported
from ..wording.text import age, cut, one_line
from .screen import Screen, paragraph, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.pulls.shown import RequestLine

    Values = dict[str, Any]

REMARKS = 5
"""So many of the latest remarks on a pull request are shown."""
NEIGHBOURS = 20
"""So many dependencies in one direction are shown with their titles."""
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
    """The ready beads in their order, and how many more there are."""
    rows = [(b["id"], f"P{b['priority']}", b["status"], b["title"]) for b in beads]
    nothing = "nothing is ready; `nobrakes ready --explain` says why"
    shown = table(("BEAD", "", "STATUS", "TITLE"), rows, screen) or nothing
    return f"{shown}\nand {more} more: nobrakes ready --limit {len(rows) + more}" if more else shown


def where(bead: "Values") -> str:
    """The status, and whether somebody holds it."""
    return place(bead["status"], bead["held"])


def place(status: str, held: "str | None", request: "RequestLine | None" = None) -> str:
    """The same of a status, what the bead is held for, and the pull request that it waits in."""
    if request is not None:
        status = f"in request #{request.number}" if request.number else "in a request"
    return f"{status} (held)" if held is not None else status


def show_text(bead: "Values", screen: Screen, find: "Callable[[str], Values | None]") -> str:
    """Everything about a bead; `find` gives another bead by its id."""
    out = [f"{screen.paint(bead['id'], 'bold')}  {one_line(bead['title'])}", "  " + _head(bead, screen)]
    if bead["assignee"]:
        out.append(f"  {one_line(bead['assignee'])} works on it")
    if bead["held"]:
        out.append(f"  held: {one_line(bead['held'])}")
    if bead["defer_until"]:
        from ..wording.times import spoken

        out.append(f"  deferred until {spoken(bead['defer_until'])}")
    if bead["merged_commit"]:
        word = "merged" if bead["status"] == "done" else "opened again after it was merged"
        out.append(f"  {word} as {bead['merged_commit'][:12]}")
    out += _request(bead.get("request"))
    for name in ("description", "notes"):
        if bead[name]:
            out += ["", f"{name}:", paragraph(bead[name])]
    for title, text in imported.texts(bead["metadata"]):
        out += ["", f"{title.lower()}:", paragraph(text)]
    if bead["acceptance"]:
        out += ["", "done when:", *(f"  - {one_line(line)}" for line in bead["acceptance"])]
    mine = [(d["needs"], d["type"]) for d in bead["dependencies"] if d["bead"] == bead["id"]]
    others = [(d["bead"], d["type"]) for d in bead["dependencies"] if d["needs"] == bead["id"]]
    out += _neighbours("waits for:", mine, find)
    out += _neighbours("is waited for by:", others, find)
    if bead["attempts"]:
        out += ["", "attempts:", *(f"  {attempt_text(attempt, screen.width - 2)}" for attempt in bead["attempts"])]
    if bead["escalations"]:
        out += ["", "waits for you:"]
        out += [f"  escalation {e['id']}: {e['type']}: {one_line(e['title'])}" for e in bead["escalations"]]
    return "\n".join(out)


def _request(request: "Values | None") -> "list[str]":
    """Its newest pull request: where it is, what it waits for, what others made of it."""
    if request is None:
        return []
    name = f"pull request #{request['number']}" if request["number"] else f"branch {one_line(request['branch'])}"
    return [f"  {name}, {request['state']}: {one_line(request['url'])}", *request_text(request, "    ")]


def request_text(request: "Values", indent: str) -> "list[str]":
    """What a pull request waits for, its checks, who approved it, and what people wrote, newest last."""
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
    """One attempt on one line: who, how it ended, after how long."""
    end, role = ((word or "works").replace("_", " ") for word in (attempt["outcome"], attempt["role"]))
    took = f" after {age(attempt['ended_at'] - attempt['started_at'])}" if attempt["ended_at"] else ""
    rounds = attempt["data"].get("rounds")
    took += f", {rounds} test round{'s' if rounds != 1 else ''}" if rounds else ""
    detail = f": {one_line(attempt['detail'])}" if attempt["detail"] else ""
    return cut(f"{attempt['number']}  {role:<11} {one_line(attempt['name']):<8}  {end}{took}{detail}", columns)
