"""Whether people ask for a change of the same point again, after a Doer had answered: then a person decides.

1. A point is a thread, a place (a file, and lines no further apart than NEAR), or of a whole review its very words.
2. It is asked for again when it was asked for on another commit that we pushed: somebody answered in between.
3. What people wrote is quoted, cleaned and bounded; nothing is read into it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..text.cleaning import clean, shorten
from .pull import PullRequest, Remark

NEAR = 3
MOST = 200
"""So many points are remembered, the latest."""
_QUOTED = 1000
_SHOWN = 12

Again = tuple[Mapping[str, Any], Remark]
"""A point as it was asked for before, and the remark that asks again."""


def again(new: Sequence[Remark], pull: PullRequest) -> list[Again]:
    """Of the new remarks those that ask for what was asked for on another commit, each with how it was asked then."""
    before = [point for point in pull.points if point.get("head") != pull.head]
    found = []
    for remark in new:
        same = next((point for point in reversed(before) if _is_same(point, remark)), None)
        if same is not None:
            found.append((same, remark))
    return found


def remembered(new: Sequence[Remark], pull: PullRequest) -> PullRequest:
    """The request that knows what was asked for on its commit."""
    points = [
        {
            "key": one.key,
            "thread": one.thread or one.key,
            "by": _quoted(one.by, 100),
            "path": _quoted(one.path, 200),
            "line": one.line,
            "text": _quoted(one.text, _QUOTED),
            "head": pull.head,
        }
        for one in new
    ]
    return replace(pull, points=(*pull.points, *points)[-MOST:])


def told(found: Sequence[Again], pull: PullRequest, answers: Sequence[str]) -> str:
    """What a person is told: each point with both requests, then what the Doers answered, the latest last."""
    lines = [f"People asked again for a change of pull request {pull.name} that was asked for and answered before."]
    for before, now in found[:_SHOWN]:
        place = f"{_quoted(now.path, 200)}:{now.line}" if now.line else _quoted(now.path, 200) or "about the whole"
        lines.append(f"- {place}")
        lines.append(f"  {before.get('by')}, on {str(before.get('head'))[:12]}: {before.get('text')}")
        lines.append(f"  {_quoted(now.by, 100)}, on {pull.head[:12]}: {_quoted(now.text, _QUOTED)}")
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN} more.")
    if answers:
        lines += ["The answers:", *(f"- {_quoted(answer, _QUOTED)}" for answer in answers)]
    return "\n".join(lines)


def evidence(found: Sequence[Again], pull: PullRequest, answers: Sequence[str]) -> Mapping[str, Any]:
    """The same for programs."""
    asked = [
        {
            "path": _quoted(now.path, 200),
            "line": now.line,
            "asked": [str(before.get("text")), _quoted(now.text, _QUOTED)],
            "by": [str(before.get("by")), _quoted(now.by, 100)],
            "on": [str(before.get("head")), pull.head],
        }
        for before, now in found[:_SHOWN]
    ]
    return {"points": asked, "answers": [_quoted(answer, _QUOTED) for answer in answers]}


def _is_same(point: Mapping[str, Any], remark: Remark) -> bool:
    if remark.thread and remark.thread in (point.get("thread"), point.get("key")):
        return True
    if remark.path:
        here = _quoted(remark.path, 200)
        return point.get("path") == here and abs(int(point.get("line") or 0) - remark.line) <= NEAR
    words = _quoted(remark.text, _QUOTED)
    return not point.get("path") and " ".join(words.split()) == " ".join(str(point.get("text")).split())


def _quoted(text: str, most: int) -> str:
    return shorten(clean(text[: 4 * most]).strip(), most)
