"""What the daemon decides: who starts, who is stopped, which sessions continue, whether a daemon is started again.

Whether the watchdog starts a missing daemon, from facts alone:

1. Only a daemon that was begun in the background and that nobody stopped or paused since. A killed process, a lost
   machine or an ended login is not a stop.
2. Network and provider must answer. Otherwise, and after a failed start, the next look comes after 1, 2, 4, 8, 16 and
   then every 30 minutes.
3. While a daemon works or is not wanted, nothing is asked, and waiting times are reset.
"""

from collections.abc import Container
from dataclasses import replace

from ..agents import limits as agents_limits
from ..agents.limits import State
from ..beads.model import Attempt, Outcome, ReadyBead, Role, Run, RunKind, Status, bead_owner
from ..checks.policy import shadows
from ..decisions.model import EscalationType
from ..records import frozen
from ..review.journal import Journal, is_unqueued, withdrawn_approvals
from ..review.queue import at_once
from ..sessions.model import State as SessionsState
from ..sessions.model import Talk
from . import model as daemon_model

MINUTE = 60.0
MAX_MINUTES = 30.0


@frozen
class Waiting:
    """How often in a row something was down, and when it is asked next."""

    failures: int = 0
    until: float = 0.0


@frozen
class Facts:
    """Local facts. `works`: a daemon's pid; None: none."""

    works: int | None = None
    wanted: bool = False
    paused: bool = False


def at_rest(facts: Facts) -> str:
    """Why there is nothing to do; empty: a daemon is missing."""
    if facts.works is not None:
        return f"a daemon is running (process {facts.works})"
    if not facts.wanted:
        return "no daemon is needed: nobody started one in the background, or a person stopped it"
    if facts.paused:
        return "no daemon was started, because a person paused the work"
    return ""


def minutes(failures: int) -> float:
    return float(min(MAX_MINUTES, 2 ** max(0, min(failures, 10) - 1)))


def still_waits(waiting: Waiting, now: float) -> bool:
    """A clock that was set back extends no wait beyond the longest."""
    return now < waiting.until <= now + MAX_MINUTES * MINUTE


def after_failure(waiting: Waiting, now: float) -> Waiting:
    failures = waiting.failures + 1
    return Waiting(failures, now + minutes(failures) * MINUTE)


def is_capped(board: daemon_model.Board) -> bool:
    """Whether a cap for all agents stops those at work."""
    costs = agents_limits.reached(board.limits.caps, board.spent, board.now)
    return any(one.name != agents_limits.CALLS for one in costs) or bool(
        agents_limits.machine_reached(board.machine, board.now)
    )


def why_stopped(board: daemon_model.Board, work: Attempt | Talk, run: Run, capped: bool) -> Outcome | None:
    """Why the run is asked to stop with its work saved; None: it may go on. Caps of bead, day or run blame nobody. A
    used-up attempt ends as at any limit; a full context restarts. The hourly cap stops nothing. A Doer whose tests keep
    failing equally without an explanation gives up; a Test Writer's have to fail. A session's turn only has the caps of
    day, run and attempt."""
    if run.kind is not RunKind.AGENT:
        return None
    limits, spent = board.limits.caps, board.spent
    if limits.attempt.tokens is not None and work.tokens >= limits.attempt.tokens:
        return Outcome.TURN_LIMIT
    if capped:
        return Outcome.CAPPED
    if isinstance(work, Talk):
        return None
    if work.id in board.blocked:
        return Outcome.BLOCKED
    if agents_limits.bead_cap_reached(limits, spent, work.bead) is not None:
        return Outcome.CAPPED
    if work.role is Role.DOER and 0 < board.limits.failed_rounds <= board.failed_rounds.get(work.id, 0):
        return Outcome.GAVE_UP_TESTS
    return Outcome.GAVE_UP_CONTEXT if board.contexts.get(work.id, 0.0) >= board.limits.context_share else None


SAMPLES_PER_SILENCE = 4


def next_sample(run: Run) -> float:
    active, sampled, idle = run.active_at, run.sampled_at, run.idle_seconds  # asked of all runs in each turn
    soon = (active if active > sampled else sampled) + idle / SAMPLES_PER_SILENCE
    return soon if soon < active + idle else active + idle


