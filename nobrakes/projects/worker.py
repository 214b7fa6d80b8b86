"""The sprints' part of each turn of the daemon's loop: look, decide, do. It keeps nothing that a new one would miss.

Each step is one transaction, or can be done again: a daemon that is killed in the middle goes on with the same step.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import US
from ..agents import limits
from ..agents.quoting import cut
from ..beads import lifecycle
from ..beads.model import WAITING_FOR_AGENT, Bead, BeadType, Role, Status, is_handed_back
from ..beads.proposals import ByHand, is_built
from ..checks.policy.boundaries import SPRINT, SPRINT_DOCUMENTS
from ..daemon.model import Board
from ..daemon.service.control import quarantined
from ..decisions.model import EscalationType
from ..errors import FileTooLarge, NoSuchFeature, NotAllowed
from ..features import model as features
from ..git.port import Message
from ..host.command import named_zone
from ..ports import Ports
from ..records import plain
from ..text.cleaning import clean, cost_text, spoken
from . import model, sprints
from .model import Going, Kind, RunState, Schedule, Sprint, Stage, changed
from .sprints import BRIEF, ITEM, OUTSIDE, PART_OF, Finding

if TYPE_CHECKING:
    from ..store import Store


DOCUMENTS = (*sprints.COPIES, *(name for name in SPRINT_DOCUMENTS if name.endswith(".md")))
MAX_SPRINTS, MAX_COMMITS = 500, 1000


class MainFiles:
    """The documents of one commit."""

    def __init__(self, ports: Ports) -> None:
        self.git, self.root = ports.git, ports.paths.root
        self.commit = self.git.main()

    @cached_property
    def paths(self) -> frozenset[str]:
        return self.git.paths(self.commit)

    @cached_property
    def _folders(self) -> set[str]:
        return {path[: path.rfind("/")] for path in self.paths if "/" in path}

    def text(self, path: str) -> str:
        try:
            found = self.git.read(self.commit, path)
        except FileTooLarge:
            return ""
        return (found or b"").decode("utf-8", "replace")

    def documents(self) -> dict[str, str]:
        """All that there are."""
        of_sprints = (path for path in self.paths if path.startswith(f"{model.SPRINTS}/"))
        wanted = [path for path in of_sprints if path.endswith(("/plan.md", "/review.md"))][: 2 * MAX_SPRINTS]
        texts = ((path, self.text(path)) for path in (*DOCUMENTS, *sorted(wanted)))
        return {path: text for path, text in texts if text}

    def exists(self, path: str) -> bool:
        plain = path.removeprefix("./").rstrip("/")
        return plain in self.paths or any(one == plain or one.startswith(plain + "/") for one in self._folders)

    def findings(self, texts: Mapping[str, str]) -> list[sprints.Finding]:
        """The contradictions that whats-next lists."""
        from .service.sprint_approval import beginnings  # most daemons have no sprints

        subjects = [made.subject for made in self.git.line(self.commit)[:MAX_COMMITS]]
        began = beginnings(self.root, self.commit)
        return sprints.whats_next(texts, subjects, lambda path: path in texts or self.exists(path), began)


def facts(ports: Ports) -> tuple[Going, sprints.Facts] | None:
    """The last run and its facts; None: none is going."""
    if (going := ports.store.sprints_going()) is None or going.run.state not in (RunState.GOING, RunState.CLAIMED):
        return None
    return going, _between(ports, going) if going.sprint is None else _inside(ports, going, going.sprint)


def terms_now(ports: Ports, main: MainFiles) -> dict[str, str]:
    """What an approval would be given for now."""
    brief, roadmap = main.text(sprints.BRIEF), main.text(model.ROADMAP)
    return sprints.terms(brief, roadmap, ports.config().contract(), ports.limits().caps)


def _lapsed(ports: Ports, going: Going, main: MainFiles) -> tuple[tuple[str, ...], str]:
    """What changed since the approval, and why it is used up."""
    terms, now = going.run.terms, ports.store.now()
    other = changed(terms, terms_now(ports, main))
    usd, until = float(terms.get(model.USD) or 0.0), terms.get(model.UNTIL, "")
    if usd and (cost := ports.store.sprints_cost(going.run.id)).usd + cost.estimated >= usd:
        return other, f"you approved ${usd:.2f}, but the sprints have cost {cost_text(plain(cost))}"
    if until and datetime.fromtimestamp(now, ports.zone()).date().isoformat() > until:
        return other, f"the approval ended on {until}"
    return other, ""


def _inside(ports: Ports, going: Going, sprint: Sprint) -> sprints.Facts:
    store, feature = ports.store, feature_of(ports.store, sprint)
    plan = None if feature is None else plan_of(store, going, feature)
    other: tuple[str, ...] = ()
    spent = ""
    if sprint.bead is None or (plan is not None and not plan.is_live and (plan.is_ready or plan.is_signed)):
        other, spent = _lapsed(ports, going, MainFiles(ports))
    return sprints.Facts(
        going.run,
        sprint,
        going.done,
        going.last,
        changed=other,
        spent=spent,
        is_taken=sprint.bead is None and any(one.has_turn for one in store.features()),
        plan=plan,
        opening=_work(going, store, sprint.opening) if sprint.stage is Stage.OPENING else None,
        work=_work(going, store, sprint.bead),
        closing=_work(going, store, sprint.closing) if sprint.stage is Stage.CLOSING else None,
    )


def _between(ports: Ports, going: Going) -> sprints.Facts:
    main = MainFiles(ports)
    texts = main.documents()
    boxes = model.criteria(texts.get(sprints.BRIEF, ""))
    last = max((one.number for one in model.sprints(texts)), default=0)
    other, spent = _lapsed(ports, going, main)
    return sprints.Facts(
        going.run,
        None,
        going.done,
        max(going.last, last),
        changed=other,
        spent=spent,
        is_taken=any(one.has_turn for one in ports.store.features()),
        criteria=len(boxes),
        open=sum(not box.is_checked for box in boxes),
        claimed=len(sprints.claimed(boxes, texts)),
        findings=len(main.findings(texts)) if going.done else 0,
    )


def feature_of(store: "Store", sprint: Sprint) -> features.Feature | None:
    """The feature that is the sprint; None: it is not begun, or the sprint began before a sprint was a feature."""
    try:
        return None if sprint.bead is None else store.feature(sprint.bead)
    except NoSuchFeature:
        return None


def plan_of(store: "Store", going: Going, feature: features.Feature) -> sprints.Plan:
    """How far the plan of the sprint's feature is, and what of it the approval does not cover."""
    if feature.state is features.State.ROLLED_BACK or features.ROLLBACK in feature.data:
        return sprints.Plan(is_given_up=True)
    if feature.stage not in features.PLANNED:
        return sprints.Plan(is_live=True)
    from ..features.reviewed_plan import is_unchanged

    version = store.plan_version(feature.id)
    if version is None or feature.stage is not features.Stage.REVIEW or not is_unchanged(store, feature):
        return sprints.Plan()
    is_signed = (feature.data.get(features.SIGNED) or {}).get("version") == feature.plan
    is_ready = feature.is_sign_off_asked and not is_signed
    return sprints.Plan(is_ready, is_signed, beyond=sprints.beyond(going.run.items, version.beads))


