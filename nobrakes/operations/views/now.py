"""What a person wants to know first, in this order: does anything need me, is anything broken, what runs, what was
merged, and when is it done.

Only the store and files are read: no process is started.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.bead import Role
from ...core.beads.escalations import Escalation
from ...core.beads.events import Event, Kind
from ...core.board import Limits
from ...core.forecast import Forecast, Merge, forecast
from ...core.limits.cooldowns import Cooldown
from ...paths import Paths
from .. import control
from ..cooldowns import CapView, caps_of
from ..flakes import quarantined
from ..hindrances.look import hindrances
from ..machine_wide.views import MachineView
from ..machine_wide.views import shown as machine_shown
from ..sessions import Rings
from .board import Speaker, Worker, counts, degraded, speakers, workers
from .history import Review, reviews
from .next_step import NextStep, next_step

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...core.review.quarantine import Quarantined
    from ...ports import Store

MERGED = 8
LATEST = 20
"""So many merges a forecast stands on."""
NEWS = 12
_NEWS = tuple(Kind)
_WAITING = ("draft", "blocked", "ready", "working", "review", "escalated")


@dataclass(frozen=True, slots=True)
class AtWork:
    """Who works, and the newest line that its agent said."""

    worker: Worker
    line: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A bead that is on main."""

    bead: str
    title: str
    at: float


@dataclass(frozen=True, slots=True)
class Broken:
    """What does not work or keeps work from going on. Empty fields: nothing of the kind."""

    frozen: str | None
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]  # those that are reached
    degraded: tuple[str, ...]
    quarantined: tuple["Quarantined", ...]
    no_checks: bool
    machine: MachineView | None
    config: str  # what is wrong in config.toml


@dataclass(frozen=True, slots=True)
class NowView:
    """One screen. `left` counts what is not done, `chain` the beads of it that wait for each other in a row."""

    needs: tuple[Escalation, ...]
    broken: Broken
    working: tuple[AtWork, ...]
    reviewing: tuple[Review, ...]
    sessions: tuple[Speaker, ...]
    merged: tuple[Merged, ...]
    news: tuple[Event, ...]
    titles: Mapping[str, str]  # of the beads that the rest speaks of
    counts: Mapping[str, int]
    left: int
    chain: int
    forecast: Forecast | None
    next: NextStep
    now: float


def now(store: "Store", paths: Paths, config: "Config", misconfigured: str = "") -> NowView:
    """As it is now."""
    counted = counts(store)
    left = sum(counted[name] for name in _WAITING)
    chain = len(store.longest_chain())
    merged = _merged(store)
    needs = tuple(store.escalations())
    at_work = workers(store)
    news = tuple(store.latest_events(_NEWS, None, NEWS))
    known = {*(one.bead for one in news), *(one.bead for one in needs)} - {None}
    titles = {bead.id: bead.title for bead in store.beads(ids=sorted(filter(None, known)))} if known else {}
    return NowView(
        needs,
        _broken(store, paths, config, misconfigured),
        _said(store, paths, at_work),
        tuple(one for one in reviews(store, 6) if one.outcome is None),
        speakers(store),
        merged[:MERGED],
        news,
        titles,
        counted,
        left,
        chain,
        forecast(left, chain, _took(store, merged)),
        next_step(store, hindrances(store, paths, config)),
        store.now(),
    )


def _broken(store: "Store", paths: Paths, config: "Config", misconfigured: str) -> Broken:
    board = store.board(control.limits(store, config), 1)
    caps = caps_of(board.limits.caps, board.spent, board.now)
    return Broken(
        store.setting(control.FROZEN),
        tuple(board.gates.values()),
        tuple(cap for cap in caps if cap.spent >= cap.limit),
        degraded(paths, config),
        quarantined(store),
        not config.checks,
        machine_shown(),
        misconfigured,
    )


def _said(store: "Store", paths: Paths, found: tuple[Worker, ...]) -> tuple[AtWork, ...]:
    rings = Rings(paths)
    open_ones = {one.id: one for one in store.board(Limits(), 1).attempts}
    agents = [one for one in found if one.role is not Role.REVIEWER]
    return tuple(
        AtWork(one, rings.last_line(open_ones[one.attempt]) if one.attempt in open_ones else "") for one in agents
    )


def _merged(store: "Store") -> tuple[Merged, ...]:
    """The latest, newest first; a bead that was merged again stands there once."""
    events = store.latest_events((Kind.MERGED, Kind.FOUND_MERGED), None, LATEST)
    titles = {bead.id: bead.title for bead in store.beads(ids=[e.bead for e in events if e.bead])} if events else {}
    found: dict[str, Merged] = {}
    for event in events:
        if event.bead in titles and event.bead not in found:
            found[event.bead] = Merged(event.bead, titles[event.bead], event.at)
    return tuple(found.values())


def _took(store: "Store", merged: tuple[Merged, ...]) -> list[Merge]:
    found = []
    for one in merged:
        attempts = store.attempts(one.bead)
        if attempts:
            found.append(Merge(min(attempt.started_at for attempt in attempts), one.at))
    return found
