"""The next step of a project's sprints. Facts in, one step out; no model is asked whether to go on.

1. Plan, documents, work, documents, and again. Between two sprints the rules check whether the project is complete,
   whether the approval still holds, and whether it was for one more.
2. A sprint is a feature: its Shaper plans it, its plan is reviewed, its beads are ordinary beads. The yes to the
   sprints signs and approves a plan that stays within it; a person approves any other.
3. What a person does, or what passes by itself, is waited for: a question, a limit, a cap, a pause is not a step.
4. What cannot be waited for ends the run in words: a person's new yes continues from there.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from ..agents.limits import Caps
from ..beads.model import CLOSED, Status
from ..checks.contract import Check
from ..checks.policy.boundaries import SPRINT_DOCUMENTS
from ..globs import matches
from ..records import frozen
from ..text.cleaning import count
from . import model
from .model import PATHS, Box, Document, DocumentsSprint, RunState, Sprint, SprintRun, Stage

TRIES = 4
"""Attempts at documents that did not pass."""


@frozen
class Plan:
    """The plan of the sprint's feature. `is_ready`: its reviews are over, and it waits to be signed off; `is_given_up`:
    the feature was rolled back; `beyond`: beads of it that the approval does not cover."""

    is_ready: bool = False
    is_signed: bool = False
    is_live: bool = False
    is_given_up: bool = False
    beyond: tuple[str, ...] = ()


@frozen
class Work:
    """A bead of the sprint. `is_back`: it did not pass and no other fixes it; `tries`: times handed in."""

    status: Status
    is_back: bool = False
    tries: int = 0


@frozen
class Facts:
    """What is known. `open`: success criteria that are not met, of `criteria`; `claimed`: those of them that agents say
    are met; `findings`: those of whats-next; `is_taken`: another feature is in planning; `spent`: why approval is used
    up, by its budget or its end date."""

    run: SprintRun
    sprint: Sprint | None
    done: int = 0
    last: int = 0
    changed: tuple[str, ...] = ()
    spent: str = ""
    is_taken: bool = False
    plan: Plan | None = None
    opening: Work | None = None
    work: Work | None = None
    closing: Work | None = None
    criteria: int = 0
    open: int = 0
    claimed: int = 0
    findings: int = 0


@frozen
class Begin:
    """Begin the feature that is the sprint of this number."""

    number: int


@frozen
class Sign:
    """Sign the plan off, under the approval of the sprints."""

    sprint: int


@frozen
class Approve:
    """Make the signed plan live, under the approval of the sprints."""

    sprint: int


@frozen
class Move:
    """Move the sprint to this stage."""

    sprint: int
    to: Stage


@frozen
class Place:
    """Make this stage's documents and hand them in."""

    sprint: int
    stage: Stage


@frozen
class Stop:
    """Set the run to this state, and why."""

    run: int
    state: RunState
    why: str


Step = Begin | Sign | Approve | Move | Place | Stop


def next_step(facts: Facts) -> Step | None:
    """The next step; None: wait for an event."""
    if facts.run.state is RunState.CLAIMED and facts.open:
        return None
    if facts.run.state not in (RunState.GOING, RunState.CLAIMED):
        return None
    if facts.sprint is None:
        return _between(facts)
    return _BY_STAGE[facts.sprint.stage](facts, facts.sprint)


def _between(facts: Facts) -> Step | None:
    if facts.done and facts.criteria > 0 and not facts.open and not facts.findings:
        return Stop(facts.run.id, RunState.COMPLETE, f"every success criterion is met ({facts.criteria})")
    if facts.done >= facts.run.asked:
        left = f"{facts.open} of {facts.criteria} success criteria are open"
        if facts.findings:
            left += f", and whats-next has {count(facts.findings, 'finding')}"
        done = f"{count(facts.done, 'sprint is', 'sprints are')} done; {left}"
        if facts.claimed:
            claims = f"{done}; agents claim that {facts.claimed} are met: tick the true claims in {BRIEF} and commit"
            return Stop(facts.run.id, RunState.CLAIMED, claims)
        return Stop(facts.run.id, RunState.OVER, done)
    return _lapsed(facts) or _begin(facts, facts.last + 1)


def _begin(facts: Facts, number: int) -> Step | None:
    return None if facts.is_taken else Begin(number)