def _work(going: Going, store: "Store", id_: str | None) -> sprints.Work | None:
    if id_ is None:
        return None
    bead = store.bead(id_)
    if bead.status in (Status.DONE, Status.CANCELLED):
        return sprints.Work(bead.status)
    attempts = store.attempts(id_)
    conflict = bead.status is Status.ESCALATED and any(
        one.type is EscalationType.CONFLICT for one in store.escalations(bead=id_)
    )
    back = bead.status in WAITING_FOR_AGENT and is_handed_back(bead.held)
    since = going.run.created_at  # a new yes is for so many tries again
    tries = sum(one.role is Role.PERSON and one.started_at >= since for one in attempts)
    return sprints.Work(bead.status, (back or conflict) and is_built(attempts), tries)


# The documents of a sprint's beginning and end are made from main as it is, outside a transaction, and handed in in
# one: a crash between the two makes them again. Where main has them already, nothing is handed in. The bead may change
# the brief's boxes and nothing else that is protected.
BY = "nobrakes"


def place(ports: Ports, going: Going, sprint: Sprint) -> bool:
    """Make the documents of the sprint's stage and hand them in."""
    store, main, opens = ports.store, MainFiles(ports), sprint.stage is Stage.OPENING
    make, known = (_opening, sprint.opening) if opens else (_closing, sprint.closing)
    made = make(ports, going, sprint, main, spoken(store.now()))
    name = known or free_id(ports, f"sprint-{sprint.number}-{'plan' if opens else 'review'}")
    fence = 1 if known is None else store.bead(name).fence + 1
    title = f"Documents of sprint {sprint.title}: its {'plan' if opens else 'review'}"
    message = Message(title, "", US, store.now())
    texts = {path: text.encode() for path, text in made.items()}
    if (commit := main.git.write_files(main.commit, texts, message, f"incoming/{name}/{fence}")) is None:
        after = Stage.EXECUTING if opens else Stage.DONE
        store.change_sprint(sprint.number, {"stage": after}, BY)
        return True
    with store.write():
        if known is None:
            store.put([lifecycle.live(_bead(name, title, sprint, made))], [], BY)
            store.change_sprint(sprint.number, {"opening" if opens else "closing": name}, BY)
        store.hand_in(ByHand(name, BY, fence, commit, main.commit, built=True))
    return True


