"""A plan from the files of task-master (`tasks.json`) and Backlog.md (a file a task, or their folder).

1. A task is a bead with an id from its own: `tm-3`, `tm-3.2`, `tm-TAG-3`, `BACK-595`, the same each time. Done or
   cancelled tasks are reported, not taken.
2. A task with open subtasks is an epic. Done needs count as met; cancelled or missing ones are reported and not waited
   for.
3. The source's order is kept; ignored fields are named.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from operator import itemgetter
from typing import Any

from ..beads.model import is_bead_id
from ..beads.proposals import LISTS
from ..errors import PlanError
from ..snapshot.reader import CLOSED_WORDS, HELD_WORDS
from . import nodes
from .markdown import PRIORITIES, TYPES, body_parts, plan_of_issues, short_id, task_lists
from .nodes import MAX_KEY, MAX_TEXT, Node, Plan, bounded, front, in_one_line, made_plan, normal, plan_of, refused, tidy

_CLOSED = CLOSED_WORDS | {"complete"}
_CANCELLED = frozenset(("cancelled", "canceled", "archived"))
_HELD = HELD_WORDS | {"on hold"}
_ORDINARY = frozenset(("", "pending", "todo", "to do", "open"))
_TAKEN = frozenset(
    ("id", "title", "description", "details", "testStrategy", "status", "priority", "dependencies", "subtasks")
)
MASTER = "master"


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


def _plan_of_tasks(tasks: Sequence[_Task], source: str, told: list[str], known: Collection[str]) -> Plan:
    """A task with open parts is an epic. Everything left out is reported."""
    by_name = {task.name: task for task in tasks}
    parents = {task.parent for task in tasks if not task.why}
    made = []
    for task in tasks:
        if task.why:
            told.append(f"not taken: {task.where}, since {task.why}: {task.fields['title'][:80]}")
            continue
        told += task.told
        node = {"id": task.id, **task.fields, **({"type": "epic"} if task.name in parents else {})}
        if task.parent in by_name and not by_name[task.parent].why:
            node["epic"] = by_name[task.parent].id
        elif task.parent:
            told.append(f"{task.where}: its parent {task.parent[:80]} is not taken over")
        if task.status in _HELD:
            node["hold"] = task.status
        elif task.status not in _ORDINARY:
            told.append(f"{task.where}: it is '{task.status[:40]}' there, and waits for approval here")
        needs = list[str]()
        for name in (str(one).strip() for one in (task.needs if isinstance(task.needs, list) else ())):
            other = by_name.get(f"{task.parent}.{name}".lower()) or by_name.get(name.lower())
            if other is None and name in known:
                needs.append(name)
            elif other is None or other is task:
                wanted = f"waits for '{name[:80]}', which is neither there nor in the graph"
                told.append(f"{task.where}: {wanted}: not taken over")
            elif other.status in _CANCELLED or other.status == "draft":
                told.append(f"{task.where}: waits for {name[:80]}, which is {other.status}: not waited for")
            elif not other.why:
                needs.append(other.id)
        made.append({**node, **({"needs": list(dict.fromkeys(needs))} if needs else {})})
    return made_plan(made, [task.where for task in tasks if not task.why], source, told)


def _fields_of(
    value: Mapping[str, Any], text: str, where: str, taken: Collection[str], told: list[str]
) -> dict[str, Any]:
    """Title, text and priority; fields that are not taken are reported."""
    made = bounded(tidy(str(value["title"])), text, where, told, in_one_line)
    word = str(value.get("priority") or "").strip().lower()
    if (priority := PRIORITIES.get(f"priority-{word}")) is not None:
        made["priority"] = priority
    elif word:
        told.append(f"{where}: the priority '{word[:40]}' is not known: not taken over")
    _report_fields({name: one for name, one in value.items() if name not in taken}, where, told)
    return made


def _report_fields(left: Mapping[Any, Any], where: str, told: list[str]) -> None:
    if names := sorted(str(name) for name, value in left.items() if value not in (None, "", [], {})):
        told.append(f"not taken: {where}, its fields {', '.join(names)[:200]}")


def plan_of_taskmaster(value: Mapping[str, Any], source: str, known: Collection[str]) -> Plan:
    """PlanError names every problem."""
    problems: list[str] = []
    told = [
        f"not taken: {f'{tag[:80]}: ' if tag else ''}'{name[:80]}', which is not a task"
        for tag, whole in ({"": value} if "tasks" in value else value).items()
        for name in whole
        if name != "tasks"
    ]
    tags = [_tasks_of(tag, tasks, problems) for tag, tasks in tagged(value).items()]
    if problems:
        raise refused(source, problems)
    plans = [_plan_of_tasks(tasks, source, told, known) for tasks in tags]
    return Plan(tuple(node for plan in plans for node in plan.nodes), False, source, tuple(told))


def _tasks_of(tag: str, tasks: Sequence[Any], problems: list[str]) -> list[_Task]:
    """One tag's tasks and subtasks, in order."""
    before = "task" if tag == MASTER else f"{tag[:80]}: task"
    word = tag if re.fullmatch(r"[A-Za-z0-9_-]{1,24}", tag) else sha256(tag.encode()).hexdigest()[:8]
    prefix = "tm-" if tag == MASTER else f"tm-{word}-"
    found: dict[str, _Task] = {}
    waiting = [(place, task, "") for place, task in enumerate(tasks, 1)][::-1]
    while waiting:
        place, task, parent = waiting.pop()
        number = str(task.get("id", "")).strip().removeprefix(f"{parent}.") if isinstance(task, dict) else ""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,30}", number):
            problems.append(f"{before} at place {place}{f' of {parent}' if parent else ''}: has no id")
            continue
        name = f"{parent}.{number}" if parent else number
        where, title = f"{before} {name}", task.get("title")
        if not isinstance(title, str) or not in_one_line(tidy(title)):
            problems.append(f"{where}: has no title")
            continue
        if name.lower() in found:
            problems.append(f"{where} is there twice")
        status = str(task.get("status") or "pending").strip().lower()
        above = found.get(parent.lower())
        why = f"{parent} is {above.status}" if above and above.why and not _why_not(status) else _why_not(status)
        texts = [tidy(one) for one in map(task.get, ("description", "details")) if isinstance(one, str) and one.strip()]
        fields = _fields_of(task, "\n\n".join(texts), where, _TAKEN, left := list[str]())
        if isinstance(strategy := task.get("testStrategy"), str) and strategy.strip():
            fields["acceptance"] = [tidy(strategy).strip()[:MAX_TEXT]]
        own, needs = name.lower(), task.get("dependencies")
        found[own] = _Task(own, prefix + name, where, status, fields, parent.lower(), needs, why, left)
        parts = task.get("subtasks")
        waiting += [(at, one, name) for at, one in enumerate(parts if isinstance(parts, list) else (), 1)][::-1]
    return [*found.values()]