def _lapsed(facts: Facts) -> Stop | None:
    """Why the approval no longer applies; None: it does."""
    if facts.changed:
        why = f"the {' and '.join(facts.changed)} changed since the approval"
    elif facts.spent:
        why = facts.spent
    else:
        return None
    left = facts.run.asked - facts.done
    sprints = count(facts.run.asked, "sprint is", "sprints are")
    return Stop(facts.run.id, RunState.WAITS, f"{why}; {left} of {sprints} left")


def _planned(facts: Facts, sprint: Sprint, live: Step | None, signed: Step) -> Step | None:
    """What a plan needs that is made or changed: it is signed off within the approval, else a person signs it off."""
    if (plan := facts.plan) is None or plan.is_live:
        return live
    if plan.is_given_up:
        return _stopped(facts, f"feature {sprint.bead} of sprint {sprint.number} was rolled back")
    if not (plan.is_signed or plan.is_ready):
        return None
    if lapsed := _lapsed(facts):
        return lapsed
    if plan.is_signed:
        return signed
    return None if plan.beyond else Sign(sprint.number)


def _planning(facts: Facts, sprint: Sprint) -> Step | None:
    if facts.work is None:
        return _lapsed(facts) or _begin(facts, sprint.number)
    if facts.work.status is Status.CANCELLED:
        return _stopped(facts, f"feature {sprint.bead} of sprint {sprint.number} was cancelled")
    after = Move(sprint.number, Stage.OPENING)
    return _planned(facts, sprint, after, after)


def _documents(facts: Facts, sprint: Sprint, work: Work | None, after: Stage) -> Step | None:
    if work is None:
        return Place(sprint.number, sprint.stage)
    if work.status is Status.DONE:
        return Move(sprint.number, after)
    if work.status in CLOSED:
        return _stopped(facts, f"the bead that writes sprint {sprint.number}'s documents was cancelled")
    if work.is_back:
        if work.tries < TRIES:
            return Place(sprint.number, sprint.stage)
        return _stopped(facts, f"the documents of sprint {sprint.number} failed the review {TRIES} times")
    return None


def _opening(facts: Facts, sprint: Sprint) -> Step | None:
    if facts.work is None:
        return _planning(facts, sprint)
    return _documents(facts, sprint, facts.opening, Stage.EXECUTING)


def _executing(facts: Facts, sprint: Sprint) -> Step | None:
    if facts.work is None:
        return _planning(facts, sprint)
    if facts.work.status is Status.DONE:
        return Move(sprint.number, Stage.CLOSING)
    if facts.work.status in CLOSED:
        return _stopped(facts, f"{sprint.bead} of sprint {sprint.number} was cancelled")
    return _planned(facts, sprint, None, Approve(sprint.number))


def _stopped(facts: Facts, why: str) -> Stop:
    return Stop(facts.run.id, RunState.WAITS, why)


_BY_STAGE: Mapping[Stage, Callable[[Facts, Sprint], Step | None]] = {
    Stage.PLANNING: _planning,
    Stage.OPENING: _opening,
    Stage.EXECUTING: _executing,
    Stage.CLOSING: lambda facts, sprint: _documents(facts, sprint, facts.closing, Stage.DONE),
    Stage.DONE: lambda facts, sprint: _between(facts),
}


# What an approval covers. A bead of a plan names its roadmap item by a label: `item:ID` completes it together
# with the others that name it, `part-of:ID` does not complete it. Without items, the brief alone is the limit.
ITEM, PART_OF, OUTSIDE = "item:", "part-of:", "outside"


def served(labels: Iterable[str]) -> dict[str, bool]:
    """The roadmap items that a bead serves, each with whether it completes it."""
    found = {label[len(ITEM) :]: True for label in labels if label.startswith(ITEM)}
    return found | {label[len(PART_OF) :]: False for label in labels if label.startswith(PART_OF)}


def labels(items: Iterable[str]) -> list[str]:
    """The labels of which each bead of a plan needs one; no items: none is needed."""
    found = [f"{word}{item}" for item in items for word in (ITEM, PART_OF)]
    return [*found, OUTSIDE] if found else []


