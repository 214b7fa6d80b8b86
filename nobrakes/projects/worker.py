"""The sprints' part of each turn of the daemon's loop: look, decide, do. It keeps nothing that a new one would miss.

Each step is one transaction, or can be done again: a daemon that is killed in the middle goes on with the same step.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..agents import limits
from ..beads import lifecycle
from ..beads.model import WAITING_FOR_AGENT, Bead, Role, Status, is_handed_back, person_owner
from ..beads.proposals import ByHand, is_built
from ..checks.policy.boundaries import SPRINT, SPRINT_DOCUMENTS
from ..daemon.model import Board
from ..daemon.service.control import quarantined
from ..decisions.model import EscalationType
from ..errors import FileTooLarge, NobrakesError, NotAllowed
from ..git.port import Git, Message
from ..host.command import named_zone
from ..ports import Ports
from ..records import frozen
from ..review.evidence import PERSON
from ..sessions.model import SessionKind, State
from ..text.cleaning import clean, count
from ..text.times import spoken
from . import model, prompts, sprints
from .model import Going, Kind, RunState, Schedule, Sprint, Stage, changed, require

if TYPE_CHECKING:
    from ..store import Store


DOCUMENTS = (*sprints.COPIES, *(name for name in SPRINT_DOCUMENTS if name.endswith(".md")))
MAX_SPRINTS, MAX_COMMITS = 500, 1000


class MainFiles:
    """The documents of one commit."""

    def __init__(self, git: Git, commit: str) -> None:
        self.git, self.commit = git, commit

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
        subjects = [made.subject for made in self.git.line(self.commit)[:MAX_COMMITS]]
        return sprints.whats_next(texts, subjects, lambda path: path in texts or self.exists(path))


_BUSY = (State.READY, State.RUNNING, State.ASKING)


def facts(ports: Ports) -> tuple[Going, sprints.Facts] | None:
    """The last run and its facts; None: none is going."""
    going = ports.store.sprints_going()
    if going is None or going.run.state not in (RunState.GOING, RunState.CLAIMED):
        return None
    return going, _between(ports, going) if going.sprint is None else _inside(ports, going, going.sprint)


def terms_now(ports: Ports, brief: str) -> dict[str, str]:
    return sprints.terms(brief, ports.config().contract(), ports.limits().caps)


def _changed(ports: Ports, going: Going, main: MainFiles) -> tuple[str, ...]:
    return changed(going.run.terms, terms_now(ports, main.text(sprints.BRIEF)))


def _inside(ports: Ports, going: Going, sprint: Sprint) -> sprints.Facts:
    store, stage = ports.store, sprint.stage
    begins = stage is Stage.EXECUTING and sprint.bead is None
    return sprints.Facts(
        going.run,
        sprint,
        going.done,
        going.last,
        changed=_changed(ports, going, MainFiles(ports.git, ports.git.main())) if begins else (),
        has_plan=any(one.kind is Kind.PLAN for one in going.documents),
        planner=_planner(store, sprint.session) if stage is Stage.PLANNING else None,
        opening=_work(going, store, sprint.opening) if stage is Stage.OPENING else None,
        work=_work(going, store, sprint.bead) if stage is Stage.EXECUTING else None,
        closing=_work(going, store, sprint.closing) if stage is Stage.CLOSING else None,
    )


def _between(ports: Ports, going: Going) -> sprints.Facts:
    main = MainFiles(ports.git, ports.git.main())
    texts = main.documents()
    boxes = model.criteria(texts.get(sprints.BRIEF, ""))
    last = max((one.number for one in model.sprints(texts)), default=0)
    return sprints.Facts(
        going.run,
        None,
        going.done,
        max(going.last, last),
        changed=_changed(ports, going, main),
        criteria=len(boxes),
        open=sum(not box.is_checked for box in boxes),
        claimed=len(sprints.claimed(boxes, texts)),
        findings=len(main.findings(texts)) if going.done else 0,
    )


def _planner(store: "Store", number: int | None) -> sprints.Planner | None:
    if number is None:
        return None
    session = store.session(number)
    return sprints.Planner(session.state in _BUSY, session.state is State.STUCK, session.ended_at is not None)


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


@frozen
class _Stage:
    field: str
    suffix: str
    title: str


_STAGES = {
    Stage.OPENING: _Stage("opening", "plan", "its plan"),
    Stage.CLOSING: _Stage("closing", "review", "its review"),
}


def place(ports: Ports, going: Going, sprint: Sprint) -> bool:
    """Make the documents of the sprint's stage and hand them in."""
    store, git, how = ports.store, ports.git, _STAGES[sprint.stage]
    main = git.main()
    made = files(ports, going, sprint, MainFiles(git, main))
    known = getattr(sprint, how.field)
    name = known or free_id(ports, f"sprint-{sprint.number}-{how.suffix}")
    fence = 1 if known is None else store.bead(name).fence + 1
    title = f"Documents of sprint {sprint.title}: {how.title}"
    message = Message(title, "", PERSON, store.now())
    kept = f"incoming/{name}/{fence}"
    commit = git.write_files(main, {path: text.encode() for path, text in made.items()}, message, kept)
    if commit is None:
        after = Stage.EXECUTING if sprint.stage is Stage.OPENING else Stage.DONE
        store.change_sprint(sprint.number, {"stage": after}, BY)
        return True
    with store.write():
        if known is None:
            store.put([lifecycle.live(_bead(name, title, sprint, made))], [], BY)
            store.change_sprint(sprint.number, {how.field: name}, BY)
        store.hand_in(ByHand(name, BY, fence, commit, main, built=True))
    return True