# Watching. Only the lack of output, changed files, commits and CPU of any child is silence, and only a sample as late
# as the limit tells it: a daemon that was away for an hour looks first. Stopping is TERM, a grace, KILL, always of the
# whole tree. A run whose attempt or session is over is stopped; one that is only planned was cut off, and is resumed.
# An agent that has finished and lives on is ended after a grace, as completed: until then it is neither silent nor
# late.
def plan_supervision(board: daemon_model.Board, ended: Container[str] = ()) -> list[daemon_model.Action]:
    """Runs to sample, terminate or kill, leases to renew. `ended`: dead runs being closed, exempt from silence."""
    actions: list[daemon_model.Action] = []
    capped = is_capped(board)
    for run in board.all_runs:
        work = board.work_of(run)
        if (run.pid is None and work is not None) or run.id in ended:
            continue
        if run.term_at is not None:
            if board.now >= run.term_at + board.limits.grace_seconds:
                actions.append(daemon_model.Kill(run.id))
        elif work is None:
            actions.append(daemon_model.Terminate(run.id, Outcome.CANCELLED))
        elif board.stopping or board.is_stop_asked(work):
            actions.append(daemon_model.Terminate(run.id, Outcome.INTERRUPTED))
        elif (end_at := board.finished.get(run.id)) is not None:
            actions += [daemon_model.Terminate(run.id, Outcome.COMPLETED)] if board.now >= end_at else []
        elif run.hard_deadline and board.now >= run.hard_deadline:
            actions.append(daemon_model.Terminate(run.id, Outcome.TIMED_OUT))
        elif (why := why_stopped(board, work, run, capped)) is not None:
            actions.append(daemon_model.Terminate(run.id, why))
        elif run.idle_seconds and run.sampled_at >= run.active_at + run.idle_seconds:
            actions.append(daemon_model.Terminate(run.id, Outcome.STALLED))
        elif run.idle_seconds and board.now >= next_sample(run):
            actions.append(daemon_model.Sample(run.id))
    for attempt in board.attempts:
        if (run_of := board.runs.get(attempt.id)) is None or run_of.pid is None:
            actions.append(daemon_model.Resume(attempt.id))
    for talk in board.talks:
        if (run_of := board.turn_runs.get(talk.turn.id)) is None or run_of.pid is None:
            actions.append(daemon_model.ResumeTurn(talk.turn.id))
    if board.attempts:
        actions.append(daemon_model.RenewLeases(tuple(attempt.id for attempt in board.attempts)))
    return actions


def wake_at(board: daemon_model.Board, ended: Container[str] = ()) -> float | None:
    """When a run next needs something; `ended` as in plan_supervision."""
    times: list[float] = []
    for run in board.all_runs:
        if run.pid is None or run.id in ended:
            continue
        if run.term_at is not None:
            times.append(run.term_at + board.limits.grace_seconds)
            continue
        if run.id in board.finished:
            times.append(board.finished[run.id])
            continue
        if run.hard_deadline:
            times.append(run.hard_deadline)
        if run.idle_seconds:
            times.append(next_sample(run))
    if board.attempts:
        times.append(board.now + board.limits.lease_seconds / 3)
    return min(times, default=None)


# A person waits for what a session says, so sessions come before beads and have places of their own; caps and the
# machine's places hold for both together.
def plan_turns(board: daemon_model.Board) -> list[daemon_model.StartTurn]:
    """Oldest session first."""
    if board.paused or board.stopping or agents_limits.reached(board.limits.caps, board.spent, board.now):
        return []
    if agents_limits.machine_reached(board.machine, board.now) or agents_limits.is_full(
        board.memory_mb, board.limits.agents_mb
    ):
        return []
    free = board.limits.sessions - len(board.talks)
    if (left := agents_limits.calls_left(board.limits.caps, board.spent, board.now)) is not None:
        free = min(free, left)
    if (places := agents_limits.free(board.machine)) is not None:
        free = min(free, places)
    room = agents_limits.room(board.gates, board.agents, board.now)
    at_work = {talk.session.id for talk in board.talks}
    starts: list[daemon_model.StartTurn] = []
    for session in board.sessions:
        if len(starts) >= free:
            break
        if session.state is not SessionsState.READY or session.id in at_work:
            continue
        if session.retry_at is not None and session.retry_at > board.now:
            continue
        keys = (agents_limits.WORKSPACES, session.provider)
        if any(room.get(key, 1) <= 0 for key in keys):
            continue
        room.update({key: room[key] - 1 for key in keys if key in room})
        starts.append(daemon_model.StartTurn(session.id))
    return starts


