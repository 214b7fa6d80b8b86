"""Issues as `gh issue list --json number,title,body,labels,state,milestone` prints them, as a plan.

1. A bead's id is `gh-NUMBER`, a milestone's epic is `gh-milestone-NUMBER`: the same list again is the same beads.
2. Of labels the tables here make a type and a priority; the others stay labels. Task lists of a body are criteria; one
   that is only `#12` is waited for, as is what "blocked by #12", "depends on #12" or "after: #12" names.
3. Closed issues are left out, and told. Fields that nobody knows are not looked at.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from typing import Any

from ...core.errors import PlanError
from .markdown_lines import LABEL, plain_title
from .nodes import Plan, refused
from .task_lists import Part, task_lists
from .text_nodes import KEY, bounded, made_plan, tidy
from .values import MAX_TEXT

TYPES: Mapping[str, str] = {
    "bug": "fix",
    "defect": "fix",
    "regression": "fix",
    "fix": "fix",
    "enhancement": "feature",
    "feature": "feature",
    "feature-request": "feature",
    "documentation": "docs",
    "docs": "docs",
    "test": "test",
    "tests": "test",
    "testing": "test",
    "refactor": "refactor",
    "refactoring": "refactor",
    "chore": "chore",
    "maintenance": "chore",
    "dependencies": "chore",
    "task": "task",
}
"""A label's words, joined by "-", and the type; of several the first in this table decides. `type: bug` is `bug`."""
PRIORITIES: Mapping[str, int] = {
    **{f"p{number}": number for number in range(5)},
    **{f"priority-{number}": number for number in range(5)},
    **{f"priority-p{number}": number for number in range(5)},
    "critical": 0,
    "urgent": 0,
    "blocker": 0,
    "priority-critical": 0,
    "priority-urgent": 0,
    "priority-highest": 0,
    "priority-high": 1,
    "high-priority": 1,
    "priority-medium": 2,
    "medium-priority": 2,
    "priority-normal": 2,
    "priority-low": 3,
    "low-priority": 3,
    "priority-lowest": 4,
}
"""Of several the most urgent decides."""
_KINDS = re.compile(r"^(?:type|kind|t|k)-")
_NEEDS = re.compile(rf"\b{KEY}[*_]{{0,3}}[ \t]*((?:(?<![\w/])#\d+(?:[ \t]*(?:,|and|&)?[ \t]*))+)", re.IGNORECASE)
_NUMBER = re.compile(r"#(\d{1,18})(?!\w)")
_HINT = "Use what `gh issue list --json number,title,body,labels,state,milestone` prints."


def plan_of_issues(value: Any, source: str, known: Collection[str] = ()) -> Plan:
    """The plan in the values of a list of issues, or of one; PlanError names every problem."""
    issues = [value] if isinstance(value, dict) else value
    if not isinstance(issues, list):
        raise PlanError(f"{source}: it is no list of issues", _HINT)
    problems = [f"issues[{place}]{text}" for place, issue in enumerate(issues) for text in _problems(issue)]
    numbers = [issue["number"] for issue in issues] if not problems else []
    problems += [
        f"issue #{number} is there twice" for number in sorted(n for n, many in Counter(numbers).items() if many > 1)
    ]
    if problems:
        error = refused(source, problems)
        error.hint = _HINT
        raise error
    return _Issues(issues, source, known).plan()


def _problems(issue: Any) -> Iterator[str]:
    if not isinstance(issue, dict):
        yield ": is no issue"
        return
    number = issue.get("number")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 10**18:
        yield ".number: is no number of an issue" if "number" in issue else ".number: is missing"
    if not isinstance(issue.get("title"), str) or not plain_title(tidy(issue["title"])):
        yield ".title: is no text" if "title" in issue else ".title: is missing"
    for name, kinds in (("body", str), ("state", str), ("labels", list), ("milestone", (dict, str))):
        if issue.get(name) is not None and not isinstance(issue[name], kinds):
            yield f".{name}: is of another kind than gh gives"
    labels = issue.get("labels")
    for place, label in enumerate(labels if isinstance(labels, list) else ()):
        if not isinstance(label.get("name") if isinstance(label, dict) else label, str):
            yield f".labels[{place}]: has no name"


