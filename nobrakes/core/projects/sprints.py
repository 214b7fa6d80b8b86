"""What comes next of a project's sprints. Facts in, one step out; no model is asked whether to go on.

1. Plan, documents, work, documents, and again; between two sprints it is asked whether the project is complete, whether
   the yes still holds, and whether it was for one more.
2. What a person does, or what passes by itself, is waited for: a question, a limit, a cap, a pause is no step.
3. What nobody can wait for ends the run in words: a person's new yes goes on from there.
"""

from dataclasses import dataclass

from ..beads.bead import CLOSED, Status
from .sprint import RunState, Sprint, SprintRun, Stage

NUDGES = 2
"""So often a planner that handed nothing in is told to; then a person is."""
TRIES = 4
"""So often the documents are made anew that did not pass."""


@dataclass(frozen=True, slots=True)
class Planner:
    """The session that plans: whether it works or waits for an answer, is stuck until a person speaks, or is over."""

    is_busy: bool
    is_stuck: bool = False
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """A bead of the sprint. `is_back`: it did not pass, and no other mends it; `tries`: how often it was handed in."""

    status: Status
    is_back: bool = False
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known. `open`: success criteria that are not met, of `criteria`; `findings`: those of whats-next."""

    run: SprintRun
    sprint: Sprint | None
    done: int = 0
    last: int = 0
    changed: tuple[str, ...] = ()
    has_plan: bool = False
    planner: Planner | None = None
    opening: Work | None = None
    work: Work | None = None
    closing: Work | None = None
    criteria: int = 0
    open: int = 0
    findings: int = 0


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin the sprint of this number: somebody plans it."""

    number: int


@dataclass(frozen=True, slots=True)
class Nudge:
    """Tell the planner that nothing was handed in."""

    sprint: int


@dataclass(frozen=True, slots=True)
class Move:
    """The sprint is in this stage now."""

    sprint: int
    to: Stage


@dataclass(frozen=True, slots=True)
class Place:
    """Make the documents of this stage, and hand them in."""

    sprint: int
    stage: Stage


@dataclass(frozen=True, slots=True)
class Execute:
    """Make the sprint's bead, live."""

    sprint: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is in this state now, and why."""

    run: int
    state: RunState
    why: str


Step = Begin | Nudge | Move | Place | Execute | Stop


def next_step(facts: Facts) -> Step | None:
    """What is to be done now; None: nothing, until something happens."""
    if facts.run.state is not RunState.GOING:
        return None
    if facts.sprint is None:
        return _between(facts)
    return _BY_STAGE[facts.sprint.stage](facts, facts.sprint)


def is_complete(facts: Facts) -> bool:
    """Whether every success criterion is met and nothing contradicts; a brief without criteria is never complete."""
    return facts.criteria > 0 and not facts.open and not facts.findings


def _between(facts: Facts) -> Step:
    if facts.done and is_complete(facts):
        return Stop(facts.run.id, RunState.COMPLETE, f"every success criterion is met ({facts.criteria})")
    if facts.done >= facts.run.asked:
        left = f"{facts.open} of {facts.criteria} success criteria are open"
        if facts.findings:
            left += f", and whats-next has {facts.findings} finding{'' if facts.findings == 1 else 's'}"
        return Stop(facts.run.id, RunState.OVER, f"{facts.done} sprints are done; {left}")
    if facts.changed:
        return _asks_again(facts)
    return Begin(facts.last + 1)


def _asks_again(facts: Facts) -> Stop:
    what = " and ".join(facts.changed)
    left = facts.run.asked - facts.done
    return Stop(
        facts.run.id, RunState.WAITS, f"the {what} changed since the yes; {left} of {facts.run.asked} sprints are left"
    )


def _planning(facts: Facts, sprint: Sprint) -> Step | None:
    is_busy = facts.planner is not None and facts.planner.is_busy
    if facts.has_plan and not is_busy:
        return Move(sprint.number, Stage.OPENING)
    if facts.planner is None or facts.planner.is_over:
        return _stopped(facts, f"the session that plans sprint {sprint.number} was ended, and handed no plan in")
    if is_busy or facts.planner.is_stuck:
        return None
    if sprint.nudged < NUDGES:
        return Nudge(sprint.number)
    return _stopped(facts, f"no plan was handed in for sprint {sprint.number}: see session {sprint.session}")


def _documents(facts: Facts, sprint: Sprint, work: Work | None, after: Stage) -> Step | None:
    if work is None:
        return Place(sprint.number, sprint.stage)
    if work.status is Status.DONE:
        return Move(sprint.number, after)
    if work.status in CLOSED:
        return _stopped(facts, f"the documents of sprint {sprint.number} were given up")
    if work.is_back:
        if work.tries < TRIES:
            return Place(sprint.number, sprint.stage)
        return _stopped(facts, f"the documents of sprint {sprint.number} do not pass the Reviewer")
    return None


def _opening(facts: Facts, sprint: Sprint) -> Step | None:
    return _documents(facts, sprint, facts.opening, Stage.EXECUTING)


def _executing(facts: Facts, sprint: Sprint) -> Step | None:
    if facts.work is None:
        return _asks_again(facts) if facts.changed else Execute(sprint.number)
    if facts.work.status is Status.DONE:
        return Move(sprint.number, Stage.CLOSING)
    if facts.work.status in CLOSED:
        return _stopped(facts, f"bead {sprint.bead} of sprint {sprint.number} was cancelled")
    return None


def _closing(facts: Facts, sprint: Sprint) -> Step | None:
    return _documents(facts, sprint, facts.closing, Stage.DONE)


def _done(facts: Facts, sprint: Sprint) -> Step | None:
    return _between(facts)


def _stopped(facts: Facts, why: str) -> Stop:
    return Stop(facts.run.id, RunState.WAITS, why)


_BY_STAGE = {
    Stage.PLANNING: _planning,
    Stage.OPENING: _opening,
    Stage.EXECUTING: _executing,
    Stage.CLOSING: _closing,
    Stage.DONE: _done,
}
