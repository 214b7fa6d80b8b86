"""A plan from the tasks of task-master (`tasks.json`), Backlog.md (a file a task, or their folder), GitHub (issues as
JSON), or an outline of epics and tasks in YAML or JSON.

1. A task is a bead with an id from its own: `tm-3`, `tm-3.2`, `tm-TAG-3`, `BACK-595`, the same each time. Done or
   cancelled tasks are reported, not taken.
2. A task with open subtasks is an epic. Done needs count as met; cancelled or missing ones are reported and not waited
   for.
3. The source's order is kept; ignored fields are named.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from operator import itemgetter
from typing import Any

from ..beads.model import MAX_TITLE, is_bead_id
from ..beads.progress import ISSUE, issue_of
from ..beads.proposals import LISTS
from ..errors import PlanError
from ..records import grouped
from ..snapshot.reader import CLOSED_WORDS, HELD_WORDS
from . import nodes
from .markdown import BETWEEN, NOTHING, PHASE, body_parts, runs, short_id, tables, task_lists
from .nodes import (
    MAX_KEY,
    MAX_TEXT,
    Node,
    Plan,
    PlanNode,
    bounded,
    front,
    in_one_line,
    made_plan,
    models_judged,
    normal,
    plain_title,
    plan_of,
    refused,
    tidy,
)

_CLOSED = CLOSED_WORDS | {"complete"}
_CANCELLED = frozenset(("cancelled", "canceled", "archived"))
_HELD = HELD_WORDS | {"on hold"}
_ORDINARY = frozenset(("", "pending", "todo", "to do", "open"))
_TAKEN = frozenset(
    ("id", "title", "description", "details", "testStrategy", "status", "priority", "dependencies", "subtasks")
)
_PARTS = frozenset(("subtasks", "testStrategy"))
_STATUSES = dict.fromkeys(
    ("draft", "not started", "not_started", "backlog", "planned", "new", "ready", "no", "false"), ""
)
_STATUSES |= dict.fromkeys(("[ ]", "⬜", "☐", "❌"), "") | dict.fromkeys(
    ("[x]", "yes", "true", "✅", "✓", "✔", "☑"), "done"
)
MASTER = "master"


# Issues as `gh issue list --json number,title,body,labels,state,milestone,url` prints them. A bead's id is `gh-NUMBER`,
# a milestone's epic is `gh-milestone-NUMBER`. The address is kept: it says that others wrote the texts. Of labels the
# tables here make a type and a priority; the others stay labels. Task lists of a body are criteria; one that is only
# `#12` is waited for, as is what "blocked by #12" names. Closed issues are left out, and told.
_LABELS = {
    "fix": "bug defect regression fix",
    "feature": "enhancement feature feature-request",
    "docs": "documentation docs",
    "test": "test tests testing",
    "refactor": "refactor refactoring",
    "chore": "chore maintenance dependencies",
    "task": "task",
}
TYPES: Mapping[str, str] = {label: kind for kind, labels in _LABELS.items() for label in labels.split()}
"""Labels (words joined by "-") and types; the first match decides. `type: bug` is `bug`."""
_URGENCY = ("critical urgent highest", "high", "medium normal", "low", "lowest")
PRIORITIES: Mapping[str, int] = {
    **{f"{before}{number}": number for before in ("p", "priority-", "priority-p") for number in range(5)},
    **{f"priority-{word}": number for number, words in enumerate(_URGENCY) for word in words.split()},
    **{f"{word}-priority": number for number, words in enumerate(_URGENCY) for word in words.split()},
    **dict.fromkeys(("critical", "urgent", "blocker"), 0),
}
"""The most urgent one decides."""
_KINDS = re.compile(r"^(?:type|kind|t|k)-")


def tagged(value: Any) -> dict[str, list[Any]]:
    """task-master's tasks by tag; empty: another format."""
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("tasks"), list):
        return {MASTER: value["tasks"]}
    found = {
        tag: one["tasks"] for tag, one in value.items() if isinstance(one, dict) and isinstance(one.get("tasks"), list)
    }
    return found if found and len(found) == len(value) else {}


@dataclass
class _Task:
    """A task of a tracker. `name`: its id there, in lower case; `id`: the bead's. `why` it is not taken, or empty.
    `told`: what of it is not."""

    name: str
    id: str
    where: str
    status: str
    fields: dict[str, Any]
    parent: str
    needs: Any
    why: str
    told: list[str]