def beyond(items: Collection[str], beads: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The beads of a plan (as plan files have them) that serve no item of these; no items: none is beyond."""
    if not items:
        return ()
    labels = {str(one["id"]): one.get("labels", ()) for one in beads if one.get("type") != "epic"}
    return tuple(id for id, own in labels.items() if not served(own).keys() & set(items))


# What does not fit together in a project. A task's artifacts are the paths that it names in backticks; one that names
# none is told by its box. A task that is done differs from the tree at the sprint's beginning: in an artifact or, with
# a ticked box, in anything but documents. What a review lists as not done is told already. A commit that was reverted
# says nothing, until that was reverted too. Decisions are the headings of the highest level below the first; those
# below them belong to one, unless they begin with a decision's number. The last sprint was planned with those from
# before it.
class Contradiction(StrEnum):
    """Kinds, by what must be done."""

    TASKS_LEFT = "tasks_left"
    DECISION_NOT_IN_PLAN = "decision_not_in_plan"
    ROADMAP_BEHIND = "roadmap_behind"
    REVIEW_MISSING = "review_missing"
    NOT_COMPLETE = "not_complete"


@frozen
class Finding:
    """A contradiction: its place and description."""

    kind: Contradiction
    where: str
    text: str
    items: tuple[str, ...] = ()


Left = Mapping[str, tuple[int, list[str]]]
"""By a sprint's folder: the number of its tasks, and those that are neither done nor reported as not done."""
Began = Callable[[str], tuple[frozenset[str], str] | None]
"""By a sprint's folder: the paths that changed since its beginning, and DECISIONS.md of then; None: unknown."""
_PATH = re.compile(r"`([^`\s]+)`")
_WHATS_NEXT_DONE = re.compile(r"\b(?:done|finish(?:e[sd])?|complete[sd]?|close[sd]?)\b", re.IGNORECASE)
_NOT = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)(?:\s+(?:be|been|get|quite|fully|really|yet))*\s+\Z", re.IGNORECASE
)
_REVERT = re.compile(r'Revert "(.+)"\Z')
_REAPPLY = re.compile(r'Reapply "(.+)"\Z')
"""git's subject for the revert of a revert."""
_ID = re.compile(r"\b((?:D|ADR|DEC)-?\d+)\b")
_HEAD = re.compile(r"(#{2,4}\s+|[-*+]\s+)(.*\S)")
_DATE = re.compile(r"\A[\W_]*\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?[\W_]*")


def whats_next(
    files: Mapping[str, str], subjects: Sequence[str], exists: Callable[[str], bool], began: Began = lambda sprint: None
) -> list[Finding]:
    """All contradictions, by kind and place. `files`: path -> text; `subjects`: newest first; `exists`: an artifact."""
    sprints = model.sprints(files)
    status = model.status(files.get("task.md", ""))
    left = {one.name: _left(one, exists, began, one is sprints[-1]) for one in sprints}
    found = [*_tasks(left), *_decisions(files.get("DECISIONS.md", ""), sprints, began)]
    found += _roadmap(files.get(model.ROADMAP, ""), subjects)
    found += _reviews(sprints, status, left)
    return found + _complete(files.get("CLAUDE.md", ""), status)


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _has(task: Box, exists: Callable[[str], bool], changed: Iterable[str] | None) -> bool:
    paths = [path for path in _PATH.findall(task.text) if "/" in path or "." in path.strip(".")]
    is_there = all(map(exists, paths)) if paths else task.is_checked
    if changed is None or not is_there:
        return is_there
    own = tuple(f"{path.removeprefix('./').rstrip('/')}/" for path in paths)
    return any(f"{one}/".startswith(own) or (task.is_checked and not matches(one, NO_WORK)) for one in changed)


def _left(sprint: DocumentsSprint, exists: Callable[[str], bool], began: Began, is_last: bool) -> tuple[int, list[str]]:
    tasks = model.tasks(sprint.plan or "")
    then = began(sprint.name) if is_last or not all(one.is_checked for one in tasks) else None
    rows = model.section(sprint.review or "", "Not done", "What was not done", "Not finished")
    told = f" {words(' '.join(line for _, line in rows))} "
    left = [task.text for task in tasks if not _has(task, exists, then and then[0])]
    return len(tasks), [text for text in left if words(text) and f" {words(text)} " not in told]


