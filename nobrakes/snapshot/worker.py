"""Work that moves to another machine: a daemon pushes its state once a minute, and `nobrakes takeover` continues it.

1. What is pushed is what a lost database is rebuilt from: beads.since.jsonl and the refs of nobrakes. The snapshot is
   one of them.
2. A takeover claims the state at the remote first: from then on the other machine lands nothing. Then refs, main and
   the database are made as the state says. After a kill the same command continues.
3. Nothing here is removed: other refs are archived; the database, its changes and the workspaces are put aside.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..beads.model import Role, last_attempt
from ..daemon.model import Board
from ..errors import ConfigError, GitFailed, NobrakesError
from ..files import write_atomic
from ..host.locks import DaemonLock
from ..host.port import Background, Notice, Notifier
from ..paths import Paths
from ..records import frozen
from ..review.waits import Landing
from ..review.worker.merge_queue import NOBODY, Beside
from . import service

if TYPE_CHECKING:
    from ..git.landing.takeover import State, Takeover
    from ..git.repository import Repository

SAVE_SECONDS = 30.0
AFTER_LANDING_SECONDS = 5.0
_NAME = "takeover"
_MAX_RUNS = 1000


class States:
    """Pushes this machine's state. It has a git of its own, since it works beside the daemon."""

    def __init__(self, paths: Paths, git: "Repository", copies_main: bool) -> None:
        self._paths = paths
        self._git = git
        self._copies_main = copies_main

    def save(self, runs: Sequence[str]) -> str:
        """Push what the remote lacks; returns why it did not accept it."""
        from ..git.landing.takeover import content_of

        found, fence = self._git.takeover, self._git.fence
        assert found is not None and fence is not None, "the settings name a place for states"
        try:
            main = self._git.main() if self._copies_main else ""
            attempts = last_attempt(os.listdir(self._paths.runs))
            said = fence.save(found.remote, content_of(self._paths.since), main, attempts, runs)
        except (NobrakesError, OSError) as error:
            return str(error)
        return "" if said.ok else said.words

    def last(self) -> str:
        """The id of what was pushed last; a landing pushes too."""
        return self._git.fence.last() if self._git.fence is not None else ""

    def lost(self) -> str:
        """Which machine took over; empty: none is known."""
        return self._git.fence.lost() if self._git.fence is not None else ""

    def require(self) -> None:
        """Raises TakenOver."""
        if self._git.fence is not None:
            self._git.fence.require()


class StateSaver:
    """The daemon's part: pushes beside the loop, and tells a person what the remote does not accept."""

    def __init__(self, states: States, background: Background, notifier: Notifier) -> None:
        self._states = states
        self._notifier = notifier
        self._beside: Beside[str] = Beside(background)
        self.lost, self.require = states.lost, states.require
        self._began = 0.0
        self._saved = ""
        self._told = ""

    def turn(self, board: Board) -> bool:
        """Push, if it is time."""
        why = self._beside.end(_NAME)
        if why is not None:
            self._saved = self._states.last()
        if why is not None and why != self._told:
            self._told = why
            if why and not self._states.lost():
                text = (
                    f"the state of this work was not pushed, so another machine would continue from an older one: {why}"
                )
                self._notifier.tell(Notice(text, urgent=True))
        if board.now >= self.wake_at() and not self._beside.is_pending(_NAME):
            self._began = board.now
            self.begin(board)
        return False

    def begin(self, board: Board, name: str = _NAME) -> None:
        """Push now, beside the loop."""
        agents = [one for one in board.attempts if one.role is not Role.REVIEWER]
        runs = [f"{one.bead} ({one.name})" for one in agents[:_MAX_RUNS]]
        self._beside.begin(NOBODY, name, lambda: self._states.save(runs))

    def wake_at(self) -> float:
        landed = self._states.last() != self._saved
        return self._began + (AFTER_LANDING_SECONDS if landed else SAVE_SECONDS)


@frozen
class Taken:
    """The other machine's state, and what a takeover of it did. `lost`, `told`: for a person."""

    machine: str
    at: float
    is_done: bool
    lost: Sequence[str]
    told: Sequence[str] = ()


def look(git: "Repository", now: float) -> Taken:
    """What a takeover would do. Raises GitFailed, UsageError, ConfigError."""
    takeover = _required(git.takeover)
    state = takeover.state()
    try:
        takeover.require_main(state)
        if takeover.is_own(state):
            return Taken(state.machine, state.at, True, (), ("this machine has the work already",))
        return Taken(state.machine, state.at, False, _lost(state, now))
    finally:
        takeover.forget(is_complete=False)


def take(paths: Paths, git: "Repository", now: float) -> Taken:
    """Continue the work of another machine here. Raises DaemonRunning, GitFailed, UsageError, ConfigError."""
    takeover = _required(git.takeover)
    with DaemonLock(paths.lock):
        state = takeover.state()
        if takeover.is_own(state):
            takeover.forget(is_complete=True)
            return Taken(state.machine, state.at, True, (), ("this machine has the work already",))
        takeover.require_main(state)
        if not state.main and (land := git.catch_up()).landing is not Landing.MOVED:
            raise GitFailed(f"nothing was changed: {land.reason}")
        archived, waits = takeover.take(state)
        aside = [name for path in (paths.since, paths.workspaces) if (name := _moved_away(path, state))]
        write_atomic(paths.since, state.changes)
        made = service.rebuild_with_lock(paths, git, state.attempts, takeover.landed(state))
        takeover.forget(is_complete=True)
    told = service.told(replace(made, no_workspaces=False, is_without=False))
    told += [f"{archived} other refs of nobrakes are archived below refs/nobrakes/archive/"] if archived else []
    told += [f"{os.path.relpath(name, paths.root)} has what was here before" for name in aside]
    told += [f"main is updated later: {waits}"] if waits else []
    return Taken(state.machine, state.at, True, _lost(state, now), told)


def _lost(state: "State", now: float) -> list[str]:
    from ..text.cleaning import age, spoken

    since = f"{spoken(state.at)}, {age(max(0.0, now - state.at))} ago"
    found = [f"{state.machine} pushed its state last on {since}: changes after that are lost"]
    if state.runs:
        shown = ", ".join(state.runs[:20]) + (", …" if len(state.runs) > 20 else "")
        found.append(
            f"agents worked there on {shown}: what they had not handed in stays there, and a new agent begins again"
        )
    return found


def _required(takeover: "Takeover | None") -> "Takeover":
    if takeover is None:
        raise ConfigError(
            "no place for states is named, so no machine can take over",
            "Set fleet.takeover_remote and fleet.takeover_prefix, as they are set on the other machine.",
        )
    return takeover


def _moved_away(path: str, state: "State") -> str:
    """Rename it; returns the new name, or empty: it was not there. Repeated after a kill, it keeps the first one."""
    name = f"{path}.before-{int(state.at)}"
    if not os.path.lexists(path) or os.path.lexists(name):
        return ""
    os.rename(path, name)
    return name
