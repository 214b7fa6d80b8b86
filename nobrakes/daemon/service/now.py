"""What a person wants to know first, in this order: does anything need me, is anything broken, what runs, what was
merged, and when is it done.

Only the store and files are read; git alone is asked for main's newest commit.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from ...agents.adapter import TranscriptLine
from ...agents.known import adapter
from ...agents.limits import DAY_SECONDS, HOUR_SECONDS, Cooldown, Cost, day_start, hour_start
from ...beads.model import Role
from ...beads.service.bead_page import Review, reviews
from ...config.sections import FROM_THE_START, LimitSettings
from ...config.settings import Config
from ...decisions.blockers import Blocker, Kind
from ...decisions.model import Escalation
from ...decisions.service.all_blockers import asks, blockers
from ...errors import NobrakesError
from ...events.kinds import Event
from ...events.kinds import Kind as Happened
from ...host.locks import holder
from ...host.watching import Changes
from ...machine.registry import MachineView, shown
from ...paths import Paths
from ...records import frozen
from ...sessions.service.viewing import AgentOutput, Ring, Rings, attempt_output, turn_output
from ..model import Limits
from . import control
from .control import CapView, caps_of
from .status import (
    FirstScreen,
    NextStep,
    OpenSession,
    Worker,
    counts,
    degraded,
    first_screen,
    next_step,
    nodes_line,
    open_sessions,
    workers,
)

if TYPE_CHECKING:
    from ...fleet.model import NodesLine
    from ...git.port import Git
    from ...store import Store


SILENT_SECONDS = 20.0


@frozen
class BarView:
    """`daemon`: its pid. `silent`: seconds of an ignored wake-up, None: it works. `seq`, `at`: of the last event."""

    name: str
    main: str
    daemon: int | None
    silent: float | None
    paused: bool
    stopping: bool
    frozen: bool
    taken: int
    slots: int
    needs: int
    seq: int
    at: float | None
    now: float


def bar(store: "Store", paths: Paths, config: "Config", misconfigured: str = "") -> BarView:
    """As it is now."""
    limits = control.limits(store, config)
    now = store.now()
    taken = sum(1 for _ in store.board(Limits(), 1).agents)
    last = next(iter(store.latest_events(Happened, None, 1)), None)
    daemon = holder(paths.lock)
    return BarView(
        os.path.basename(paths.root),
        config.main,
        daemon,
        unread(paths) if daemon is not None else None,
        bool(store.setting(control.PAUSED)),
        bool(store.setting(control.STOPPING)),
        bool(store.setting(control.FROZEN)),
        taken,
        limits.doers,
        len(store.escalations()) + len(asks(store, paths, config, misconfigured)),
        last.seq if last else 0,
        last.at if last else None,
        now,
    )


def last_seq(store: "Store") -> int:
    return next((event.seq for event in store.latest_events(Happened, None, 1)), 0)


def unread(paths: Paths) -> float | None:
    """Seconds of an ignored wake-up; None: not for long."""
    try:
        times = [entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(paths.wake) if entry.is_file()]
    except OSError:
        return None
    waited = time.time() - min(times) if times else 0.0
    return waited if waited > SILENT_SECONDS else None


@frozen
class Limit:
    """A limit that can change at runtime. `is_changed`: differs from config.toml."""

    name: str
    value: str
    of_config: str
    is_changed: bool
    help: str = ""


@frozen
class CapLine:
    """A cap and when it restarts (seconds since 1970), if by itself."""

    cap: CapView
    resets_at: float | None


@frozen
class BreakerView:
    """What holds agents back. `stands`: blockers of more than single beads."""

    paused: bool
    stopping: bool
    working: tuple[Worker, ...]
    limits: tuple[Limit, ...]
    gates: tuple[Cooldown, ...]
    caps: tuple[CapLine, ...]
    machine: MachineView | None
    stands: tuple[Blocker, ...]
    now: float


def breaker(store: "Store", paths: Paths, config: "Config", misconfigured: str = "") -> BreakerView:
    """As it is now."""
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    caps = tuple(CapLine(cap, resets_at(cap.name, board.now)) for cap in caps_of(limits.caps, board.spent, board.now))
    return BreakerView(
        bool(store.setting(control.PAUSED)),
        bool(store.setting(control.STOPPING)),
        workers(store),
        _limits(store, config),
        tuple(board.gates.values()),
        caps,
        shown(),
        tuple(one for one in blockers(store, paths, config, misconfigured=misconfigured).found if one.stops),
        board.now,
    )


def resets_at(cap: str, now: float) -> float | None:
    """A day restarts at midnight UTC, an hour at the full hour."""
    if cap.startswith("day."):
        return day_start(now) + DAY_SECONDS
    return hour_start(now) + HOUR_SECONDS if cap == "calls_per_hour" else None


COST_DAYS, MAX_COSTLY = 7, 20


@frozen
class Costly:
    """A day, bead or feature. `id` is empty for a day."""

    id: str
    title: str
    cost: Cost
    at: float = 0.0


@frozen
class CostView:
    """What agents cost: this week, and each of its days (UTC), newest first; its costliest beads; every feature."""

    week: Cost
    days: tuple[Costly, ...]
    beads: tuple[Costly, ...]
    features: tuple[Costly, ...]
    caps: tuple[CapView, ...]


def costs(store: "Store", config: "Config") -> CostView:
    """A day has what was spent since it began, without what was spent since the next one began."""
    midnight = day_start(store.now())
    begins = [midnight - day * DAY_SECONDS for day in range(COST_DAYS)]
    sums = [Cost(), *map(store.cost_since, begins)]
    days = (Costly("", "", cost.without(later), at) for at, cost, later in zip(begins, sums[1:], sums, strict=False))
    costly = store.costliest(begins[-1], MAX_COSTLY)
    beads = {bead.id: bead for bead in store.beads(ids=costly)} if costly else {}
    features = sorted(store.features(going=False), key=lambda one: -one.created_at)[:MAX_COSTLY]
    board = store.board(limits := control.limits(store, config), 1)
    return CostView(
        sums[-1],
        tuple(one for one in days if one.cost.seconds >= 1 or one.cost.usd or one.cost.tokens),
        tuple(Costly(id, beads[id].title, store.cost_of(id)) for id in costly),
        tuple(Costly(one.id, one.title, store.cost_of(one.id)) for one in features),
        caps_of(limits.caps, board.spent, board.now),
    )


def _limits(store: "Store", config: "Config") -> tuple[Limit, ...]:
    from ...config import editing

    changed: Mapping[str, float] = control.overrides(store)
    helps = {one.name: one.comment for one in editing.settings() if one.section == "limits"}
    found = []
    for one in fields(LimitSettings):
        if one.name not in FROM_THE_START:
            own, text = getattr(config.limits, one.name), helps.get(one.name, "")
            found.append(Limit(one.name, f"{changed.get(one.name, own):g}", f"{own:g}", one.name in changed, text))
    return tuple(found)


MAX_UPDATES = 12
_UPDATE_KINDS = tuple(Happened)
_SWITCHES = (Kind.PAUSED, Kind.STOPPING)


@frozen
class AtWork:
    """A worker and its agent's newest line."""

    worker: Worker
    line: str