def _tasks(by_sprint: Left) -> list[Finding]:
    found = []
    for name, (total, left) in by_sprint.items():
        if left:
            planned = count(total, "task is planned", "tasks are planned")
            text = f"{planned}, but the files of {len(left)} do not exist or did not change"
            found.append(Finding(Contradiction.TASKS_LEFT, f"{model.SPRINTS}/{name}/plan.md", text, tuple(left)))
    return found


def _decisions(text: str, sprints: Sequence[DocumentsSprint], began: Began) -> list[Finding]:
    then = began(sprints[-1].name) if text and sprints else None
    before = _titles(then[1]) if then else ()
    plans = "\n".join(sprint.plan or "" for sprint in sprints)
    known, ids = f" {words(plans)} ", set(_ID.findall(plans))
    missing = []
    for title in (one for one in _titles(text) if one not in before):
        own = _ID.findall(title)
        plain = words(_DATE.sub("", _ID.sub("", title)))
        if not (ids.intersection(own) or (plain and f" {plain} " in known)):
            missing.append(title)
    if not missing:
        return []
    what = f"{count(len(missing), 'decision')} that no plan mentions"
    return [Finding(Contradiction.DECISION_NOT_IN_PLAN, "DECISIONS.md", what, tuple(missing))]


def _titles(text: str) -> list[str]:
    rows = [found for _, line in model.lines(text) if (found := _HEAD.match(line))]
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
    open_ = [box for box in model.boxes(list(model.lines(text))) if not box.is_checked]
    behind = [box.text for box in open_ if (own := words(model.own_id(box.text) or box.text)) and _named(own, done)]
    what = "commits say that these items are done, but the roadmap shows them as open"
    return [Finding(Contradiction.ROADMAP_BEHIND, model.ROADMAP, what, tuple(behind))] if behind else []


def _named(own: str, done: Iterable[str]) -> bool:
    return any(f" {own} " in one for one in done)


def _said_done(subject: str) -> str:
    """What a commit subject calls done: from the first such word up to a negation."""
    begin = None
    for found in _WHATS_NEXT_DONE.finditer(subject):
        is_not = _NOT.search(subject[: found.start()]) is not None
        if is_not and begin is not None:
            return subject[begin : found.start()]
        if not is_not and begin is None:
            begin = found.end()
    return "" if begin is None else subject[begin:]


def _reviews(sprints: Sequence[DocumentsSprint], status: str, by_sprint: Left) -> list[Finding]:
    found = []
    for sprint in sprints:
        if sprint.review is not None and sprint.review.strip():
            continue
        count, left = by_sprint[sprint.name]
        why = ""
        if sprint is not sprints[-1]:
            why = f"sprint {sprints[-1].name} came later"
        elif status == "complete":
            why = "task.md says that the project is complete"
        elif count and not left:
            why = "all its tasks are done"
        if why:
            where = f"{model.SPRINTS}/{sprint.name}/review.md"
            found.append(Finding(Contradiction.REVIEW_MISSING, where, f"the sprint has no review, although {why}"))
    return found


def _complete(brief: str, status: str) -> list[Finding]:
    open_ = tuple(box.text for box in model.criteria(brief) if not box.is_checked)
    if status != "complete" or not open_:
        return []
    text = f"task.md says complete, but {count(len(open_), 'success criterion is', 'success criteria are')} not met"
    return [Finding(Contradiction.NOT_COMPLETE, "task.md", text, open_)]


# A project's documents as nobrakes writes them, from its records: a section that is kept is replaced, a list is
# appended to, a box is ticked. Nothing is unticked. What agents claim stands in a section of its own.
_OPEN = re.compile(rf"({model.ITEM}\[) (\]\s+)(.*\S)")
_NOT_DONE = ("Not done", "What was not done", "Not finished")


@frozen
class Task:
    """A bead of a sprint, as its documents have it. `said`: the last words of the agent, or why it was given up."""

    id: str
    title: str
    is_done: bool
    said: str = ""
    acceptance: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        return f"{_plain(self.title)} (bead {self.id})"


def plan(sprint: Sprint, goal: str, tasks: Sequence[Task]) -> str:
    """plan.md of a sprint: what is to be done, and what shows that it is."""
    text = f"# Sprint {sprint.number}: {sprint.name}\n\n## Goal\n\n{_lowered(goal.strip())}\n"
    text += f"\n## Tasks\n\n{_list(f'[ ] {one.line}' for one in tasks)}\n"
    shown = [_plain(each) for one in tasks for each in one.acceptance]
    return text + (f"\n## Criteria\n\n{_list(shown)}\n" if shown else "")


