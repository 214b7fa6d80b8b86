"""A plan from the files of task-master (`tasks.json`) and Backlog.md (a file a task, or their folder).

1. A task is a bead with an id from its own: `tm-3`, `tm-3.2`, `tm-TAG-3`, `BACK-595`, the same each time. Done or
   cancelled tasks are reported, not taken.
2. A task with open subtasks is an epic. Done needs count as met; cancelled or missing ones are reported and not waited
   for.
3. The source's order is kept; ignored fields are named.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
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


class _Tag:
    """One tag's tasks."""

    def __init__(self, tag: str, tasks: Sequence[Any], problems: list[str], told: list[str]) -> None:
        self.problems, self.told, self.nodes, self.places = problems, told, list[dict[str, Any]](), list[str]()
        self.where = "task" if tag == MASTER else f"{tag[:80]}: task"
        word = tag if re.fullmatch(r"[A-Za-z0-9_-]{1,24}", tag) else sha256(tag.encode()).hexdigest()[:8]
        self.prefix = "tm-" if tag == MASTER else f"tm-{word}-"
        self.status: dict[str, str] = {}
        self.epics: set[str] = set()
        self.tasks = [
            (number, task, list(self._numbered(task.get("subtasks") or (), f"{number}.")))
            for number, task in self._numbered(tasks, "")
        ]
        for number, task, parts in self.tasks:
            for name, one in ((number, task), *parts):
                if name in self.status:
                    problems.append(f"{self.where} {name} is there twice")
                self.status[name] = str(one.get("status") or "pending").strip().lower()
            if any(self._is_open(name) for name, _ in parts):
                self.epics.add(number)

    def _numbered(self, tasks: Any, before: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for place, task in enumerate(tasks if isinstance(tasks, list | tuple) else ()):
            number = str(task.get("id", "")).strip().removeprefix(before) if isinstance(task, dict) else ""
            title = task.get("title") if isinstance(task, dict) else None
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,30}", number):
                self.problems.append(
                    f"{self.where} at place {place + 1}{f' of {before[:-1]}' if before else ''}: has no id"
                )
            elif not isinstance(title, str) or not in_one_line(tidy(title)):
                self.problems.append(f"{self.where} {before}{number}: has no title")
            else:
                yield f"{before}{number}", task

    def _is_open(self, number: str) -> bool:
        return self.status[number] not in _CLOSED | _CANCELLED

    def read(self) -> None:
        for number, task, parts in self.tasks:
            if not self._is_open(number):
                open_ones = [name for name, _ in parts if self._is_open(name)]
                self.told.append(f"not taken: {self.where} {number}, since it is {self.status[number]}: {_title(task)}")
                self.told += [
                    f"not taken: {self.where} {name}, since {number} is {self.status[number]}" for name in open_ones
                ]
                continue
            self._node(number, task, None)
            for name, one in parts:
                if self._is_open(name):
                    self._node(name, one, number if number in self.epics else None)
                else:
                    self.told.append(f"not taken: {self.where} {name}, since it is {self.status[name]}: {_title(one)}")

    def _node(self, number: str, task: dict[str, Any], epic: str | None) -> None:
        where, status = f"{self.where} {number}", self.status[number]
        texts = [
            tidy(text)
            for name in ("description", "details")
            if isinstance(text := task.get(name), str) and text.strip()
        ]
        made: dict[str, Any] = {"id": self.prefix + number}
        made |= bounded(tidy(task["title"]), "\n\n".join(texts), where, self.told, in_one_line)
        made |= {"type": "epic"} if number in self.epics else {}
        made |= {"epic": self.prefix + epic} if epic else {}
        strategy = task.get("testStrategy")
        if isinstance(strategy, str) and strategy.strip():
            made["acceptance"] = [tidy(strategy).strip()[:MAX_TEXT]]
        word = str(task.get("priority") or "").strip().lower()
        if (priority := PRIORITIES.get(f"priority-{word}")) is not None:
            made["priority"] = priority
        elif word:
            self.told.append(f"{where}: the priority '{word[:40]}' is not known: not taken over")
        if status in _HELD:
            made["hold"] = status
        elif status not in ("pending", "todo", "open"):
            self.told.append(f"{where}: it is '{status[:40]}' there, and waits for approval here")
        if needs := list(dict.fromkeys(self._needs(number, task, where))):
            made["needs"] = needs
        left = sorted(name for name, value in task.items() if name not in _TAKEN and value not in (None, "", [], {}))
        if left:
            self.told.append(f"not taken: {where}, its fields {', '.join(left)[:200]}")
        self.nodes.append(made)
        self.places.append(where)

    def _needs(self, number: str, task: dict[str, Any], where: str) -> Iterator[str]:
        given = task.get("dependencies")
        for one in given if isinstance(given, list) else ():
            name, parent = str(one).strip(), number.rpartition(".")[0]
            if parent and f"{parent}.{name}" in self.status:
                name = f"{parent}.{name}"
            if name not in self.status or name == number:
                self.told.append(f"{where}: waits for '{name[:80]}', which is not there: not taken over")
            elif self.status[name] in _CANCELLED:
                self.told.append(f"{where}: waits for {name}, which is cancelled: not waited for")
            elif self._is_open(name) and self._is_taken(name):
                yield self.prefix + name

    def _is_taken(self, number: str) -> bool:
        parent = number.rpartition(".")[0]
        return parent not in self.status or self._is_open(parent)


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
        return plan_of_taskmaster(value, source)
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


