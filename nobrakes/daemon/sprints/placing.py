"""The documents of a sprint's beginning and of its end, made of records and of what was handed in, and handed in.

1. They are made from main as it is, outside a transaction, and handed in in one: a crash between the two makes them
   again, and what did not pass is made anew on the main of then.
2. Where main has them already, nothing is handed in: the sprint goes on.
3. The bead may change the brief's boxes and nothing else that is protected: what it changes is written here.
"""

from dataclasses import dataclass

from ...core.beads import lifecycle
from ...core.beads.bead import Bead
from ...core.projects import documents, placing
from ...core.projects.sprint import Going, Kind, Sprint, Stage
from ...core.projects.terms import BRIEF, COPIES
from ...core.text.cleaning import clean
from ...ports.git import Message
from ...ports.reviews import ByHand
from ...wording.times import spoken
from ..ports import Ports
from ..review.messages import US
from .main_files import MainFiles

BY = "nobrakes"


@dataclass(frozen=True, slots=True)
class _Stage:
    field: str
    suffix: str
    title: str


_STAGES = {
    Stage.OPENING: _Stage("opening", "plan", "its plan"),
    Stage.CLOSING: _Stage("closing", "review", "its review"),
}


def place(ports: Ports, going: Going, sprint: Sprint) -> bool:
    """Make the documents of the sprint's stage, and hand them in."""
    store, git, how = ports.store, ports.git, _STAGES[sprint.stage]
    main = git.main()
    made = files(ports, going, sprint, MainFiles(git, main))
    known = getattr(sprint, how.field)
    name = known or free_id(ports, f"sprint-{sprint.number}-{how.suffix}")
    fence = 1 if known is None else store.bead(name).fence + 1
    title = f"Documents of sprint {sprint.title}: {how.title}"
    message = Message(title, "", US, store.now())
    kept = f"incoming/{name}/{fence}"
    commit = git.write_files(main, {path: text.encode() for path, text in made.items()}, message, kept)
    if commit is None:
        after = Stage.EXECUTING if sprint.stage is Stage.OPENING else Stage.DONE
        store.change_sprint(sprint.number, {"stage": after}, BY)
        return True
    with store.together():
        if known is None:
            store.put([lifecycle.live(_bead(name, title, sprint, made))], [], BY)
            store.change_sprint(sprint.number, {how.field: name}, BY)
        store.hand_in(ByHand(name, BY, fence, commit, main, built=True))
    return True


def free_id(ports: Ports, wanted: str) -> str:
    """An id that no bead has: this one, or one like it."""
    number, found = 1, wanted
    while ports.store.beads(ids=[found]):
        number += 1
        found = f"{wanted}-{number}"
    return found


def _bead(name: str, title: str, sprint: Sprint, made: dict[str, str]) -> Bead:
    told = f"nobrakes writes these from its records and from what agents handed in: {', '.join(sorted(made))}."
    return Bead(name, title, description=told, needs_tests=False, scaffolding=True, priority=1)


def files(ports: Ports, going: Going, sprint: Sprint, main: MainFiles) -> dict[str, str]:
    """The documents of the sprint's stage, path -> text."""
    when = spoken(ports.store.now())
    if sprint.stage is Stage.OPENING:
        return _opening(ports, going, sprint, main, when)
    return _closing(ports, going, sprint, main, when)


def _opening(ports: Ports, going: Going, sprint: Sprint, main: MainFiles, when: str) -> dict[str, str]:
    path = f"{sprint.folder}/plan.md"
    text = placing.plan(sprint, handed_in(going, Kind.PLAN))
    state = f"Sprint {sprint.title} is executed per {path}."
    task = placing.task(main.text("task.md"), "executing", sprint.title, state, _progress(ports, sprint, False), when)
    return {path: clean(text), "task.md": clean(task)}


def _closing(ports: Ports, going: Going, sprint: Sprint, main: MainFiles, when: str) -> dict[str, str]:
    plan = main.text(f"{sprint.folder}/plan.md") or placing.plan(sprint, handed_in(going, Kind.PLAN))
    tasks = [box.text for box in documents.tasks(plan) if not box.is_checked]
    review = placing.review(sprint, handed_in(going, Kind.REVIEW), _told(ports, sprint), tasks)
    done = placing.done_of(review)
    after = main.documents()
    found = {
        f"{sprint.folder}/plan.md": placing.plan_after(plan, done, placing.titles(going.documents)),
        f"{sprint.folder}/review.md": review,
        **placing.appended(after, going.documents, sprint, when),
    }
    for path in (documents.ROADMAP, *COPIES):
        if path in after:
            found[path] = placing.ticked(after[path], done)
    found = {path: clean(text) for path, text in found.items()}
    progress = _progress(ports, sprint, True)
    texts = {**after, **found}
    criteria = documents.criteria(texts.get(BRIEF, ""))
    state = f"Sprint {sprint.title} is over: see {sprint.folder}/review.md."
    complete = placing.task(
        texts.get("task.md", ""), "complete", "none", f"{state} All criteria are met.", progress, when
    )
    is_met = bool(criteria) and all(box.is_checked for box in criteria)
    if is_met and not main.findings({**texts, "task.md": complete}):
        return {**found, "task.md": clean(complete)}
    left = sum(not box.is_checked for box in criteria)
    state += f" {left} of {len(criteria)} success criteria are open."
    task = placing.task(texts.get("task.md", ""), "planning", "none", state, progress, when)
    return {**found, "task.md": clean(task)}


def handed_in(going: Going, kind: Kind) -> str:
    """The last of this kind that was handed in; empty: none."""
    return next((one.text for one in reversed(going.documents) if one.kind is kind), "")


def _told(ports: Ports, sprint: Sprint) -> str:
    """The last words of who did the sprint's bead."""
    attempts = [] if sprint.bead is None else ports.store.attempts(sprint.bead)
    return next((one.log.summary.strip() for one in reversed(attempts) if one.log.summary.strip()), "")


def _progress(ports: Ports, sprint: Sprint, is_done: bool) -> list[tuple[bool, str]]:
    rows = [(one.stage is Stage.DONE, one.title) for one in ports.store.sprints() if one.number != sprint.number]
    return [*rows, (is_done, sprint.title)]
