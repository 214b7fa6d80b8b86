"""What is new about a request since it was looked at last, as events; and what of it is kept to be shown.

1. Each thing is told once: `PullRequest.told` has the keys of what was.
2. Checks count on the commit that we pushed. Remarks are those of people who may write.
3. Everything is cleaned and bounded: of the longest remarks there is a beginning, of too many the first MOST a look.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..beads.events import Kind
from ..text.cleaning import clean, shorten
from .life import failed
from .pull import PullRequest, Remark, Seen, Told

MOST = 50
SHOWN = 20
"""So many remarks are kept to be shown, and so many checks."""
_TEXT = 2000
_NAME = 100
_PLACE = 200
_KEYS = 2000
_SUGGESTED = re.compile(r"```suggestion[^\n]*\n(.*?)```", re.DOTALL)

Happening = tuple[Kind, Mapping[str, Any]]


def kept(pull: PullRequest, seen: Seen) -> PullRequest:
    """The request with what is shown of its checks, remarks and approvals."""
    if seen.told is None:
        return pull
    shown = [one for one in seen.remarks if not one.approves][-SHOWN:]
    return replace(
        pull,
        checks=tuple(
            {"name": _short(one.name, _NAME), "state": one.state.value, "url": _short(one.url, _TEXT)}
            for one in seen.checks[:SHOWN]
        ),
        remarks=tuple(
            {"by": _short(one.by, _NAME), "text": _short(one.text, _TEXT), "path": _short(one.path, _PLACE)}
            | {"line": one.line}
            for one in shown
        ),
        told=(*pull.told, of_auto_merge(pull.head))[-_KEYS:] if _is_new_auto_merge(pull, seen.told) else pull.told,
        approved_by=tuple(dict.fromkeys(_short(one.by, _NAME) for one in seen.remarks if one.approves))[:SHOWN],
    )


def of_auto_merge(head: str) -> str:
    """The key of what is done once for each commit: who takes it back at the host is not overruled."""
    return f"merges itself {head[:12]}"


def _is_new_auto_merge(pull: PullRequest, told: Told) -> bool:
    return told.auto_merge and told.head == pull.head and of_auto_merge(pull.head) not in pull.told


def happened(pull: PullRequest, seen: Seen) -> tuple[PullRequest, list[Happening]]:
    """What is new, in order, and the request that knows it was told. `pull`: as it is by now."""
    if seen.told is None:
        return pull, []
    found: list[tuple[str, Happening]] = [(f"created {pull.name}", (Kind.PULL_OPENED, about(pull)))]
    if seen.checks or seen.remarks:
        found.append((f"began {pull.name}", (Kind.PULL_REVIEW_BEGAN, about(pull))))
    for check in failed(seen.checks):
        data = {**_at(pull), **_issue(check.says, "error"), "check": _short(check.name, _NAME)}
        found.append((f"check {check.name[:_NAME]} {pull.head[:12]}", (Kind.PULL_ISSUE_FOUND, data)))
    for one in seen.remarks:
        found.append((one.key, _remarked(pull, one)))
    return _told(pull, found)


def merged(pull: PullRequest) -> tuple[PullRequest, list[Happening]]:
    """That it is merged, and that it was there where nobody had looked before."""
    found = [
        (f"created {pull.name}", (Kind.PULL_OPENED, about(replace(pull, merged_as="")))),
        (f"merged {pull.name}", (Kind.PULL_MERGED, about(pull))),
    ]
    return _told(pull, found)


def about(pull: PullRequest) -> Mapping[str, Any]:
    """What an event says of the request."""
    return {
        **_at(pull),
        "title": _short(pull.title, _TEXT),
        "branch": pull.branch,
        "head": pull.head,
        "merged_commit": pull.merged_as or None,
    }


def _told(pull: PullRequest, found: Sequence[tuple[str, Happening]]) -> tuple[PullRequest, list[Happening]]:
    known = frozenset(pull.told)
    new = [(key, one) for key, one in found if key not in known][:MOST]
    if not new:
        return pull, []
    return replace(pull, told=(*pull.told, *(key for key, _ in new))[-_KEYS:]), [one for _, one in new]


def _remarked(pull: PullRequest, one: Remark) -> Happening:
    by = _short(one.by, _NAME)
    if one.approves:
        return Kind.PULL_APPROVED, {**_at(pull), "by": by}
    suggested = _SUGGESTED.search(one.text[:20_000])
    issue = _issue(one.text, "warning", suggested[1] if suggested else "")
    return Kind.PULL_ISSUE_FOUND, {**_at(pull), **issue, "by": by, "file": _short(one.path, _PLACE), "line": one.line}


def _issue(text: str, severity: str, suggestion: str = "") -> dict[str, Any]:
    said = {"issue": _short(text, _TEXT), "severity": severity, "suggestion": _short(suggestion, _TEXT)}
    return {**said, "by": "", "check": "", "file": "", "line": 0}


def _at(pull: PullRequest) -> dict[str, Any]:
    return {"pr_number": pull.number, "pr_url": pull.url}


def _short(text: str, most: int) -> str:
    return shorten(clean(text[: 4 * most]).strip(), most)