def _why_not(status: str) -> str:
    return f"it is {status}" if status in _CLOSED | _CANCELLED | {"draft"} else ""


def _plan_of_tasks(
    tasks: Sequence[_Task], source: str, told: list[str], known: Container[str], prefix: str = ""
) -> Plan:
    """A task with open parts is an epic. Everything left out is reported."""
    by_name = {task.name: task for task in tasks}
    titles = {normal(task.fields["title"]): task for task in tasks[::-1]}

    def found(task: _Task, name: str) -> _Task | None:
        bare = re.sub(r"^(?:task|step|epic|story)[ \t]+#?", "", name.lower())
        known_as = (f"{task.parent}.{name.lower()}", name.lower(), f"{task.parent}.{bare}", bare)
        return next((by_name[one] for one in known_as if one in by_name), titles.get(normal(name)))

    parents = {task.parent for task in tasks if not task.why and task.parent != task.name}
    made = []
    for task in tasks:
        if task.why:
            told.append(f"not imported: {task.where}, because {task.why}: {task.fields['title'][:80]}")
            continue
        told += task.told
        node = {"id": task.id, **task.fields, **({"type": "epic"} if task.name in parents else {})}
        if task.parent in by_name and task.parent != task.name and not by_name[task.parent].why:
            node["epic"] = by_name[task.parent].id
        elif task.parent:
            told.append(f"{task.where}: its parent {task.parent[:80]} is not imported")
        if task.status in _HELD:
            node["hold"] = task.status
        elif task.status not in _ORDINARY:
            told.append(f"{task.where}: the task is '{task.status[:40]}' in the file, so its bead needs your approval")
        needs = list[str]()
        for name in _names(task.needs, partial(found, task)):
            other, there = found(task, name), prefix + name.removeprefix("#")
            if other is None and there in known:
                needs.append(there)
            elif other is None or other is task:
                why = "itself" if other else f"'{name[:80]}' (neither in the file nor in the graph)"
                told.append(f"{task.where}: its dependency on {why} is not imported")
            elif other.name == task.parent:
                told.append(f"{task.where}: its dependency on its own epic, {name[:80]}, is not imported")
            elif other.status in _CANCELLED or other.status == "draft":
                told.append(f"{task.where}: its dependency on {name[:80]}, which is {other.status}, is not imported")
            elif not other.why:
                needs.append(other.id)
        made.append({**node, **({"needs": list(dict.fromkeys(needs))} if needs else {})})
    return made_plan(made, [task.where for task in tasks if not task.why], source, told)


def _names(given: Any, is_known: Callable[[str], Any]) -> list[str]:
    """A list of names, or a text with several, which may be one."""
    if isinstance(given, str):
        given = [given] if is_known(given.strip()) else BETWEEN.split(given)
    names = [str(one.get("id", one) if isinstance(one, dict) else one).strip() for one in given or ()]
    return [name for name in names if name and normal(name) not in NOTHING]


def plan_of_taskmaster(value: Mapping[str, Any], source: str, known: Container[str]) -> Plan:
    """PlanError names every problem."""
    told: list[str] = []
    found: list[PlanNode] = []
    for tag, tasks in tagged(value).items():
        whole, before = (value, "") if "tasks" in value else (value[tag], f"{tag[:80]}: ")
        told += [f"not imported: {before}'{name[:80]}', which is not a task" for name in whole if name != "tasks"]
        word = tag if re.fullmatch(r"[A-Za-z0-9_-]{1,24}", tag) else sha256(tag.encode()).hexdigest()[:8]
        prefix, kind = ("tm-", "task") if tag == MASTER else (f"tm-{word}-", f"{tag[:80]}: task")
        found += _Outline(source, known, told, prefix, kind).plan({"tasks": tasks}).nodes
    return Plan(deque(found), False, source, tuple(told))


_NAMES = {
    "needs": "depends_on dependencies depends blocked_by prerequisites after requires",
    "acceptance": "acceptance_criteria criteria test_strategy done_when definition_of_done",
    "estimate": "effort duration estimated_time est estimation",
    "title": "name task story work_item item action deliverable step feature ticket issue",
    "id": "no nr",
    "status": "state done progress",
    "labels": "tags label",
    "description": "details summary body content goal objective overview steps",
    "priority": "prio",
    "epic": "parent parent_id epic_id parent_task_id phase milestone sprint",
    "touches": "files",
}
"""Keys of a plan, as models call them."""