def plan_after(text: str, tasks: Sequence[Task], told: Iterable[Document]) -> str:
    """plan.md of a sprint that is over: done tasks are ticked, and decisions taken on the way are in it."""
    known = f" {words(text)} "
    if added := [f"[ ] {one.line}" for one in tasks if f" {words(one.line)} " not in known]:
        text = set_section(text, "Tasks added on the way", _list(added))
    found = ticked(text, frozenset(words(one.line) for one in tasks if one.is_done))
    decisions = [_title(one.text) for one in told if one.kind is model.Kind.DECISION]
    return set_section(found, "Decisions taken on the way", _list(decisions)) if decisions else found


def review(sprint: Sprint, tasks: Sequence[Task], told: Sequence[Document]) -> str:
    """review.md: what the records say; below it what agents handed in, as their claims."""
    done = [f"{one.line}: {_plain(one.said)}" if one.said else one.line for one in tasks if one.is_done]
    left = [f"{one.line}: {_plain(one.said)}" if one.said else one.line for one in tasks if not one.is_done]
    text = f"# Review of sprint {sprint.number}: {sprint.name}\n\n## Done\n\n{_list(done) or 'Nothing.'}\n"
    text += f"\n## Not done\n\n{_list(left)}\n" if left else ""
    for kind, heading in ((model.Kind.DECISION, "Decisions"), (model.Kind.DEVIATION, "Deviations")):
        if found := [_title(one.text) for one in told if one.kind is kind]:
            text += f"\n## {heading}\n\n{_list(found)}\n"
    for one in told:
        if one.kind is model.Kind.REVIEW:
            text += f"\n## What {_plain(one.actor)} reports\n\n{_lowered(one.text.strip())}\n"
    return text


def claims_of(text: str) -> frozenset[str]:
    """What a review says is done, as it is compared: its ticked boxes, and the items below `Done`."""
    not_done = {number for number, _ in model.section(text, *_NOT_DONE)}
    found = {words(box.text) for box in model.boxes(list(model.lines(text))) if box.is_checked}
    for number, line in model.section(text, "Done", "What was done"):
        item = re.sub(rf"\A{model.ITEM}(?:\[[ xX]\]\s+)?", "", line)
        if number not in not_done and "[ ]" not in line and words(item):
            found.add(words(item))
    return frozenset(one for one in found if one)


def items_done(roadmap: str, tasks: Sequence[Task]) -> frozenset[str]:
    """The roadmap's open items that these tasks complete, as they are compared."""
    wanted: dict[str, bool] = {}
    for one in tasks:
        for item, completes in served(one.labels).items():
            wanted[item] = wanted.get(item, True) and completes and one.is_done
    return frozenset(words(box.text) for box in model.items(roadmap) if wanted.get(model.item_id(box.text)))


_BY_CHECK = re.compile(r"(?<!\s)\s*+\(check:?\s++`?([^`)\s]+)`?\)\s*\Z", re.IGNORECASE)
"""At the end of a criterion: the check that proves it."""


def _claim(box: Box, done: frozenset[str]) -> bool:
    return not box.is_checked and bool({words(box.text), words(_BY_CHECK.sub("", box.text))} & done)


def met(criteria: Iterable[Box], done: frozenset[str], checks: Collection[str]) -> frozenset[str]:
    """The criteria that a sprint meets, normalised: an agent says so and a check of the project proves it, since
    nothing merges that fails a check. A person ticks those without a check."""
    proven = ((box, _BY_CHECK.search(box.text)) for box in criteria if _claim(box, done))
    return frozenset(words(box.text) for box, found in proven if found is not None and found[1] in checks)


def claimed(criteria: Iterable[Box], files: Mapping[str, str]) -> list[Box]:
    """The open criteria that a sprint's review says are met, which a person has to tick."""
    said = frozenset().union(*(claims_of(one.review or "") for one in model.sprints(files)))
    return [box for box in criteria if _claim(box, said)]