def free_id(ports: Ports, wanted: str) -> str:
    """`wanted`, or with a number if a bead has it."""
    number, found = 1, wanted
    while ports.store.beads(ids=[found]):
        number += 1
        found = f"{wanted}-{number}"
    return found


def _bead(name: str, title: str, sprint: Sprint, made: dict[str, str]) -> Bead:
    told = f"nobrakes writes these files from its records and the agents' reports: {', '.join(sorted(made))}."
    return Bead(name, title, description=told, needs_tests=False, scaffolding=True, priority=1)


def _opening(ports: Ports, going: Going, sprint: Sprint, main: MainFiles, when: str) -> dict[str, str]:
    path = f"{sprint.folder}/plan.md"
    goal = model.objective(main.text(sprints.BRIEF)) or f"Sprint {sprint.number}."
    text = sprints.plan(sprint, goal, tasks_of(ports.store, sprint))
    state = f"Sprint {sprint.title} is executed per {path}."
    task = sprints.task(main.text("task.md"), "executing", sprint.title, state, _progress(ports, sprint, False), when)
    return {path: clean(text), "task.md": clean(task)}


def _closing(ports: Ports, going: Going, sprint: Sprint, main: MainFiles, when: str) -> dict[str, str]:
    own = tasks_of(ports.store, sprint)
    plan = main.text(f"{sprint.folder}/plan.md") or sprints.plan(sprint, "", own)
    review = sprints.review(sprint, own, going.documents)
    claims = sprints.claims_of(review)
    checks = {check.name for check in ports.config().contract()} - {one.check for one in quarantined(ports.store)}
    met = sprints.met(model.criteria(main.text(sprints.BRIEF)), claims, checks)
    after = main.documents()
    found = {
        f"{sprint.folder}/plan.md": sprints.plan_after(plan, own, going.documents),
        f"{sprint.folder}/review.md": review,
        **sprints.appended(after, going.documents, sprint, when),
    }
    done = sprints.items_done(after.get(model.ROADMAP, ""), own)
    for path, words in ((model.ROADMAP, done), *((path, met) for path in sprints.COPIES)):
        if path in after:
            found[path] = sprints.ticked(after[path], words)
    found = {path: clean(text) for path, text in found.items()}
    progress = _progress(ports, sprint, True)
    texts = {**after, **found}
    criteria = model.criteria(texts.get(sprints.BRIEF, ""))
    state = f"Sprint {sprint.title} is over: see {sprint.folder}/review.md."
    complete = sprints.task(
        texts.get("task.md", ""), "complete", "none", f"{state} All criteria are met.", progress, when
    )
    is_met = bool(criteria) and all(box.is_checked for box in criteria)
    if is_met and not main.findings({**texts, "task.md": complete}):
        return {**found, "task.md": clean(complete)}
    left = sum(not box.is_checked for box in criteria)
    state += f" {left} of {len(criteria)} success criteria are open."
    if claimed := sprints.claimed(criteria, texts):
        state += f" Agents claim that {len(claimed)} are met; tick the true claims in {sprints.BRIEF}."
    task = sprints.task(texts.get("task.md", ""), "planning", "none", state, progress, when)
    return {**found, "task.md": clean(task)}


def tasks_of(store: "Store", sprint: Sprint) -> list[sprints.Task]:
    """The beads of the sprint, the order of their making kept."""
    if sprint.bead is None:
        return []
    from ..features.reviewed_plan import steps_under

    epic = store.bead(sprint.bead)
    beads = steps_under(store, epic.id) if epic.type is BeadType.EPIC else [epic]
    return [_task(store, bead) for bead in beads]


def _task(store: "Store", bead: Bead) -> sprints.Task:
    is_done = bead.status is Status.DONE
    said = "" if is_done else bead.close_reason
    if is_done:
        said = next((one.log.summary for one in reversed(store.attempts(bead.id)) if one.log.summary.strip()), "")
    return sprints.Task(bead.id, bead.title, is_done, said.strip(), tuple(bead.acceptance), tuple(bead.labels))