def _squashed(name: object) -> str:
    return re.sub(r"[\W_]+", "", str(name)).lower()


_OTHER_NAMES = {_squashed(name): key for key, names in _NAMES.items() for name in (key, *names.split())}
_OTHER_NAMES |= {_squashed(name): name for name in Node.model_fields}
_LOCAL = re.compile(r"(?:[tespmfbi]|us|task|epic|story|phase|step|feature|bug|issue)?[-_]?[\d._-]+", re.IGNORECASE)
"""A name within one plan only: another plan has the same."""
_GROUPS = frozenset(
    (
        *("beads", "tasks", "epics", "phases", "milestones", "sprints", "stories", "userstories", "features"),
        *("items", "steps", "todos"),
    )
)
_INNER = _GROUPS - {"items", "steps", "features"} | {"subtasks", "children"}
"""Keys whose lists hold beads: _GROUPS of a plan, _INNER of a bead, which is an epic then."""


def _entries(name: Any, value: Any, groups: Collection[str]) -> list[Any]:
    """The beads below a key; empty: it holds none."""
    if _squashed(name) not in groups:
        return []
    if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
        return [{"key": key, "title": key, **one} for key, one in value.items()]
    return value if isinstance(value, list) else []


def _groups(value: Any, groups: Collection[str] = _GROUPS) -> list[Any]:
    return [name for name, one in value.items() if _entries(name, one, groups)] if isinstance(value, dict) else []


def plan_of_values(value: Any, source: str, known: Container[str] = ()) -> Plan:
    """The plan in what YAML or JSON holds: tasks of task-master, issues of gh, our beads, or an outline. PlanError."""
    whole = {"tasks": value} if isinstance(value, list) else value
    tags = tagged(whole)
    tasks = [one for each in tags.values() for one in each if isinstance(one, dict)]
    parts = [part for one in tasks for part in _entries("subtasks", one.get("subtasks"), _INNER)]
    names = {name for one in tasks for name in one}
    is_plain = whole is value and not any(_squashed(name) in _OTHER_NAMES for name in names - _TAKEN)
    is_theirs = tags.keys() != {MASTER} or names & _PARTS or is_plain or ("details" in names and whole is value)
    if tasks and is_theirs and all(isinstance(part, dict) and "id" in part for part in (*tasks, *parts)):
        return plan_of_taskmaster(whole, source, known)
    given = value if isinstance(value, list) else [value]
    if any(isinstance(one, dict) and "number" in one for one in given):
        return plan_of_issues(value, source, known)
    told: list[str] = []
    inside = [name for name, one in value.items() if _groups(one)] if isinstance(value, dict) else []
    if len(inside) == 1 and not _groups(value):  # `plan:` or `project:` around it all
        told += [f"not imported: '{str(name)[:80]}', which is not a task" for name in value if name != inside[0]]
        value = value[inside[0]]
    beads = value.get("beads") if isinstance(value, dict) else value
    is_nested = isinstance(beads, list) and any(
        _groups(_short(one), _INNER) or (isinstance(one, str) and beads is value) for one in beads
    )
    if is_nested or _groups(value) not in ([], ["beads"]):
        return _Outline(source, known, told).plan(value if isinstance(value, dict) else {"tasks": value})
    if isinstance(beads, list):
        beads = [_in_our_words(one) for one in beads]
        value = {**value, "beads": beads} if isinstance(value, dict) else beads
    return replace(plan_of(value, source), problems=tuple(told))


def _short(one: Any) -> Any:
    """A bead that is only a title, perhaps with a colon, or with the beads in it."""
    if isinstance(one, str | int | float):
        return {"title": one}
    if isinstance(one, dict) and len(one) == 1 and _squashed(word := next(iter(one))) not in _OTHER_NAMES:
        return {"title": word, "tasks": one[word]} if isinstance(one[word], list) else {"title": f"{word}: {one[word]}"}
    return one if isinstance(one, dict) else {}