@frozen
class NowView:
    """One screen. `broken`: blockers of more than single beads; `degraded`: agents or git with reduced function."""

    needs: tuple[Escalation, ...]
    asks: tuple[Blocker, ...]  # what else waits for a person, and is not broken
    broken: tuple[Blocker, ...]
    degraded: tuple[str, ...]
    working: tuple[AtWork, ...]
    reviewing: tuple[Review, ...]
    sessions: tuple[OpenSession, ...]
    news: tuple[Event, ...]
    titles: Mapping[str, str]  # of the beads that the rest speaks of
    counts: Mapping[str, int]
    first: FirstScreen
    next: NextStep
    now: float
    nodes: "NodesLine | None" = None  # where agents and checks run on nodes


def now(
    store: "Store", git: "Git", paths: Paths, config: "Config", misconfigured: str = "", is_visiting: bool = False
) -> NowView:
    """As it is now."""
    needs = tuple(store.escalations())
    news = tuple(store.latest_events(_UPDATE_KINDS, None, MAX_UPDATES))
    stands = blockers(store, paths, config, misconfigured=misconfigured)
    at_work = workers(store, stands.works)
    known = {*(one.bead for one in news), *(one.bead for one in needs)} - {None}
    titles = {bead.id: bead.title for bead in store.beads(ids=sorted(filter(None, known)))} if known else {}
    return NowView(
        needs,
        tuple(one for one in stands.asks if not _is_broken(one)),
        tuple(one for one in stands.found if _is_broken(one)),
        degraded(store, paths, config),
        _said(store, paths, at_work),
        tuple(one for one in reviews(store, 6) if one.outcome is None and stands.works),
        open_sessions(store),
        news,
        titles,
        counts(store),
        first_screen(store, git, paths, config, stands, at_work, is_visiting),
        next_step(store, stands, config.forge),
        store.now(),
        nodes_line(paths, config),
    )