def turns_wake_at(board: daemon_model.Board) -> float | None:
    times = [one.retry_at for one in board.sessions if one.retry_at is not None and one.retry_at > board.now]
    return min(times, default=None)


ROLE_FOR = {Status.NEEDS_TESTS: Role.TEST_WRITER, Status.NEEDS_DOER: Role.DOER}


# The Assigner. Beads come in the store's order, which is an index: class, b-level, how many wait for it, who became
# ready last, id; in a class those first that collide with nobody at work. Turns of sessions come before them. Of a
# role's agents the first is taken whose provider has no cooldown and whose breaker for the bead is closed; where all
# have a cooldown the bead waits, where all breakers are open, or its cap is reached, it goes to a person. Nothing is
# started while paused or stopping, before main was tried, under a cap that is reached, or beyond the limits of Doers,
# machine and memory. Reviews are never held back by agents.
def plan_assignments(board: daemon_model.Board) -> list[daemon_model.Action]:
    """Agents to start, decisions for people, and epics to close."""
    actions: list[daemon_model.Action] = [daemon_model.CompleteEpic(epic) for epic in board.epics_done]
    actions += [daemon_model.LandEpic(epic) for epic in board.epics_landed]
    actions += [daemon_model.GoOnUnapproved(number, why) for number, why in withdrawn_approvals(board)]
    if board.paused or board.stopping:
        return actions
    talks = plan_turns(board)
    actions += talks
    if board.limits.starts is daemon_model.Starts.UNTRIED:
        return actions
    limits, spent = board.limits.caps, board.spent
    if board.ready or board.sessions:
        untold = (
            *agents_limits.untold(limits, spent, board.now),
            *agents_limits.machine_unreported(board.machine, board.now),
        )
        actions += [daemon_model.TellCap(one) for one in untold]
    agents = sum(1 for attempt in board.attempts if attempt.role is not Role.REVIEWER)
    free = board.limits.doers - agents
    if (left := agents_limits.calls_left(limits, spent, board.now)) is not None:
        free = min(free, left - len(talks))
    if (places := agents_limits.free(board.machine)) is not None:
        free = min(free, places - len(talks))
    if (
        agents_limits.reached(limits, spent, board.now)
        or agents_limits.machine_reached(board.machine, board.now)
        or agents_limits.is_full(board.memory_mb, board.limits.agents_mb)
    ):
        return actions
    room = agents_limits.room(board.gates, board.agents, board.now)
    for session in board.sessions:
        for key in (agents_limits.WORKSPACES, session.provider):
            if key in room and daemon_model.StartTurn(session.id) in talks:
                room[key] -= 1
    due = [bead for bead in board.ready if bead.retry_at is None or bead.retry_at <= board.now]
    asks = {bead.id: found for bead in due if (found := _asks(board, bead)) is not None}
    actions += asks.values()  # whether there is a place or not: what is decided early holds nobody up later
    busy = shadows.Busy(board.taken.values())
    for bead in shadows.apart([bead for bead in due if bead.id not in asks], busy) if free > 0 else ():
        if (agent := _agent(board, bead, room)) is None:
            continue
        actions.append(daemon_model.StartAgent(bead.id, ROLE_FOR[bead.status], agent))
        busy.add(bead.touches)
        free -= 1
        if free <= 0:
            break
    return actions


def reviews(board: daemon_model.Board) -> list[daemon_model.Action]:
    """The first waiting reviews, as many as may be open."""
    if board.paused or board.stopping:
        return []
    opened = sum(
        attempt.role is Role.REVIEWER and not is_unqueued(Journal.of(attempt.data).step) for attempt in board.attempts
    )
    free = max(0, at_once(board.limits.queue, board.pace) - opened)
    reviewable = board.reviewable if board.no_nodes is None else ()  # their checks would have no place
    return [daemon_model.StartReview(bead.id) for bead in reviewable[:free]]


