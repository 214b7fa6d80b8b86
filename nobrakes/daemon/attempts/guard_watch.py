"""Looking at agents that have just begun: one whose guard did not answer is stopped at once.

1. A run is looked at until its guard has answered and its session has begun, and never again; what is remembered is
   only that.
2. A session is noted as soon as it is seen, so that a crash does not lose it: that it has begun, and its id where the
   CLI chose it. An id that another session has already is not believed.
"""

import os
from collections.abc import Set
from dataclasses import replace

from ...core.actions import Terminate
from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.beads.outcomes import Outcome
from ...core.board import Board
from ...core.limits.resuming import BEGUN
from ...core.sessions.session import Talk
from ..agent_ends import SELF_TEST, STEP
from ..parking import owner_of, parked
from ..ports import Ports

LOOK_SECONDS = 0.5
"""Between two looks at an agent whose guard has not answered yet."""
NAMED = "named"
"""In a turn's data: the id of the CLI's session, where nobrakes chose it."""
HEAD = 256_000
"""Bytes of an agent's output that are read for it: what comes before the first deed of an agent is far less."""


def note_session(ports: Ports, attempt: Attempt, head: bytes) -> Attempt:
    """The attempt as it is noted now: with its session, where its output begins with `head` and tells of one."""
    if attempt.data.get(BEGUN):
        return attempt
    found = ports.adapter(attempt.agent).session(head.split(b"\n")[:-1])
    expected = attempt.provider_session
    if found is None or (expected is not None and expected != found):
        return attempt
    if expected is None and not ports.store.hold_session(found, attempt.id, fresh=True):
        return attempt
    noted = replace(attempt, data={**attempt.data, BEGUN: True}, provider_session=found)
    ports.store.journal(attempt.id, noted.data)
    return noted


def hear_turn(ports: Ports, talk: Talk, head: bytes) -> bool:
    """Note the session of a turn whose output begins with `head`; whether its agent said now that it has begun."""
    found = ports.adapter(talk.agent).session(head.split(b"\n")[:-1])
    if found is None or talk.turn.data.get(BEGUN):
        return False
    named = talk.session.provider_session if talk.turn.resumes else talk.turn.data.get(NAMED)
    return (named is None or named == found) and ports.store.hear_session(talk.turn.id, found)


def head_of(ports: Ports, run: Run) -> bytes:
    """How the run's output begins."""
    return ports.processes.head(os.path.join(ports.paths.runs, run.id, f"{STEP}.out"), HEAD)


class GuardWatch:
    """Watches the beginnings of agents."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._known: set[str] = set()
        self._waiting: set[str] = set()

    def plan(self, board: Board) -> list[Terminate]:
        """The runs to stop."""
        actions = []
        self._waiting = set()
        for run in board.all_runs:
            work = board.work_of(run)
            if work is None or run.kind is not RunKind.AGENT or run.pid is None or run.term_at is not None:
                continue
            with parked(self.ports, owner_of(work)):
                if run.id not in self._known and self._refuses(run, work):
                    actions.append(Terminate(run.id, Outcome.GUARD_FAILED))
        return actions

    def _refuses(self, run: Run, work: Attempt | Talk) -> bool:
        processes = self.ports.processes
        adapter = self.ports.adapter(work.agent)
        folder = os.path.join(self.ports.paths.runs, run.id)
        self_test = processes.output(os.path.join(folder, SELF_TEST), 100)  # first: it is there before what follows it
        head = head_of(self.ports, run)
        if adapter.refuses(head, self_test) is not None:
            return True
        told = adapter.session(head.split(b"\n")[:-1]) is not None
        if isinstance(work, Talk):
            hear_turn(self.ports, work, head)
        else:
            note_session(self.ports, work, head)
        is_known = adapter.guarded(head, self_test) and (told or not adapter.sessions)
        (self._known if is_known else self._waiting).add(run.id)
        return False

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._known &= runs
        self._waiting &= runs

    def wake_at(self, now: float) -> list[float]:
        """When an agent has to be looked at again."""
        return [now + LOOK_SECONDS] if self._waiting else []
