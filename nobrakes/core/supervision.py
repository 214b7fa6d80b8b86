"""Watching agents without asking a model: silence, time, and the two steps of stopping.

1. Activity is output, changed files, commits or CPU of any child; only the lack of all of them is silence.
2. TERM, a grace, KILL, always of the whole tree; a lock is free only when the tree is shown dead.
3. Looking is lazy: a run is sampled when its last known activity is old enough to matter.
4. Silence is what was looked at: a run has stalled when a sample as late as its limit saw nothing new. A
   daemon that was away for an hour looks first.
5. A run whose attempt or session is over (cancelled by a person, taken away) is stopped like any other.
6. A run that is only planned, and an attempt or a turn without a run, were cut off: they are resumed.
7. A person stops all agents, or one attempt or session: whatever it runs is stopped, and that is nobody's failure.
8. Who is asked to stop though nothing is wrong with it: core.stopping.
9. An agent that has finished and lives on is ended after a grace, as completed: only its words count. Until then it is
   neither silent nor late.
"""

from collections.abc import Container

from . import stopping
from .actions import Action, Kill, RenewLeases, Resume, ResumeTurn, Sample, Terminate
from .beads.attempt import Run
from .beads.outcomes import Outcome
from .board import Board

SAMPLES_PER_SILENCE = 4


def next_sample(run: Run) -> float:
    """When the run must be looked at next, if nothing else happens: some times in its silence, and at its end."""
    soon = max(run.active_at, run.sampled_at) + run.idle_seconds / SAMPLES_PER_SILENCE
    return min(soon, run.active_at + run.idle_seconds)


def plan(board: Board, ended: Container[str] = ()) -> list[Action]:
    """Which runs to sample, terminate or kill, and which leases to renew.

    `ended`: ids of runs whose tree is dead and that are being closed. They are silent, and that is no fault.
    """
    actions: list[Action] = []
    for run in board.all_runs:
        work = board.work_of(run)
        if (run.pid is None and work is not None) or run.id in ended:
            continue
        if run.term_at is not None:
            if board.now >= run.term_at + board.limits.grace_seconds:
                actions.append(Kill(run.id))
        elif work is None:
            actions.append(Terminate(run.id, Outcome.CANCELLED))
        elif board.stopping or board.is_stop_asked(work):
            actions.append(Terminate(run.id, Outcome.INTERRUPTED))
        elif (end_at := board.finished.get(run.id)) is not None:
            actions += [Terminate(run.id, Outcome.COMPLETED)] if board.now >= end_at else []
        elif run.hard_deadline and board.now >= run.hard_deadline:
            actions.append(Terminate(run.id, Outcome.TIMED_OUT))
        elif (why := stopping.why(board, work, run)) is not None:
            actions.append(Terminate(run.id, why))
        elif run.idle_seconds and run.sampled_at >= run.active_at + run.idle_seconds:
            actions.append(Terminate(run.id, Outcome.STALLED))
        elif run.idle_seconds and board.now >= next_sample(run):
            actions.append(Sample(run.id))
    for attempt in board.attempts:
        run_of = board.runs.get(attempt.id)
        if run_of is None or run_of.pid is None:
            actions.append(Resume(attempt.id))
    for talk in board.talks:
        run_of = board.turn_runs.get(talk.turn.id)
        if run_of is None or run_of.pid is None:
            actions.append(ResumeTurn(talk.turn.id))
    if board.attempts:
        actions.append(RenewLeases(tuple(attempt.id for attempt in board.attempts)))
    return actions


def wake_at(board: Board, ended: Container[str] = ()) -> float | None:
    """The next moment at which a run can need something, so that the loop may sleep until then; `ended` as in plan."""
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