def waits_for_place(board: daemon_model.Board) -> bool:
    """Whether only other repositories' places keep an agent from starting."""
    if (room := board.machine) is None or room.others <= 0 or agents_limits.free(room) != 0:
        return False
    wanted = plan_assignments(replace(board, machine=agents_limits.without_places(room)))
    return any(isinstance(action, daemon_model.StartAgent | daemon_model.StartTurn) for action in wanted)


def _breaker_is_open(board: daemon_model.Board, bead: ReadyBead, agent: str) -> bool:
    breaker = board.breakers.get((bead_owner(bead.id), board.providers.get(agent, "")))
    return breaker is not None and breaker.state is State.OPEN


def _asks(board: daemon_model.Board, bead: ReadyBead) -> daemon_model.AskPerson | None:
    if (reached := agents_limits.bead_cap_reached(board.limits.caps, board.spent, bead.id)) is not None:
        title = f"{bead.id} has reached a spending cap: {reached.name} is {reached.spent:g} of {reached.limit:g}"
        detail = f"Raise caps.{reached.name} in .nobrakes/config.toml, or split the bead; then resolve this escalation."
        return daemon_model.AskPerson(bead.id, EscalationType.CAP_REACHED, title, detail)
    agents = board.limits.agent_choice.agents(ROLE_FOR[bead.status], bead.type)
    if agents and all(_breaker_is_open(board, bead, agent) for agent in agents):
        errors = {board.breakers[(bead_owner(bead.id), board.providers.get(agent, ""))].error for agent in agents}
        title = f"{bead.id}: every agent fails in the same way"
        return daemon_model.AskPerson(bead.id, EscalationType.BREAKER_OPEN, title, "\n".join(sorted(errors)))
    return None


def _agent(board: daemon_model.Board, bead: ReadyBead, room: dict[str, int]) -> str | None:
    for agent in board.limits.agent_choice.agents(ROLE_FOR[bead.status], bead.type):
        model = board.models.get((agent, ROLE_FOR[bead.status].value), "")
        keys = (agents_limits.WORKSPACES, board.providers.get(agent, ""), agents_limits.model_key(agent, model))
        if any(room.get(key, 1) <= 0 for key in keys) or _breaker_is_open(board, bead, agent):
            continue
        room.update({key: room[key] - 1 for key in keys if key in room})
        return agent
    return None


SOON = 1.0


# What waits with a time of its own is not idle (a retry, a remote, an index.lock), nor what waits for another
# repository's place. What only a person can end is idle. Whatever may pass by itself is waited for until its timeout
# is over.
def is_idle(board: daemon_model.Board) -> bool:
    """Whether this machine has nothing left to do without a person."""
    if board.talks or board.turn_runs:
        return False
    if board.attempts or board.runs:
        # who is to be reviewed stands behind those that wait
        return _wait_for_a_person(board) and is_idle(replace(board, attempts=(), runs={}, to_review=()))
    if board.paused or board.stopping:
        return True
    to_review = bool(board.reviewable)  # while main is red the others wait for it to be green
    epics = board.epics_done or board.epics_landed
    if agents_limits.needs_person(board.machine):
        return not (to_review or epics)
    if any(one.until is None for one in agents_limits.reached(board.limits.caps, board.spent, board.now)):
        return not (to_review or epics)  # the run's cap never ends by itself
    sessions = board.sessions and board.limits.sessions  # they wait for a place, or for a time that comes by itself
    return not (sessions or board.ready or to_review or epics or board.retry_at is not None)


def _wait_for_a_person(board: daemon_model.Board) -> bool:
    reviews = [Journal.of(a.data) for a in board.attempts if a.role is Role.REVIEWER]
    waits = [journal for journal in reviews if journal.merging.waiting]
    is_all = len(reviews) == len(board.attempts) and not board.runs
    return is_all and bool(waits) and not any(journal.merging.passing for journal in waits)


def may_pass(timeout: float, since: float, now: float) -> bool:
    return timeout > 0 and now < since + timeout


def look_again(since: float, now: float, most: float) -> float:
    """Seconds to the next try: short at first, then as long as it has lasted."""
    return min(most, max(SOON, now - since))
