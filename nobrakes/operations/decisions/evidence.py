"""The evidence of an escalation as titled sections: a row of a table for each key that the code files, and any other.

1. What another part of the view shows (attempts, conflicts) is left out here, and what only the machine needs.
2. A key that nobody knows any more, of an older database, is shown under its own name with its value in words.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.beads.escalations import Escalation, EscalationType
from ...wording.stages import main_of
from .excerpts import WHOLE, excerpt, flat, line, readable, short
from .view import Section

Lines = Callable[[Any], list[str]]
MOST = 12
TAIL = 8
"""Lines of a check's output."""
CODE = 40

HIDDEN = frozenset(("attempts", "contract", "content", "epic"))
"""What the view shows in a part of its own, a digest that only the machine compares, and what titles say."""
_OF_CONFLICTS = frozenset(("files", "main", "head"))


def sections(found: Escalation, command: str, is_whole: bool = False) -> tuple[Section, ...]:
    """The evidence in words, in the order of the table. `command` shows all of it; `is_whole`: nothing is cut."""
    hidden = HIDDEN | (_OF_CONFLICTS if found.type is EscalationType.CONFLICT else frozenset())
    left = {str(key): value for key, value in found.evidence.items() if key not in hidden and not _is_empty(value)}
    made = []
    for key in [*(key for key in TABLE if key in left), *(key for key in left if key not in TABLE)]:
        title, in_words, most = TABLE.get(key, (key.replace("_", " "), _words, MOST))
        title = _TITLES.get((found.type, key), title)
        if key == "main":
            title = title.replace("main", main_of(str(found.evidence.get("epic") or "")), 1)
        lines = in_words(left[key])
        if lines:
            text = excerpt(
                "\n".join(lines), WHOLE if is_whole else most, command, is_code=key in ("difference", "tests")
            )
            made.append(Section(line(title), text))
    return tuple(made)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, list | tuple | dict) and not value)


def results(value: Any) -> list[str]:
    """What checks said: those that did not pass with the end of their output, the others counted."""
    rows = [row for row in _list(value) if isinstance(row, Mapping)]
    bad = [row for row in rows if row.get("outcome") != "pass"]
    out = []
    for row in bad:
        why = row.get("reason") or ""
        out.append(line(f"{row.get('name')}: {row.get('outcome')}{': ' if why else ''}{why}"))
        failing = [line(one) for one in _list(row.get("failing"))]
        out += [f"  failed: {one}" for one in failing[:5]]
        out += [f"  and {len(failing) - 5} more" for _ in failing[5:6]]
        tail = excerpt(str(row.get("tail") or "").strip(), TAIL, is_end=True)
        out += [f"  | … {tail.more} lines before" for _ in (1,) if tail.more]
        out += [f"  | {one}" for one in tail.lines]
    passed = len(rows) - len(bad)
    return [*out, *([f"{passed} passed"] if passed else [])]


def _list(value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    return () if value is None else (value,)


def _commit(value: Any) -> list[str]:
    return [short(readable(str(value)))]


def _commits(value: Any) -> list[str]:
    return [", ".join(short(readable(str(one))) for one in _list(value))]


def _lines(value: Any) -> list[str]:
    return [flat(one) for one in _list(value)]


def _code(value: Any) -> list[str]:
    return str(value).rstrip("\n").split("\n")


def _taken_back(value: Any) -> list[str]:
    return ["yes" if value else "no: it is still on main"]


def _words(value: Any, indent: str = "") -> list[str]:
    """Any JSON value in lines: a name and its value each, lists an entry a line."""
    if isinstance(value, Mapping):
        out = []
        for key, one in value.items():
            name = line(str(key).replace("_", " "))
            if isinstance(one, Mapping | list | tuple) and one:
                out += [f"{indent}{name}:", *_words(one, indent + "  ")]
            elif not _is_empty(one):
                first, *rest = _words(one) or [""]
                out += [f"{indent}{name}: {first}", *(f"{indent}  {more}" for more in rest)]
        return out
    if isinstance(value, list | tuple):
        out = []
        for one in value:
            first, *rest = _words(one) or [""]
            out += [f"{indent}- {first}", *(f"{indent}  {more}" for more in rest)]
        return out
    if isinstance(value, bool):
        return [indent + ("yes" if value else "no")]
    if isinstance(value, str):
        return [indent + one for one in readable(value).strip("\n").split("\n")]
    return [indent + line(value)]


TABLE: Mapping[str, tuple[str, Lines, int]] = {
    "severity": ("how much it matters", _lines, MOST),
    "test": ("the test that was altered so that it has to fail", _lines, MOST),
    "reverted": ("the merge was taken back", _taken_back, MOST),
    "results": ("what the checks said", results, 2 * MOST),
    "red_proof": ("what the checks said with the new tests", results, 2 * MOST),
    "base": ("what the checks said without the new tests", results, 2 * MOST),
    "establishes": ("what the contract says from then on", _lines, 2 * MOST),
    "why": ("why your yes is needed", _lines, MOST),
    "test_files": ("the files of tests that it changes", _lines, MOST),
    "tests": ("the change of the tests", _code, CODE),
    "files": ("the files that this is about", _lines, MOST),
    "difference": ("the change that you are asked about", _code, CODE),
    "head": ("the commit that is reviewed", _commit, MOST),
    "commit": ("the commit that this is about", _commit, MOST),
    "main": ("main, when this was asked", _commit, MOST),
    "green": ("the last commit of main that was seen green", _commit, MOST),
    "culprit": ("the commit since which main is red", _commit, MOST),
    "revert": ("the commit that took it back", _commit, MOST),
    "searched": ("the commits that were looked through", _commits, MOST),
}
"""By key: its title, its value in words, and how many lines of it are shown."""

_TITLES: Mapping[tuple[EscalationType, str], str] = {
    (EscalationType.CHECKS_CHANGED, "files"): "what decides whether work is good, and the branch changes",
    (EscalationType.UNUSUAL_CONTENT, "files"): "what is unusual, a line for each file",
    (EscalationType.MERGE_REVIEW, "files"): "the other files that it changes",
    (EscalationType.MERGE_REVIEW, "difference"): "the change of the code",
    (EscalationType.MERGE_REVIEW, "commit"): "the commit that passed, and would be merged",
    (EscalationType.MERGE_REVIEW, "main"): "main, on which it passed",
    (EscalationType.CODE_REVIEW, "commit"): "the commit that passed, and was read",
    (EscalationType.CODE_REVIEW, "main"): "main, on which it passed",
    (EscalationType.MAIN_RED, "results"): "what the checks said on main",
}