def free_id(ports: Ports, wanted: str) -> str:
    """`wanted`, or with a number if a bead has it."""
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
    text = sprints.plan(sprint, handed_in(going, Kind.PLAN))
    state = f"Sprint {sprint.title} is executed per {path}."
    task = sprints.task(main.text("task.md"), "executing", sprint.title, state, _progress(ports, sprint, False), when)
    return {path: clean(text), "task.md": clean(task)}


def _closing(ports: Ports, going: Going, sprint: Sprint, main: MainFiles, when: str) -> dict[str, str]:
    plan = main.text(f"{sprint.folder}/plan.md") or sprints.plan(sprint, handed_in(going, Kind.PLAN))
    tasks = [box.text for box in model.tasks(plan) if not box.is_checked]
    review = sprints.review(sprint, handed_in(going, Kind.REVIEW), _told(ports, sprint), tasks)
    done = sprints.done_of(review)
    checks = {check.name for check in ports.config().contract()} - {one.check for one in quarantined(ports.store)}
    met = sprints.met(model.criteria(main.text(sprints.BRIEF)), done, checks)
    after = main.documents()
    found = {
        f"{sprint.folder}/plan.md": sprints.plan_after(plan, done, sprints.titles(going.documents)),
        f"{sprint.folder}/review.md": review,
        **sprints.appended(after, going.documents, sprint, when),
    }
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
    if claims := sprints.claimed(criteria, texts):
        state += f" Agents claim {count(len(claims), 'of them', 'of them')}; you tick what holds in {sprints.BRIEF}."
    task = sprints.task(texts.get("task.md", ""), "planning", "none", state, progress, when)
    return {**found, "task.md": clean(task)}


def handed_in(going: Going, kind: Kind) -> str:
    """The last one of this kind; empty: none."""
    return next((one.text for one in reversed(going.documents) if one.kind is kind), "")