def _progress(ports: Ports, sprint: Sprint, is_done: bool) -> list[tuple[bool, str]]:
    rows = [(one.stage is Stage.DONE, one.title) for one in ports.store.sprints() if one.number != sprint.number]
    return [*rows, (is_done, sprint.title)]


class Scheduling:
    """Begins sprints at their times."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._wakes: list[float] = []

    def turn(self, board: Board) -> bool:
        """Handle what is due; returns whether anything began or was reported."""
        is_changed = False
        self._wakes = []
        for one in self.ports.store.schedules():
            zone = named_zone(one.zone) or self.ports.zone()  # its file may be gone since a person named it
            hindered = bool(board.paused or board.stopping or board.frozen)
            hindered |= bool(limits.reached(board.limits.caps, board.spent, board.now))
            is_due = model.comes(one, zone, board.now, hindered, "") is not None
            due = model.comes(one, zone, board.now, hindered, self._refused(one)) if is_due else None
            if due is not None:
                try:
                    is_changed |= self.ports.store.record_due(due)
                except NotAllowed:  # a person was quicker by a moment: the next look says so
                    continue
            self._wakes += model.wakes(one, zone, board.now)
        return is_changed

    def _refused(self, one: Schedule) -> str:
        if (going := self.ports.store.sprints_going()) is not None and going.run.state is RunState.GOING:
            return "sprints are already running"
        main = MainFiles(self.ports)
        brief = main.text(sprints.BRIEF)
        if others := changed(one.terms, terms_now(self.ports, main)):
            again = f"nobrakes project schedule {self.ports.paths.root.rpartition('/')[2]}"
            return f"the {' and '.join(others)} changed since your approval. Approve again: `{again}`"
        if (boxes := model.criteria(brief)) and all(box.is_checked for box in boxes):
            return "every success criterion is already met"
        return ""

    def wake_at(self, now: float) -> list[float]:
        return [at for at in self._wakes if at > now]


MAX_STEPS = 10
"""In one turn."""


class Sprints:
    """Brings the repository's sprints on."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.scheduling = Scheduling(ports)
        self.methods: dict[type, Callable[[Going, Any], bool]] = {
            sprints.Begin: self._begin,
            sprints.Sign: self._sign,
            sprints.Approve: self._approve,
            sprints.Move: self._move,
            sprints.Place: self._place,
            sprints.Stop: self._stop,
        }

    def turn(self, board: Board) -> bool:
        """Do the next steps; returns whether anything changed. Does nothing while nothing may start."""
        changed = self.scheduling.turn(board)
        if board.paused or board.stopping or board.frozen:
            return changed
        for _ in range(MAX_STEPS):
            seen = facts(self.ports)
            step = None if seen is None else sprints.next_step(seen[1])
            if seen is None or step is None or not self.methods[type(step)](seen[0], step):
                return changed
            changed = True
        return changed

    def covers(self, feature: features.Feature) -> bool:
        """Whether an approval of sprints covers this feature's current plan, so that no person has to sign it."""
        going = self.ports.store.sprints_going()
        if going is None or going.run.state is not RunState.GOING or going.sprint is None:
            return False
        if going.sprint.bead != feature.id or plan_of(self.ports.store, going, feature).beyond:
            return False
        return not any(_lapsed(self.ports, going, MainFiles(self.ports)))

    def wake_at(self, now: float) -> list[float]:
        return self.scheduling.wake_at(now)

    def _begin(self, going: Going, step: sprints.Begin) -> bool:
        ports, store, before = self.ports, self.ports.store, going.sprint
        main = MainFiles(ports)
        texts = main.documents()
        items = going.run.items
        plan = next((one.text for one in reversed(going.documents) if one.kind is Kind.PLAN), "")
        description = _planner_prompt(step.number, texts, main.findings(texts), items, plan)
        told = {
            features.PERSONA: PLANNER,
            features.FIXED: None if going.run.needs_tests else {"needs_tests": False},
            features.LABELS: sprints.labels(items) or None,
        }
        with store.write():
            name = free_id(ports, f"sprint-{step.number}")
            title = f"Sprint {step.number}"
            begun = ports.words().begin(ports, title, description, CRITERION, going.run.actor, name)
            store.note_feature(begun.id, told, BY)
            store.change(begun.id, {"metadata": {**store.bead(begun.id).metadata, SPRINT: step.number}}, BY)
            if before is None:
                store.add_sprint(step.number, going.run.id, begun.id)
                return True
            store.change_sprint(before.number, {"stage": Stage.PLANNING, "bead": begun.id, "opening": None}, BY)
            if before.session is not None and store.session(before.session).ended_at is None:
                store.end_session(before.session, BY)  # it planned the sprint before a sprint was a feature
        return True

    def _sign(self, going: Going, step: sprints.Sign) -> bool:
        self.ports.words().sign_off(self.ports, self._feature(going).id, going.run.actor)
        return True

    def _approve(self, going: Going, step: sprints.Approve) -> bool:
        self.ports.words().approve(self.ports, self._feature(going), going.run.actor)
        return True

    def _feature(self, going: Going) -> features.Feature:
        found = None if going.sprint is None else feature_of(self.ports.store, going.sprint)
        assert found is not None, "the sprint has a feature"
        return found

    def _move(self, going: Going, step: sprints.Move) -> bool:
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None, "there is a sprint"
        values: dict[str, Any] = {"stage": step.to}
        with store.write():
            if step.to is Stage.OPENING and not sprint.name and (own := tasks_of(store, sprint)):
                values["name"] = model.slug(own[0].title)
            moved = store.change_sprint(step.sprint, values, BY)
            if "name" in values and sprint.bead is not None:
                store.change_feature(sprint.bead, {"title": f"Sprint {moved.title}"}, BY)
        return True

    def _place(self, going: Going, step: sprints.Place) -> bool:
        assert going.sprint is not None, "there is a sprint"
        return place(self.ports, going, going.sprint)

    def _stop(self, going: Going, step: sprints.Stop) -> bool:
        return self.ports.store.set_run_state(step.run, step.state, step.why, BY)