def ticked(text: str, done: frozenset[str]) -> str:
    """Tick the open boxes whose words are in `done`."""
    inside = {number for number, _ in model.lines(text)}
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        box = _OPEN.match(line)
        is_done = box is not None and number in inside and words(box[3]) in done
        out.append(f"{box[1]}x{box[2]}{box[3]}" if box is not None and is_done else line)
    return "\n".join(out) + "\n"


def unticked(text: str) -> str:
    """Without ticks, to compare two briefs."""
    return re.sub(rf"(?m)^({model.ITEM})\[[xX]\]", r"\1[ ]", text)


def task(text: str, status: str, sprint: str, state: str, progress: Sequence[tuple[bool, str]], when: str) -> str:
    """The current task.md: `state` in words, `progress`: boxes of sprints; adds a line to its history."""
    found = text or "# Task\n\n## History\n"
    for name, value in (("Status", status), ("Current Sprint", sprint), ("Updated", when)):
        found = _field(found, name, value)
    found = set_section(found, "Current State", state)
    boxes = [f"[{'x' if is_done else ' '}] {name}" for is_done, name in progress]
    found = set_section(found, "Sprint Progress", _list(boxes) or "None yet.")
    found = set_section(found, "Blockers", "None")
    line = f"{when} — {' '.join(state.split())}"
    before = "\n".join(row for _, row in model.section(found, "History")).strip()
    return found if line in before else set_section(found, "History", f"{before}\n- {line}".strip())


def appended(texts: Mapping[str, str], told: Iterable[Document], sprint: Sprint, when: str) -> dict[str, str]:
    """DECISIONS.md, DEVIATIONS.md and WISHLIST.md with this sprint's documents added; only those that change."""
    found: dict[str, str] = {}
    for one in told:
        if (path := PATHS.get(one.kind)) is None:
            continue
        before = found.get(path, texts.get(path, "")) or f"# {path.removesuffix('.md').capitalize()}\n"
        title, _, body = one.text.strip().partition("\n")
        entry = f"## {_plain(title)}\n\n{when}, sprint {sprint.title}, {one.actor}\n"
        entry += f"\n{_lowered(body.strip())}\n" if body.strip() else ""
        if entry not in before:
            found[path] = f"{before.rstrip()}\n\n{entry}"
    return found


def _title(text: str) -> str:
    return _plain(text.strip().partition("\n")[0])


def _plain(title: str) -> str:
    return " ".join(title.split()).lstrip("#-*+ ")[:200] or "(without a title)"


def _lowered(body: str) -> str:
    """Lower headings below the entry's own, where each heading would be a decision of its own."""
    return re.sub(r"(?m)^#{1,3}(?=\s)", "####", body)


def set_section(text: str, title: str, body: str) -> str:
    """Replace the body of the first section with this title, or append the section."""
    start, end = model.bounds(text, title)
    if not start:
        return f"{text.rstrip()}\n\n## {title}\n\n{body.strip()}\n"
    rows = text.splitlines()
    after = rows[end - 1 :]
    return "\n".join([*rows[:start], "", body.strip(), *(["", *after] if after else [])]) + "\n"


def _field(text: str, name: str, value: str) -> str:
    made = re.compile(rf"(?mi)^(\s*(?:[-*+]\s+)?)\*\*{re.escape(name)}:?\*\*:?.*$")
    line = f"**{name}:** {value}"
    if made.search(text):
        return made.sub(lambda found: f"{found[1]}{line}", text, count=1)
    head, _, rest = text.partition("\n")
    return f"{head}\n\n{line}\n{rest}"


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {one}" for one in items)


# What an approval of sprints was given for, as digests. A box that was ticked is no other brief and no other roadmap.
BRIEF = "CLAUDE.md"
COPIES = (BRIEF, "AGENTS.md")
"""The brief, and its copy for agents that read another name."""
NO_WORK = (*COPIES, *SPRINT_DOCUMENTS, ".nobrakes/**")
"""No work of a sprint changes only these."""


def terms(brief: str, roadmap: str, contract: Sequence[Check], caps: Caps) -> dict[str, str]:
    checks = json.dumps([asdict(check) for check in contract], sort_keys=True)
    return {
        "brief": _digest(unticked(brief).strip()),
        "roadmap": _digest(unticked(roadmap).strip()),
        "checks": _digest(checks),
        "caps": _digest(json.dumps(asdict(caps), sort_keys=True)),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