def _in_our_words(task: Any) -> Any:
    """A bead of a plan with our keys and values."""
    if not isinstance(task, dict):
        return task
    made: dict[Any, Any] = {}
    for name, value in task.items():
        key = _OTHER_NAMES.get(_squashed(name), name)
        made[name if key != name and (key in task or key in made) else key] = value
    for key in LISTS:
        given = made.get(key)
        given = [given] if isinstance(given, str | int) else given
        if isinstance(given, list):
            made[key] = [str(one) if isinstance(one, int) else one for one in given]
    made |= {"epic": str(made["epic"])} if isinstance(made.get("epic"), int) else {}
    if "key" not in made and type(name := made.get("id")) is int:
        digest = sha256(f"{name}\0{normal(str(made.get('title')))}".encode()).hexdigest()
        made |= {"id": short_id(digest, ()), "key": str(name)[:MAX_KEY]}
    if isinstance(word := made.get("priority"), str):
        made["priority"] = _priority(word, word)
    return made


def _priority(word: Any, otherwise: Any = None) -> Any:
    small = "-".join(re.findall(r"\w+", str(word).lower()))
    return PRIORITIES.get(small, PRIORITIES.get(f"priority-{small}", otherwise))


class _Outline:
    """Epics and tasks in each other, in a model's words. A name may be there again in another epic, an epic that is
    only named is made, and a phase waits for the one before it. `prefix`: ids are it and the tasks' own, which messages
    name as `kind`."""

    def __init__(self, source: str, known: Container[str], told: list[str], prefix: str = "", kind: str = "") -> None:
        self.source, self.known, self.told, self.prefix, self.kind = source, known, told, prefix, kind
        self.tasks, self.named, self.problems = dict[str, _Task](), dict[str, _Task](), list[str]()
        self.ids, self.phases, self.epics = set[str](), dict[str, str](), dict[str, str]()

    def plan(self, value: Mapping[Any, Any]) -> Plan:
        groups = _groups(value)
        self.told += [f"not imported: '{str(name)[:80]}', which is not a task" for name in value if name not in groups]
        waiting = self._below(value, _GROUPS, "", None)
        while waiting:
            where, given, above = waiting.pop()
            inner = _groups(one := _short(given), _INNER)
            task = self._task({name: one[name] for name in one if name not in inner}, where, above) or above
            waiting += self._below(one, _INNER, f"{where}.", task)
        if self.problems:
            raise refused(self.source, self.problems)
        titles = {normal(task.fields["title"]): task.name for task in self.tasks.values()}
        for task in self.tasks.values():
            if task.parent and task.parent not in self.tasks:
                self._find_epic(task, titles)
        return _plan_of_tasks([*self.named.values(), *self.tasks.values()], self.source, self.told, self.known)

    def _below(self, one: Any, groups: Collection[str], where: str, above: _Task | None) -> list[Any]:
        """The beads in one, the last first: (their places, they, its task)."""
        parts = [(name, enumerate(_entries(name, one[name], groups))) for name in _groups(one, groups)]
        return [(f"{where}{name}[{at}]", part, above) for name, found in parts for at, part in found][::-1]

    def _task(self, raw: Mapping[Any, Any], where: str, above: _Task | None) -> _Task | None:
        before = f"{above.name}." if above else ""
        number = str(raw.get("id", "")).strip().removeprefix(before)
        group = _squashed(where.rpartition(".")[2].partition("[")[0])
        where = f"{self.kind} {before}{number}" if self.kind and number else where
        if group in ("phases", "milestones", "sprints", "epics"):  # `phase: 1` of a phase is its number
            raw = {"id" if f"{_squashed(key)}s" == group else key: one for key, one in raw.items()}
        given, fields, left = _outline_fields(raw, where)
        if (title := fields.get("title")) is None:
            self.told.append(f"not imported: {where}, which has no title")
            return None
        own, again = number if self.kind else given["id"] or title, 2
        name = f"{before}{own}".lower() if self.kind or own.lower() in self.tasks else own.lower()
        if self.kind and (name in self.tasks or not number):
            self.problems.append(f"{where} appears twice" if number else f"{where} has no id")
        while name in self.tasks:
            name, again = f"{before}{own} {again}".lower(), again + 1
        text = "\0".join((*([above.id] if above else []), own if again == 2 else name, normal(title)))
        is_id = is_bead_id(own) and given["id"] == own != title and own not in self.ids
        id_ = f"{self.prefix}{before}{own}" if self.kind else own
        if not self.kind and (not is_id or _LOCAL.fullmatch(own)):
            id_ = short_id(sha256(text.encode()).hexdigest(), self.ids)
        needs = given["needs"]
        if group == "phases" or (PHASE.match(title) and not self.kind):
            needs = [*([needs] if isinstance(needs, str) else needs), *filter(None, [self.phases.get(before)])]
            self.phases[before] = name
        if group == "epics":
            fields["type"] = "epic"
        self.ids.add(id_)
        self.epics.setdefault(given["epic"].lower(), given["epic"])
        parent, why = above.name if above else given["epic"].lower(), _why_not(given["status"])
        why = why or (f"{above.name} is {above.status}" if above and above.why else "")
        self.tasks[name] = _Task(name, id_, where, given["status"], fields, parent, needs, why, left)
        return self.tasks[name]

    def _find_epic(self, task: _Task, titles: Mapping[str, str]) -> None:
        """What the task calls its epic: another one by its title, a bead, or one to be made."""
        epic = self.epics[task.parent]
        if (name := titles.get(normal(epic))) is not None:
            task.parent = name
        elif epic in self.known:
            task.fields["epic"], task.parent = epic, ""
        elif task.parent not in self.named:
            needs = [self.phases[""]] if PHASE.match(epic) and "" in self.phases else []
            self.phases[""] = task.parent
            id_ = short_id(sha256(f"{epic}\0{normal(epic)}".encode()).hexdigest(), self.ids)
            fields, where = {"title": epic[:MAX_TITLE]}, f"epic '{epic[:80]}'"
            self.named[task.parent] = _Task(task.parent, id_, where, "", fields, "", needs, "", [])