def _title(task: Mapping[str, Any]) -> str:
    return in_one_line(tidy(task["title"]))[:80]


def plan_of_taskmaster(value: Mapping[str, Any], source: str) -> Plan:
    """PlanError names every problem."""
    problems: list[str] = []
    tags = tagged(value)
    wholes = {"": value} if "tasks" in value else value
    told = [
        f"not taken: {f'{tag[:80]}: ' if tag else ''}'{name[:80]}', which is not a task"
        for tag, whole in wholes.items()
        for name in whole
        if name != "tasks"
    ]
    found = [_Tag(tag, tasks, problems, told) for tag, tasks in tags.items()]
    if problems:
        raise refused(source, problems)
    for one in found:
        one.read()
    made = [node for one in found for node in one.nodes]
    return made_plan(made, [place for one in found for place in one.places], source, told)


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
    tasks = []
    for name, text in texts.items():
        if (said := front_matter(text, name)) is None:
            told.append(f"not taken: {name}, which is not a task of Backlog.md")
        else:
            tasks.append((name, said, text))
    tasks.sort(key=lambda one: (_ordinal(one[1]), [int(n) for n in re.findall(r"\d+", str(one[1].get("id", "")))]))
    ids = {name: _id_of(said, name) for name, said, _ in tasks}
    real = [(name, said) for name, said, _ in tasks if str(said.get("status")).strip().lower() != "draft"]
    by_id = {str(said.get("id", "")).strip().lower(): (ids[name], said) for name, said in real}
    parents = {str(said.get("parent_task_id", "")).strip().lower() for _, said, _ in tasks if not _is_over(said)} - {""}
    made, places = [], []
    for name, said, text in tasks:
        status = str(said.get("status") or "").strip().lower()
        if _is_over(said) or status == "draft":
            told.append(f"not taken: {name}, since it is {status}: {in_one_line(tidy(str(said['title'])))[:80]}")
            continue
        node = {"id": ids[name], **_task_fields(said, text, name, told)}
        own, parent = (str(said.get(key, "")).strip().lower() for key in ("id", "parent_task_id"))
        if own and own in parents:
            node["type"] = "epic"
        if parent in by_id and not _is_over(by_id[parent][1]):
            node["epic"] = by_id[parent][0]
        elif parent:
            told.append(f"{name}: its parent {parent[:80]} is not taken over")
        needs = []
        for other in said.get("dependencies") or ():
            wanted = str(other).strip()
            if wanted.lower() in by_id:
                needs += [] if _is_over(by_id[wanted.lower()][1]) else [by_id[wanted.lower()][0]]
            elif wanted in known:
                needs.append(wanted)
            else:
                told.append(
                    f"{name}: waits for '{wanted[:80]}', which is neither there nor in the graph: not taken over"
                )
        made.append({**node, **({"needs": needs} if needs else {})})
        places.append(name)
    if not made and not told:
        raise PlanError(f"{source}: there is no task in it", "Name a folder with tasks of Backlog.md, or a file.")
    return made_plan(made, places, source, told)


def _is_over(said: Mapping[str, Any]) -> bool:
    return str(said.get("status") or "").strip().lower() in _CLOSED | _CANCELLED


def _ordinal(said: Mapping[str, Any]) -> float:
    value = said.get("ordinal")
    return float(value) if isinstance(value, int | float) else float("inf")


def _id_of(said: Mapping[str, Any], name: str) -> str:
    given = str(said.get("id") or "").strip()
    return given if is_bead_id(given) else f"bl-{sha256(name.encode()).hexdigest()[:10]}"


def _task_fields(said: Mapping[str, Any], text: str, where: str, told: list[str]) -> dict[str, Any]:
    many = front(text.split("\n"))
    body = "\n" * many + text.split("\n", many)[-1]  # so that lines are counted as in the file
    found = task_lists(body, where, strict=False)
    told += [f"{where}, {one}" for one in found.told]
    criteria, description, _ = body_parts(found.parts)
    made = bounded(tidy(str(said["title"])), description, where, told, in_one_line)
    word = str(said.get("priority") or "").strip().lower()
    priority = PRIORITIES.get(f"priority-{word}")
    made |= {"priority": priority} if priority is not None else {}
    kind = str(said.get("type") or "").strip().lower()
    made |= {"type": TYPES[kind]} if kind in TYPES else {}
    labels = [in_one_line(str(one)) for one in said.get("labels") or ()]
    labels += [f"milestone:{in_one_line(str(said['milestone']))}"] if said.get("milestone") else []
    made |= {"labels": labels} if labels else {}
    made |= {"acceptance": [one[:MAX_TEXT] for one in criteria]} if criteria else {}
    left = sorted(str(name) for name, value in said.items() if name not in _FIELDS and value not in (None, "", [], {}))
    if left:
        told.append(f"not taken: {where}, its fields {', '.join(left)[:200]}")
    return made