class _Issues:
    """Issues that have the right kinds of values, on their way to a plan."""

    def __init__(self, issues: list[dict[str, Any]], source: str, known: Collection[str]) -> None:
        self.source, self.known, self.told = source, known, list[str]()
        self.open, self.closed = list[dict[str, Any]](), set[int]()
        for issue in issues:
            if (issue.get("state") or "open").strip().lower() == "open":
                self.open.append(issue)
            else:
                self.closed.add(issue["number"])
                self.told.append(f"issue #{issue['number']}: skipped, since it is closed")
        self.numbers = {issue["number"] for issue in self.open}
        self.milestones: dict[str, dict[str, Any]] = {}

    def plan(self) -> Plan:
        """All of it."""
        nodes = [self._node(issue) for issue in self.open]
        lines = [f"milestone '{one['title'][:80]}'" for one in self.milestones.values()]
        lines += [f"issue #{issue['number']}" for issue in self.open]
        return made_plan([*self.milestones.values(), *nodes], lines, self.source, self.told)

    def _node(self, issue: dict[str, Any]) -> dict[str, Any]:
        number = issue["number"]
        where = f"issue #{number}"
        found = task_lists(tidy(issue.get("body") or ""), where, strict=False)
        self.told += [f"{where}, {text}" for text in found.told]
        criteria, texts, needs = _of_body(found.parts)
        made = {"id": f"gh-{number}", **bounded(tidy(issue["title"]), texts, where, self.told)}
        made |= _of_labels(issue.get("labels") or ())
        if criteria:
            made["acceptance"] = [text[:MAX_TEXT] for text in criteria]
        if issue.get("milestone"):
            made["epic"] = self._epic(issue["milestone"])
        waits = [self._waits(number, other) for other in dict.fromkeys(needs)]
        return {**made, **({"needs": ids} if (ids := [id_ for id_ in waits if id_]) else {})}

    def _waits(self, number: int, other: int) -> str:
        """The id of the issue that is waited for; empty, and told: none."""
        if other == number:
            why = "names itself"
        elif other in self.closed:
            why = f"waits for #{other}, which is closed: not waited for"
        elif other in self.numbers or f"gh-{other}" in self.known:
            return f"gh-{other}"
        else:
            why = f"waits for #{other}, which is neither in the list nor in the graph: not taken over"
        self.told.append(f"issue #{number} {why}")
        return ""

    def _epic(self, milestone: dict[str, Any] | str) -> str:
        given: dict[str, Any] = milestone if isinstance(milestone, dict) else {"title": milestone}
        title, number, text = (given.get(name) for name in ("title", "number", "description"))
        title = tidy(title) if isinstance(title, str) else ""
        is_numbered = isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**18
        key = str(number) if is_numbered else sha256(title.strip().encode()).hexdigest()[:8]
        id_ = f"gh-milestone-{key}"
        if id_ not in self.milestones:
            told = bounded(title, tidy(text) if isinstance(text, str) else "", f"milestone {key}", self.told)
            self.milestones[id_] = {"id": id_, **told, "type": "epic"}
        return id_


def _of_body(parts: tuple[Part, ...]) -> tuple[list[str], str, list[int]]:
    """(criteria, the text without them, the issues that are waited for) of a body."""
    criteria: list[str] = []
    named: list[str] = []
    needs: list[int] = []
    texts: list[tuple[int, str]] = []
    for part in parts:
        if part.kind == "open":
            number = _NUMBER.fullmatch(part.title)
            if number:
                needs.append(int(number[1]))
                texts += part.texts
            else:
                below = part.description
                criteria.append(f"{plain_title(part.title) or part.title}\n{below}".strip())
        elif part.kind == "section" and part.level and not (part.wants_criteria and LABEL.fullmatch(part.title)):
            texts.append((part.line, "#" * part.level + " " + part.title))
        if part.kind != "open":
            texts += part.texts
        named += [" ".join(lines) for lines in part.criteria]
        for line, text in part.texts:
            needs += [int(n) for m in _NEEDS.finditer(text) for n in _NUMBER.findall(m[1])] if line else []
    return criteria + named, "\n".join(text for _, text in texts).strip(), needs


def _of_labels(labels: Any) -> dict[str, Any]:
    """Type, priority and the labels that say neither."""
    names = [label["name"] if isinstance(label, dict) else label for label in labels]
    words = {name: "-".join(re.findall(r"\w+", name.casefold())) for name in names}
    types = {_KINDS.sub("", word): name for name, word in words.items()}
    kind = next((word for word in TYPES if word in types), None)
    urgent = [PRIORITIES[word] for word in words.values() if word in PRIORITIES]
    left = [
        plain_title(tidy(name))
        for name, word in words.items()
        if word not in PRIORITIES and _KINDS.sub("", word) not in TYPES
    ]
    made: dict[str, Any] = {"type": TYPES[kind]} if kind else {}
    if urgent:
        made["priority"] = min(urgent)
    if left := list(dict.fromkeys(label for label in left if label)):
        made["labels"] = left
    return made