def _outline_fields(raw: Mapping[Any, Any], where: str) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """(id, epic, status and needs; the fields of a bead; what is not taken)."""
    told: list[str] = []
    texts: list[str] = []
    left: dict[Any, Any] = {}
    fields: dict[str, Any] = {}
    given: dict[str, Any] = {"id": "", "epic": "", "status": "", "needs": []}
    for name, value in raw.items():
        key = _OTHER_NAMES.get(_squashed(name), "")
        key = "id" if key == "key" and not raw.get("id") else key
        text = _as_text(value).strip()
        if not text:
            continue
        if key == "description":
            texts.append(text)
        elif key in fields or not key or key in LISTS.keys() - {"needs"} or given.get(key):
            left[name] = value
        elif key == "needs":
            given[key] = value if isinstance(value, list) else text
        elif key == "status":
            given[key] = _STATUSES.get(text.lower(), text.lower().replace("_", " "))
        elif key in given:
            is_number = key == "epic" and text.isdigit() and _squashed(name) in ("phase", "milestone", "sprint")
            given[key] = f"{str(name).strip().capitalize()} {text}" if is_number else text
        elif key in ("labels", "touches"):
            fields[key] = [_as_text(one) for one in value] if isinstance(value, list) else re.split(r"[,;]\s*", text)
        elif key == "acceptance":
            fields[key] = [_as_text(one)[:MAX_TEXT] for one in value] if isinstance(value, list) else text[:MAX_TEXT]
        elif key in ("title", "notes"):
            fields[key] = text
        elif (found := _known_value(key, value)) is not None:
            fields[key] = found
        else:
            told.append(f"{where}: the unknown {key} '{text[:40]}' is not imported")
    if "title" in fields:
        fields |= bounded(fields["title"], "\n\n".join(texts), where, told, in_one_line)
    if left:
        told.append(f"not imported: {where}, its fields {', '.join(sorted(map(str, left)))[:200]}")
    return given, fields, told


