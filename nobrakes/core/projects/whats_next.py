"""What does not fit together in a project: its documents, its commits and its artifacts, compared. No model is asked.

1. Five kinds. A plan's tasks without their artifacts; a decision that no plan knows; a commit that says "done" of what
   the roadmap has open; a sprint that is over and has no review; a project that is complete with criteria open.
2. A task's artifacts are the paths that it names in backticks; one that names none is told by its box. What a review
   lists as not done is told already, and is no contradiction.
3. A commit that was reverted says nothing, until that was reverted too; what it says is not done is not done. Words
   are compared without capitals and marks, and whole.
4. Decisions are the headings of the highest level below the first; those below them belong to one, unless they begin
   with a decision's number.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from . import documents
from .documents import Box, Sprint


class Contradiction(StrEnum):
    """The kinds, by what has to be done about them."""

    TASKS_LEFT = "tasks_left"
    DECISION_NOT_IN_PLAN = "decision_not_in_plan"
    ROADMAP_BEHIND = "roadmap_behind"
    REVIEW_MISSING = "review_missing"
    NOT_COMPLETE = "not_complete"


@dataclass(frozen=True, slots=True)
class Finding:
    """One contradiction: where it is, and what does not fit, in words."""

    kind: Contradiction
    where: str
    text: str
    items: tuple[str, ...] = ()


_PATH = re.compile(r"`([^`\s]+)`")
_DONE = re.compile(r"\b(?:done|finish(?:e[sd])?|complete[sd]?|close[sd]?)\b", re.IGNORECASE)
_NOT = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)(?:\s+(?:be|been|get|quite|fully|really|yet))*\s+\Z", re.IGNORECASE
)
_REVERT = re.compile(r'Revert "(.+)"\Z')
_REAPPLY = re.compile(r'Reapply "(.+)"\Z')
"""git's own words for the revert of a revert."""
_ID = re.compile(r"\b((?:D|ADR|DEC)-?\d+)\b")
_HEAD = re.compile(r"(#{2,4}\s+|[-*+]\s+)(.*\S)")
_DATE = re.compile(r"\A[\W_]*\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?[\W_]*")


def whats_next(files: Mapping[str, str], subjects: Sequence[str], exists: Callable[[str], bool]) -> list[Finding]:
    """Every contradiction, by kind and place.

    `files`: the documents, path -> text; `subjects`: of the commits, newest first; `exists`: whether an artifact does.
    """
    sprints = documents.sprints(files)
    status = documents.status(files.get("task.md", ""))
    found = [*_tasks(sprints, exists), *_decisions(files.get("DECISIONS.md", ""), sprints)]
    found += _roadmap(files.get(documents.ROADMAP, ""), subjects)
    found += _reviews(sprints, status, exists)
    return found + _complete(files.get("CLAUDE.md", ""), status)


def words(text: str) -> str:
    """The text as it is compared."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _has(task: Box, exists: Callable[[str], bool]) -> bool:
    paths = [path for path in _PATH.findall(task.text) if "/" in path or "." in path.strip(".")]
    return all(map(exists, paths)) if paths else task.is_checked


def _left(sprint: Sprint, exists: Callable[[str], bool]) -> tuple[int, list[str]]:
    """(how many tasks its plan has, those that are neither there nor told as not done)."""
    tasks = documents.tasks(sprint.plan or "")
    rows = documents.section(sprint.review or "", "Not done", "What was not done", "Not finished")
    told = f" {words(' '.join(line for _, line in rows))} "
    left = [task.text for task in tasks if not _has(task, exists)]
    return len(tasks), [text for text in left if words(text) and f" {words(text)} " not in told]


def _tasks(sprints: Sequence[Sprint], exists: Callable[[str], bool]) -> list[Finding]:
    found = []
    for sprint in sprints:
        count, left = _left(sprint, exists)
        if left:
            text = f"{count} tasks are planned, {count - len(left)} have what they name: {len(left)} left"
            where = f"{documents.SPRINTS}/{sprint.name}/plan.md"
            found.append(Finding(Contradiction.TASKS_LEFT, where, text, tuple(left)))
    return found


def _decisions(text: str, sprints: Sequence[Sprint]) -> list[Finding]:
    plans = "\n".join(sprint.plan or "" for sprint in sprints)
    known, ids = f" {words(plans)} ", set(_ID.findall(plans))
    missing = []
    for title in _titles(text):
        own = _ID.findall(title)
        plain = words(_DATE.sub("", _ID.sub("", title)))
        if not (ids.intersection(own) or (plain and f" {plain} " in known)):
            missing.append(title)
    if not missing:
        return []
    what = "no plan knows this decision" if len(missing) == 1 else f"no plan knows these {len(missing)} decisions"
    return [Finding(Contradiction.DECISION_NOT_IN_PLAN, "DECISIONS.md", what, tuple(missing))]


def _titles(text: str) -> list[str]:
    """The decisions: the headings of the highest level below the first, or the items of a list where there are none."""
    rows = [found for _, line in documents.lines(text) if (found := _HEAD.match(line))]
    heads = [(row[1].count("#"), row[2].rstrip("# ")) for row in rows if row[1].startswith("#")]
    highest = min((level for level, _ in heads), default=0)
    return [title for level, title in heads if level == highest or _ID.match(title)] or [row[2] for row in rows]


def _roadmap(text: str, subjects: Sequence[str]) -> list[Finding]:
    reverted: list[str] = []
    done = []
    for subject in subjects:
        if subject in reverted:  # first: a revert, too, may have been reverted
            reverted.remove(subject)
        elif taken_back := _REVERT.match(subject):
            reverted.append(taken_back[1])
        elif again := _REAPPLY.match(subject):
            reverted.append(f'Revert "{again[1]}"')
        else:
            done.append(f" {words(_said_done(subject))} ")
    open_ = [box for box in documents.boxes(list(documents.lines(text))) if not box.is_checked]
    behind = [box.text for box in open_ if words(box.text) and any(f" {words(box.text)} " in one for one in done)]
    what = "commits say that this is done, and the roadmap has it open"
    return [Finding(Contradiction.ROADMAP_BEHIND, documents.ROADMAP, what, tuple(behind))] if behind else []


def _said_done(subject: str) -> str:
    """What the commit says is done: from the first word of it on, up to where it says that something is not."""
    begin = None
    for found in _DONE.finditer(subject):
        is_not = _NOT.search(subject[: found.start()]) is not None
        if is_not and begin is not None:
            return subject[begin : found.start()]
        if not is_not and begin is None:
            begin = found.end()
    return "" if begin is None else subject[begin:]


def _reviews(sprints: Sequence[Sprint], status: str, exists: Callable[[str], bool]) -> list[Finding]:
    found = []
    for sprint in sprints:
        if sprint.review is not None and sprint.review.strip():
            continue
        count, left = _left(sprint, exists)
        why = ""
        if sprint is not sprints[-1]:
            why = f"{sprints[-1].name} came after it"
        elif status == "complete":
            why = "task.md says that the project is complete"
        elif count and not left:
            why = "its tasks are done"
        if why:
            where = f"{documents.SPRINTS}/{sprint.name}/review.md"
            found.append(Finding(Contradiction.REVIEW_MISSING, where, f"the sprint is not closed, and {why}"))
    return found


def _complete(brief: str, status: str) -> list[Finding]:
    open_ = tuple(box.text for box in documents.criteria(brief) if not box.is_checked)
    if status != "complete" or not open_:
        return []
    text = f"task.md says complete, and {len(open_)} success criteria are not met"
    return [Finding(Contradiction.NOT_COMPLETE, "task.md", text, open_)]