# What the planner of a sprint is told first. Between sprints documents alone carry knowledge.
#
# 1. What is told of the project is on main, and is named by its path: the agent reads it there.
# 2. The plan is what a person said yes to in advance, inside the brief; what goes beyond it is asked.
PLANNER = "sprint_planner"
"""The file of its persona."""
CRITERION = "review: Each bead brings a success criterion or a roadmap item of the project closer"
"""What a sprint's plan is reviewed for, beside the criteria of its beads."""
MAX_PLAN = 6000
"""Characters of a plan that was made before, which the planner is given."""
MAX_FINDINGS, MAX_ITEMS = 30, 10
"""Findings of whats-next, and the items of one, that are told."""


def _planner_prompt(
    number: int, texts: Mapping[str, str], findings: Sequence[Finding], items: Sequence[str], plan: str = ""
) -> str:
    """This sprint planner's first prompt. `items`: the roadmap items that the approval is for; none: all. `plan`:
    one that was handed in for it before a sprint was a feature."""
    brief = texts.get(BRIEF, "")
    objective = model.objective(brief)
    boxes = [f"- [{'x' if one.is_checked else ' '}] {one.text}" for one in model.criteria(brief)]
    reviews = [one.name for one in model.sprints(texts) if one.review]
    wanted = [one for one in model.items(texts.get(model.ROADMAP, "")) if model.item_id(one.text) in items]
    parts = [
        f"Plan sprint {number} of this project. Read CLAUDE.md, task.md, docs/ROADMAP.md and docs/design/ first, "
        "as far as they are there.",
        f"Objective:\n{cut(clean(objective), 4000)}" if objective else "",
        "Success criteria of the project:\n" + cut(clean("\n".join(boxes)), 6000) if boxes else "",
        "You may plan work for these roadmap items. Each bead has the label of the item that it completes, or of the "
        f"item that it brings closer (`{PART_OF}…`). A bead that serves none has the label `{OUTSIDE}`, and then a "
        "person has to approve the plan:\n"
        + "\n".join(
            f"- `{ITEM}{model.item_id(one.text)}`{' (done)' if one.is_checked else ''}: {cut(clean(one.text), 300)}"
            for one in wanted
        )
        if wanted
        else "",
        f"The last sprint's review is {model.SPRINTS}/{reviews[-1]}/review.md: it feeds this plan." if reviews else "",
        "What does not fit together (whats-next):\n" + "\n".join(map(_finding, findings[:MAX_FINDINGS]))
        if findings
        else "",
        f"This plan was made for the sprint before. Make beads of it:\n{cut(clean(plan), MAX_PLAN)}" if plan else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _finding(one: Finding) -> str:
    rows = [f"  - {cut(clean(item), 300)}" for item in one.items[:MAX_ITEMS]]
    more = [f"  - … {len(one.items) - MAX_ITEMS} more"] if len(one.items) > MAX_ITEMS else []
    return "\n".join([f"- {clean(one.where)}: {clean(one.text)}", *rows, *more])