def _known_value(key: str, value: Any) -> Any:
    """The value of a plan's key; None: it is none."""
    if key == "priority" and isinstance(value, str):
        return _priority(value)
    if key == "type":
        word = str(value).strip().lower()
        value = TYPES.get(word, word)
    if key == "estimate" and isinstance(value, str):
        value = re.sub(r"^[~≈ ]*(?:[\d.]+ *(?:-|–|to) *(?=\d))?", "", value)
    judged = models_judged({"beads": [{"title": "x", key: value}]})
    return None if isinstance(judged, list) else judged[1][0][key]


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_as_text(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(f"- {_as_text(one)}" for one in value)
    return "" if value is None else tidy(str(value))


_ISSUE_FIELDS = frozenset(("number", "title", "body", "labels", "state", "milestone", "url"))
_HINT = "Use what `gh issue list --json number,title,body,labels,state,milestone,url` prints."


def plan_of_issues(value: Any, source: str, known: Container[str] = (), prefix: str = "gh-") -> Plan:
    """The plan of one issue or a list, with ids that begin with `prefix`. PlanError names every problem."""
    issues = [value] if isinstance(value, dict) else value
    if not isinstance(issues, list):
        raise PlanError(f"{source}: not a list of issues", _HINT)
    problems = [f"issues[{place}]{text}" for place, issue in enumerate(issues) for text in _problems(issue)]
    numbers = [issue["number"] for issue in issues] if not problems else []
    problems += [
        f"issue #{number} appears twice" for number in sorted(n for n, many in Counter(numbers).items() if many > 1)
    ]
    if problems:
        error = refused(source, problems)
        error.hint = _HINT
        raise error
    # `gh` lists the newest first
    in_order = issues[::-1] if numbers == sorted(numbers, reverse=True) else issues
    taken = filter(_is_open, in_order)
    left = {name for issue in taken for name, one in issue.items() if name not in _ISSUE_FIELDS and one}
    told = [f"not imported: the fields {', '.join(sorted(left))[:200]} of issues"] if left else []
    milestones: dict[str, _Task] = {}
    tasks = [_issue(issue, milestones, prefix) for issue in in_order]
    return _plan_of_tasks([*milestones.values(), *tasks], source, told, known, prefix)


def _is_open(issue: Mapping[str, Any]) -> bool:
    return (issue.get("state") or "open").strip().lower() == "open"


def _issue(issue: Mapping[str, Any], milestones: dict[str, _Task], prefix: str) -> _Task:
    number, where, told = str(issue["number"]), f"issue #{issue['number']}", list[str]()
    found = task_lists(tidy(issue.get("body") or ""), where, strict=False)
    told += [f"{where}, {text}" for text in found.told]
    criteria, texts, waits = body_parts(found.parts)
    fields = bounded(tidy(issue["title"]), texts, where, told, in_one_line) | _parse_labels(issue.get("labels") or ())
    fields |= {"acceptance": [text[:MAX_TEXT] for text in criteria]} if criteria else {}
    fields |= {"metadata": {ISSUE: issue["url"]}} if issue_of({ISSUE: issue.get("url")}) else {}
    status, why = ("", "") if _is_open(issue) else ("closed", "it is closed")
    epic = _milestone(issue["milestone"], milestones, prefix) if issue.get("milestone") and not why else ""
    needs = [f"#{one}" for one in waits]
    return _Task(f"#{number}", f"{prefix}{number}", where, status, fields, epic, needs, why, told)


def _milestone(milestone: dict[str, Any] | str, known: dict[str, _Task], prefix: str) -> str:
    """The name of its epic, which is there afterwards."""
    given: dict[str, Any] = milestone if isinstance(milestone, dict) else {"title": milestone}
    title, number, text = (given.get(name) for name in ("title", "number", "description"))
    title, text = (tidy(one) if isinstance(one, str) else "" for one in (title, text))
    is_numbered = isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**18
    id_ = f"{prefix}milestone-{number if is_numbered else sha256(title.strip().encode()).hexdigest()[:8]}"
    if id_ not in known:
        fields = bounded(title, text, where := f"milestone '{title[:80]}'", told := list[str](), in_one_line)
        known[id_] = _Task(id_, id_, where, "", {**fields, "type": "epic"}, "", (), "", told)
    return id_


def _problems(issue: Any) -> Iterator[str]:
    if not isinstance(issue, dict):
        yield ": is not an issue"
        return
    number = issue.get("number")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 10**18:
        yield ".number: is not the number of an issue" if "number" in issue else ".number: is missing"
    if not isinstance(issue.get("title"), str) or not in_one_line(tidy(issue["title"])):
        yield ".title: is not text" if "title" in issue else ".title: is missing"
    for name, kinds in (("body", str), ("state", str), ("labels", list), ("milestone", (dict, str))):
        if issue.get(name) is not None and not isinstance(issue[name], kinds):
            yield f".{name}: has another type than gh prints"
    labels = issue.get("labels")
    for place, label in enumerate(labels if isinstance(labels, list) else ()):
        if not isinstance(label.get("name") if isinstance(label, dict) else label, str):
            yield f".labels[{place}]: has no name"


def _parse_labels(labels: Any) -> dict[str, Any]:
    names = [label["name"] if isinstance(label, dict) else label for label in labels]
    words = {name: "-".join(re.findall(r"\w+", name.casefold())) for name in names}
    types = {_KINDS.sub("", word): name for name, word in words.items()}
    kind = next((word for word in TYPES if word in types), None)
    urgent = [PRIORITIES[word] for word in words.values() if word in PRIORITIES]
    left = [
        in_one_line(tidy(name))
        for name, word in words.items()
        if word not in PRIORITIES and _KINDS.sub("", word) not in TYPES
    ]
    made: dict[str, Any] = {"type": TYPES[kind]} if kind else {}
    if urgent:
        made["priority"] = min(urgent)
    if left := list(dict.fromkeys(label for label in left if label)):
        made["labels"] = left
    return made


def plan_of_tables(text: str, source: str, known: Container[str]) -> Plan | None:
    """The plan in a text's tables of tasks; None: it has none. Under several headings, each is an epic."""
    found, inside = list[tuple[str, dict[str, str]]](), list[int]()
    for first, heading, rows in tables(text, source):
        keys = {_OTHER_NAMES.get(_squashed(name), "") for row in rows for name in row} - {"", "description"}
        if "title" in keys and (len(keys) > 1 or any("#" in row or "" in row for row in rows)):
            found += [(heading, _row(row)) for row in rows]
            inside += range(first, first + len(rows) + 2)
    if not found:
        return None
    outside = {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}.difference(inside)
    told = [f"not imported: {runs([*outside], inside)}, outside of the tables"] if outside else []
    groups = [{"title": name, "tasks": rows} for name, rows in grouped(found).items()]
    tasks = [row for _, row in found]
    return _Outline(source, known, told).plan({"epics": groups} if len(groups) > 1 else {"tasks": tasks})


def _row(row: Mapping[str, str]) -> dict[str, str]:
    made, known = dict[str, str](), {_OTHER_NAMES.get(_squashed(name)) for name in row}
    for name, cell in row.items():
        key = {"#": "id", "": "status" if cell in _STATUSES else "id"}.get(name, name)
        key = name if key in known or key in made else key
        made[key] = plain_title(cell) if _OTHER_NAMES.get(_squashed(key)) == "title" else cell
    return made


# A task of Backlog.md is a Markdown file with its fields before the text.


def front_matter(text: str, source: str) -> dict[str, Any] | None:
    """The front matter of a Backlog.md task; None: another text."""
    many = front(lines := text.split("\n"))
    names = {name for line in lines[:many] if (name := line.partition(":")[0]) != line}
    if not ({"id", "title", "status"} <= names or ("title" in names and "\n## Acceptance Criteria\n" in text)):
        return None
    said = nodes.load(f"{source}.yaml", "\n".join(lines[1 : many - 1]))
    return said if isinstance(said, dict) and "title" in said else None


def plan_of_backlog(texts: Mapping[str, str], source: str, known: Container[str]) -> Plan:
    """The plan of these tasks, file -> text."""
    told: list[str] = []
    tasks: list[tuple[Any, _Task]] = []
    for name, text in texts.items():
        if (said := front_matter(text, name)) is None:
            told.append(f"not imported: {name}, which is not a task of Backlog.md")
            continue
        given = str(said.get("id") or "").strip()
        id_ = given if is_bead_id(given) else f"bl-{sha256(name.encode()).hexdigest()[:10]}"
        many = front(lines := text.split("\n"))
        found = task_lists("\n".join(("",) * many + (*lines[many:],)), name, strict=False)  # with the file's numbers
        criteria, description, _ = body_parts(found.parts)
        labels = said["labels"] if isinstance(said.get("labels"), list) else []
        more = {"labels": [*labels, f"milestone:{said['milestone']}"]} if said.get("milestone") else {}
        raw = {key: one for key, one in said.items() if key not in ("ordinal", "milestone")} | more
        found_of, fields, left = _outline_fields({**raw, "description": description, "acceptance": criteria}, name)
        status, place = str(said.get("status") or "").strip().lower(), said.get("ordinal")
        order = float(place) if isinstance(place, int | float) else float("inf")
        left = [*(f"{name}, {one}" for one in found.told), *left]
        own, parent = given.lower() or name, found_of["epic"].lower()
        task = _Task(own, id_, name, status, fields, parent, found_of["needs"], _why_not(status), left)
        tasks.append(((order, [int(n) for n in re.findall(r"\d+", given)]), task))
    if not tasks and not told:
        raise PlanError(f"{source}: found no task", "Name a folder with Backlog.md tasks, or one such file.")
    return _plan_of_tasks([task for _, task in sorted(tasks, key=itemgetter(0))], source, told, known)
