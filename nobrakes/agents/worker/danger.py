"""Alerts of tool calls that look dangerous (agents.policy.danger), of attempts and of sessions, while they work.

1. The agent's output is read on with every turn of the loop, and to its end once the agent has ended. Who only talks of
   something dangerous alerts nobody.
2. An alert is an event, told once: a new daemon finds in the events what was told. A run tells MAX_ALERTS at most.
3. Nothing is stopped by it: the guard refuses, the sandbox is the wall, and this is for the person who looks.
"""

import os
from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import dataclass, field

from ...beads.model import Attempt, Run
from ...daemon.model import Board
from ...errors import NobrakesError
from ...events.kinds import Event, Kind
from ...parking import owner_of, parked
from ...ports import Ports
from ...sessions.model import Session, Talk
from ...text.cleaning import clean, redacted, shorten
from ..output import given_of
from ..policy import danger
from ..transcript import Line, LineKind
from .watch import LOOKS, Output, is_agents

DANGER_LOOK_SECONDS = 2.0
"""Between two looks at what an agent said."""
MAX_ALERTS = 20
"""Alerts of one run."""
_ALERTS_TOLD = 1000
"""Alerts that are looked through for what was told of a run."""
_WORDS = 300
"""Characters of a call that an alert quotes."""


@dataclass(slots=True)
class _Alerted:
    output: Output
    told: set[str] = field(default_factory=set)
    looked_at: float = -DANGER_LOOK_SECONDS


class DangerWatch:
    """Watches the tool calls of all agents at work."""

    def __init__(self, ports: Ports, folder_of: Callable[[Ports, Session], str]) -> None:
        """`folder_of`: where a session's agent works."""
        self.ports, self._folder_of = ports, folder_of
        self._seen: dict[str, _Alerted] = {}

    def look(self, board: Board, ended: Set[str] = frozenset()) -> bool:
        """Tell what is new; `ended`: the runs whose agent says no more. It changes nothing of the board."""
        for run in board.all_runs:
            work = board.work_of(run)
            if work is None or not is_agents(work, run):
                continue
            with parked(self.ports, owner_of(work)), suppress(NobrakesError):
                seen = self._seen.get(run.id) or self._begin(work, run)
                is_over = run.id in ended
                if is_over or abs(board.now - seen.looked_at) >= DANGER_LOOK_SECONDS:
                    seen.looked_at = board.now
                    self._read(work, run, seen, is_over)
        return False

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}

    def _begin(self, work: Attempt | Talk, run: Run) -> _Alerted:
        store = self.ports.store
        bead = None if isinstance(work, Talk) else work.bead
        told = store.latest_events((Kind.DANGER_SEEN,), None, _ALERTS_TOLD, bead)
        seen = _Alerted(Output.of(self.ports, run), {str(e.data["call"]) for e in told if e.data.get("run") == run.id})
        self._seen[run.id] = seen
        return seen

    def _read(self, work: Attempt | Talk, run: Run, seen: _Alerted, is_over: bool) -> None:
        adapter = self.ports.adapter(work.agent)
        for _ in range(LOOKS if is_over else 1):
            text, more = seen.output.read(self.ports, is_over)
            for raw in text.split(b"\n") if text else ():
                for line in adapter.lines(raw):
                    if line.kind is LineKind.TOOL_CALL:
                        self._judge(work, run, seen, line)
            if not more:
                return

    def _judge(self, work: Attempt | Talk, run: Run, seen: _Alerted, line: Line) -> None:
        call = shorten(clean(str(line.data.get("id") or line.text)), 100)
        if call in seen.told or len(seen.told) >= MAX_ALERTS:
            return
        what = given_of(line)
        why = danger.of_tool(str(line.data.get("tool", "")), what, self._own(work))
        if not why:
            return
        seen.told.add(call)
        said = shorten(redacted(clean(what)), _WORDS)
        data = {"run": run.id, "call": call, "why": shorten(redacted(clean(why)), _WORDS), "text": said}
        if isinstance(work, Talk):
            event = Event(
                Kind.DANGER_SEEN, None, None, f"Session {work.session.id}", data | {"session": work.session.id}
            )
        else:
            event = Event(Kind.DANGER_SEEN, work.bead, work.id, work.name, data)
        self.ports.store.record(event)

    def _own(self, work: Attempt | Talk) -> str:
        if isinstance(work, Talk):
            return self._folder_of(self.ports, work.session)
        return os.path.join(self.ports.paths.workspaces, work.bead)