_NAMES: Mapping[str, tuple[str, ...]] = {
    "needs": (*("depends_on", "dependsOn", "dependencies", "blockedBy", "blocked_by"), "prerequisites", "after"),
    "acceptance": ("acceptance_criteria", "acceptanceCriteria", "criteria"),
    "estimate": ("effort", "duration", "estimated_time"),
    "title": ("name",),
    "labels": ("tags",),
}
"""Keys of a plan, as models call them."""
_PARTS = frozenset(("subtasks", "testStrategy"))
_OTHER_NAMES = {name: key for key, names in _NAMES.items() for name in names}


def plan_of_values(value: Any, source: str, known: Collection[str] = ()) -> Plan:
    """The plan in what YAML or JSON holds: tasks of task-master, issues of gh, or beads. PlanError."""
    if isinstance(value, list) and any(isinstance(one, dict) and one.keys() & _PARTS for one in value):
        value = {"tasks": value}
    tags = tagged(value)
    tasks = [one for each in tags.values() for one in each if isinstance(one, dict)]
    names = {name for one in tasks for name in one}
    other = (_OTHER_NAMES.keys() | Node.model_fields.keys()) - _TAKEN
    is_plain = all("id" in one for one in tasks) and not names & other
    if tags and (tags.keys() != {MASTER} or names & (_PARTS | {"details"}) or is_plain):
        return plan_of_taskmaster(value, source, known)
    given = value if isinstance(value, list) else [value]
    if any(isinstance(one, dict) and "number" in one for one in given):
        return plan_of_issues(value, source, known)
    told: list[str] = []
    if tags:
        told = [f"not taken: '{name[:80]}', which is not a task" for name in value if name != "tasks"]
        value = {"beads": [_in_our_words(one, f"tasks[{place}]", told) for place, one in enumerate(value["tasks"])]}
    elif isinstance(beads := value.get("beads") if isinstance(value, dict) else value, list):
        beads = [_in_our_words(one, "", told) for one in beads]
        value = {**value, "beads": beads} if isinstance(value, dict) else beads
    return replace(plan_of(value, source), problems=tuple(told))