def _is_broken(one: Blocker) -> bool:
    return (one.stops and one.kind not in _SWITCHES) or one.kind in (Kind.MERGE_WAITS, Kind.QUARANTINED)


def _said(store: "Store", paths: Paths, found: tuple[Worker, ...]) -> tuple[AtWork, ...]:
    rings = Rings(paths)
    open_ones = {one.id: one for one in store.board(Limits(), 1).attempts}
    agents = [one for one in found if one.role is not Role.REVIEWER]
    return tuple(
        AtWork(one, rings.last_line(open_ones[one.attempt]) if one.attempt in open_ones else "") for one in agents
    )


PAGE = 500


# Made and used in one thread, but for `wake`. Nothing is written, and no daemon is asked.
class Feed:
    """One repository."""

    def __init__(self, store: "Store", paths: "Paths", after: int) -> None:
        self._store = store
        self._paths = paths
        self.seq = after
        self._changed = threading.Event()
        self._rings: dict[str, tuple[Ring, int]] = {}
        self._changes = Changes(paths.folder, "nobrakes.db", self._changed.set)

    def wait(self, seconds: float) -> bool:
        found = self._changed.wait(seconds)
        self._changed.clear()
        return found

    def wake(self) -> None:
        self._changed.set()

    def events(self) -> Sequence[Event]:
        """New events, oldest first; at most a page."""
        if found := self._store.events(self.seq, PAGE):
            self.seq = found[-1].seq
        return found

    def daemon(self) -> tuple[int | None, bool]:
        """The daemon's pid, and whether it ignores a wake-up: no event tells that."""
        pid = holder(self._paths.lock)
        return pid, pid is not None and unread(self._paths) is not None

    def lines(self, topic: str) -> tuple[int, list[TranscriptLine]]:
        """(number of the first line, new lines) of the agent in attempt N (`s:N`) or turn N (`t:N`); none if gone."""
        if topic not in self._rings:
            try:
                session = self._output(topic[0], int(topic[2:]))
            except NobrakesError:
                return 0, []
            self._rings[topic] = Ring(session.path, adapter(session.agent).lines), 0
        ring, count = self._rings[topic]
        found = list(ring.read_on())
        self._rings[topic] = ring, count + len(found)
        return count, found

    def _output(self, kind: str, number: int) -> AgentOutput:
        if kind == "s":
            return attempt_output(self._paths, self._store.attempt(number))
        turn = self._store.turn(number)
        return turn_output(self._paths, self._store.session(turn.session), turn)

    def forget(self, topic: str) -> None:
        self._rings.pop(topic, None)

    def close(self) -> None:
        self._changes.close()
