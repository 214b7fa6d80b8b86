"""The sprints' part of each turn of the daemon's loop: look, decide, do. It keeps nothing that a new one would miss.

Each step is one transaction, or can be done again: a daemon that is killed in the middle goes on with the same step.
"""

from collections.abc import Callable
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.bead import Bead
from ...core.board import Board
from ...core.errors import NobrakesError
from ...core.owners import of_person
from ...core.projects import documents
from ...core.projects.sprint import Going, Kind, RunState, Sprint, Stage, require
from ...core.projects.sprints import Begin, Execute, Move, Nudge, Place, Stop, next_step
from ...core.projects.terms import BRIEF
from ...core.sessions.session import SessionKind
from ...ports.store import Store
from ...roles import sprint_briefing
from ..ports import Ports
from .facts import facts
from .main_files import MainFiles
from .placing import BY, free_id, handed_in, place
from .scheduling import Scheduling

MOST_STEPS = 10
"""In one turn; the rest comes with the next."""


class Sprints:
    """Brings the repository's sprints on."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.scheduling = Scheduling(ports)
        self.methods: dict[type, Callable[[Going, Any], bool]] = {
            Begin: self._begin,
            Nudge: self._nudge,
            Move: self._move,
            Place: self._place,
            Execute: self._execute,
            Stop: self._stop,
        }

    def turn(self, board: Board) -> bool:
        """Do what is next, step by step; whether anything is different now. Nothing while nothing may be started."""
        changed = self.scheduling.turn(board)
        if board.paused or board.stopping or board.frozen:
            return changed
        for _ in range(MOST_STEPS):
            seen = facts(self.ports)
            step = None if seen is None else next_step(seen[1])
            if seen is None or step is None or not self.methods[type(step)](seen[0], step):
                return changed
            changed = True
        return changed

    def wake_at(self, now: float) -> list[float]:
        """When something is due without anything happening."""
        return self.scheduling.wake_at(now)

    def _begin(self, going: Going, step: Begin) -> bool:
        ports = self.ports
        seat, why = self._seat()
        if seat is None:
            return ports.store.settle_run(going.run.id, RunState.WAITS, f"nobody can plan: {why}", BY)
        main = MainFiles(ports.git, ports.git.main())
        texts = main.documents()
        findings = main.findings(texts) if going.done else []
        text = sprint_briefing.asked(step.number, texts, [f"{one.where}: {one.text}" for one in findings])
        title, owner = f"Plan of sprint {step.number}", of_person(going.run.actor)
        with ports.store.together():
            session = ports.store.begin_session(
                SessionKind.PLANNING, owner, title, seat, text, BY, {sprint_briefing.SPRINT: step.number}
            )
            ports.store.add_sprint(step.number, going.run.id, session.id)
        return True

    def _seat(self) -> tuple[tuple[str, str, str] | None, str]:
        """The first agent that may plan and that is known here, with its provider and model; else why none is."""
        agents, why = self.ports.config().agents, "agents.shaper names no agent"
        for name in agents.shaper:
            try:
                return (name, self.ports.adapter(name).provider, agents.model_of(name, "shaper")), ""
            except NobrakesError as error:
                why = f"{error} {error.hint}".strip()
        return None, why

    def _nudge(self, going: Going, step: Nudge) -> bool:
        """An agent without tools says its plan; who says none is told what is wanted."""
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None and sprint.session is not None, "its planner was looked at"
        words = _last_words(store, sprint.session)
        with store.together():
            if documents.section(words, "Tasks"):
                try:
                    name = sprint_briefing.name_in(words)
                    store.hand_in_document(sprint.number, Kind.PLAN, require(Kind.PLAN, words), BY, name)
                    return True
                except NobrakesError:
                    pass  # it is told how a plan is handed in
            store.say(sprint.session, sprint_briefing.NUDGE, BY)
            store.change_sprint(sprint.number, {"nudged": sprint.nudged + 1}, BY)
        return True

    def _move(self, going: Going, step: Move) -> bool:
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None, "it was looked at"
        with store.together():
            store.change_sprint(step.sprint, {"stage": step.to}, BY)
            planner = sprint.session if sprint.stage is Stage.PLANNING else None
            if planner is not None and store.session(planner).ended_at is None:
                store.end_session(planner, BY)  # whoever executes begins with documents alone
        return True

    def _place(self, going: Going, step: Place) -> bool:
        assert going.sprint is not None, "it was looked at"
        return place(self.ports, going, going.sprint)

    def _execute(self, going: Going, step: Execute) -> bool:
        sprint, store = going.sprint, self.ports.store
        assert sprint is not None, "it was looked at"
        bead = self._bead(going, sprint)
        with store.together():
            store.put([lifecycle.live(bead)], [], going.run.actor)
            store.change_sprint(sprint.number, {"bead": bead.id}, BY)
        return True

    def _bead(self, going: Going, sprint: Sprint) -> Bead:
        main = MainFiles(self.ports.git, self.ports.git.main())
        plan = main.text(f"{sprint.folder}/plan.md") or handed_in(going, Kind.PLAN)
        return Bead(
            free_id(self.ports, f"sprint-{sprint.number}"),
            f"Sprint {sprint.title}",
            description=sprint_briefing.work(sprint, plan, main.text(BRIEF)),
            acceptance=sprint_briefing.criteria(plan),
            needs_tests=going.run.needs_tests,
            priority=1,
        )

    def _stop(self, going: Going, step: Stop) -> bool:
        if step.state is RunState.WAITS and going.sprint is not None and going.sprint.bead is not None:
            why = f"{step.why}; its bead is {going.sprint.bead}"
        else:
            why = step.why
        return self.ports.store.settle_run(step.run, step.state, why, BY)


def _last_words(store: Store, session: int) -> str:
    said = [one.text for one in store.messages(session) if not one.author]
    return said[-1] if said else ""