def _in_our_words(task: Any, where: str, told: list[str]) -> Any:
    """A bead of a plan with our keys and values. `where`: other keys are reported there, not refused."""
    if not isinstance(task, dict):
        return task
    made: dict[Any, Any] = {}
    for name, value in task.items():
        key = _OTHER_NAMES.get(name, name)
        made[name if key != name and (key in task or key in made) else key] = value
    for key in LISTS:
        given = made.get(key)
        given = [given] if isinstance(given, str | int) else given
        if isinstance(given, list):
            made[key] = [str(one) if isinstance(one, int) else one for one in given]
    made |= {"epic": str(made["epic"])} if isinstance(made.get("epic"), int) else {}
    name = made.get("id", made.get("title") if where else None)
    if "key" not in made and (type(name) is int or "id" not in made) and name:
        digest = sha256(f"{name}\0{normal(str(made.get('title')))}".encode()).hexdigest()
        made |= {"id": short_id(digest, ()), "key": str(name)[:MAX_KEY]}
    if isinstance(word := made.get("priority"), str):
        small = word.strip().lower()
        made["priority"] = PRIORITIES.get(small, PRIORITIES.get(f"priority-{small}", word))
    left = [name for name, value in made.items() if where and name not in Node.model_fields]
    if told_of := sorted(name for name in left if made[name] not in (None, "", [], {})):
        told.append(f"not taken: {where}, its fields {', '.join(told_of)[:200]}")
    return {name: value for name, value in made.items() if name not in left}


# A task of Backlog.md is a Markdown file with its fields before the text.
_FIELDS = frozenset(
    ("id", "title", "status", "labels", "dependencies", "priority", "ordinal", "parent_task_id", "type", "milestone")
)


def front_matter(text: str, source: str) -> dict[str, Any] | None:
    """The front matter of a Backlog.md task; None: another text."""
    many = front(lines := text.split("\n"))
    names = {name for line in lines[:many] if (name := line.partition(":")[0]) != line}
    if not ({"id", "title", "status"} <= names or ("title" in names and "\n## Acceptance Criteria\n" in text)):
        return None
    said = nodes.load(f"{source}.yaml", "\n".join(lines[1 : many - 1]))
    return said if isinstance(said, dict) and "title" in said else None


def plan_of_backlog(texts: Mapping[str, str], source: str, known: Collection[str]) -> Plan:
    """The plan of these tasks, file -> text."""
    told: list[str] = []
    tasks: list[tuple[Any, _Task]] = []
    for name, text in texts.items():
        if (said := front_matter(text, name)) is None:
            told.append(f"not taken: {name}, which is not a task of Backlog.md")
            continue
        given = str(said.get("id") or "").strip()
        id_ = given if is_bead_id(given) else f"bl-{sha256(name.encode()).hexdigest()[:10]}"
        status, parent = (str(said.get(key) or "").strip().lower() for key in ("status", "parent_task_id"))
        why = _why_not(status)
        fields = _backlog_fields(said, text, name, left := list[str]())
        place = said.get("ordinal")
        order = (
            float(place) if isinstance(place, int | float) else float("inf"),
            [int(n) for n in re.findall(r"\d+", given)],
        )
        needs = said.get("dependencies")
        tasks.append((order, _Task(given.lower() or name, id_, name, status, fields, parent, needs, why, left)))
    if not tasks and not told:
        raise PlanError(f"{source}: there is no task in it", "Name a folder with tasks of Backlog.md, or a file.")
    return _plan_of_tasks([task for _, task in sorted(tasks, key=itemgetter(0))], source, told, known)


def _backlog_fields(said: Mapping[str, Any], text: str, where: str, told: list[str]) -> dict[str, Any]:
    many = front(text.split("\n"))
    body = "\n" * many + text.split("\n", many)[-1]  # so that lines are counted as in the file
    found = task_lists(body, where, strict=False)
    told += [f"{where}, {one}" for one in found.told]
    criteria, description, _ = body_parts(found.parts)
    made = _fields_of(said, description, where, _FIELDS, told)
    kind = str(said.get("type") or "").strip().lower()
    made |= {"type": TYPES[kind]} if kind in TYPES else {}
    labels = [in_one_line(str(one)) for one in said.get("labels") or ()]
    labels += [f"milestone:{in_one_line(str(said['milestone']))}"] if said.get("milestone") else []
    made |= {"labels": labels} if labels else {}
    made |= {"acceptance": [one[:MAX_TEXT] for one in criteria]} if criteria else {}
    return made