def _told(ports: Ports, sprint: Sprint) -> str:
    """The last words of who worked on the sprint's bead."""
    attempts = [] if sprint.bead is None else ports.store.attempts(sprint.bead)
    return next((one.log.summary.strip() for one in reversed(attempts) if one.log.summary.strip()), "")


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
                    is_changed |= self.ports.store.settle_due(due)
                except NotAllowed:  # a person was quicker by a moment: the next look says so
                    continue
            self._wakes += model.wakes(one, zone, board.now)
        return is_changed

    def _refused(self, one: Schedule) -> str:
        """Why its sprints may not begin."""
        going = self.ports.store.sprints_going()
        if going is not None and going.run.state is RunState.GOING:
            return "sprints are running already"
        main = MainFiles(self.ports.git, self.ports.git.main())
        brief = main.text(sprints.BRIEF)
        others = changed(one.terms, terms_now(self.ports, brief))
        if others:
            return f"the {' and '.join(others)} changed since you approved: `nobrakes project schedule` approves again"
        boxes = model.criteria(brief)
        if boxes and all(box.is_checked for box in boxes):
            return "every success criterion is met already"
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
            sprints.Nudge: self._nudge,
            sprints.Move: self._move,
            sprints.Place: self._place,
            sprints.Execute: self._execute,
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

    def wake_at(self, now: float) -> list[float]:
        return self.scheduling.wake_at(now)

    def _begin(self, going: Going, step: sprints.Begin) -> bool:
        ports = self.ports
        spec, why = self._agent_spec()
        if spec is None:
            return ports.store.settle_run(going.run.id, RunState.WAITS, f"no agent can plan: {why}", BY)
        main = MainFiles(ports.git, ports.git.main())
        texts = main.documents()
        findings = main.findings(texts) if going.done else []
        text = prompts.asked(step.number, texts, [f"{one.where}: {one.text}" for one in findings])
        title, owner = f"Plan of sprint {step.number}", person_owner(going.run.actor)
        with ports.store.write():
            session = ports.store.begin_session(
                SessionKind.PLANNING, owner, title, spec, text, BY, {prompts.SPRINT: step.number}
            )
            ports.store.add_sprint(step.number, going.run.id, session.id)
        return True

    def _agent_spec(self) -> tuple[tuple[str, str, str] | None, str]:
        """The first usable planning agent with its provider and model, else why there is none."""
        agents, why = self.ports.config().agents, "agents.shaper names no agent"
        for name in agents.shaper:
            try:
                return (name, self.ports.adapter(name).provider, agents.model_of(name, "shaper")), ""
            except NobrakesError as error:
                why = error.whole
        return None, why

    def _nudge(self, going: Going, step: sprints.Nudge) -> bool:
        """The plan of an agent without tools is its words; without words it is told what is wanted."""
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None and sprint.session is not None, "its planner was looked at"
        said = [one.text for one in store.messages(sprint.session) if not one.author]
        words = said[-1] if said else ""
        with store.write():
            if model.section(words, "Tasks"):
                try:
                    name = prompts.name_in(words)
                    store.hand_in_document(sprint.number, Kind.PLAN, require(Kind.PLAN, words), BY, name)
                    return True
                except NobrakesError:
                    pass  # it is told how a plan is handed in
            store.say(sprint.session, prompts.NUDGE, BY)
            store.change_sprint(sprint.number, {"nudged": sprint.nudged + 1}, BY)
        return True

    def _move(self, going: Going, step: sprints.Move) -> bool:
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None, "it was looked at"
        with store.write():
            store.change_sprint(step.sprint, {"stage": step.to}, BY)
            planner = sprint.session if sprint.stage is Stage.PLANNING else None
            if planner is not None and store.session(planner).ended_at is None:
                store.end_session(planner, BY)  # whoever executes begins with documents alone
        return True

    def _place(self, going: Going, step: sprints.Place) -> bool:
        assert going.sprint is not None, "it was looked at"
        return place(self.ports, going, going.sprint)

    def _execute(self, going: Going, step: sprints.Execute) -> bool:
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None, "it was looked at"
        bead = self._bead(going, sprint)
        with store.write():
            store.put([lifecycle.live(bead)], [], going.run.actor)
            store.change_sprint(sprint.number, {"bead": bead.id}, BY)
        return True

    def _bead(self, going: Going, sprint: Sprint) -> Bead:
        main = MainFiles(self.ports.git, self.ports.git.main())
        plan = main.text(f"{sprint.folder}/plan.md") or handed_in(going, Kind.PLAN)
        return Bead(
            free_id(self.ports, f"sprint-{sprint.number}"),
            f"Sprint {sprint.title}",
            description=prompts.work(sprint, plan, main.text(sprints.BRIEF)),
            acceptance=prompts.criteria(plan),
            needs_tests=going.run.needs_tests,
            priority=1,
            metadata={SPRINT: sprint.number},
        )

    def _stop(self, going: Going, step: sprints.Stop) -> bool:
        if step.state is RunState.WAITS and going.sprint is not None and going.sprint.bead is not None:
            why = f"{step.why}; its bead is {going.sprint.bead}"
        else:
            why = step.why
        return self.ports.store.settle_run(step.run, step.state, why, BY)
