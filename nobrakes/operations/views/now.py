"""What a person wants to know first, in this order: does anything need me, is anything broken, what runs, what was
merged, and when is it done.

Only the store and files are read: no process is started.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.beads.bead import Role
from ...core.beads.escalations import Escalation
from ...core.beads.events import MERGES, Event
from ...core.beads.events import Kind as Happened
from ...core.board import Limits
from ...core.forecast import Forecast, Merge, forecast
from ...core.hindrances import Hindrance, Kind
from ...paths import Paths
from ..hindrances.look import hindrances
from ..sessions import Rings
from .board import Speaker, Worker, counts, degraded, speakers, workers
from .history import Review, reviews
from .next_step import NextStep, next_step

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...ports.store import Store

MERGED = 8
LATEST = 20
"""So many merges a forecast stands on."""
NEWS = 12
_NEWS = tuple(Happened)
_SETTINGS = (Kind.CONFIG, Kind.NO_CHECK)
"""What `nobrakes` alone does not look at; the next step is the same here and there."""
_SWITCHES = (Kind.PAUSED, Kind.STOPPING)
_WAITING = ("draft", "blocked", "ready", "working", "review", "requested", "escalated")


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
class NowView:
    """One screen. `left` counts what is not done, `chain` the beads of it that wait for each other in a row.

    `broken` is what of the hindrances holds up more than single beads and is no switch of the person's, with merges
    that wait and what may fail; `degraded` are agents' programs that do not do all that is wanted of them.
    """

    needs: tuple[Escalation, ...]
    broken: tuple[Hindrance, ...]
    degraded: tuple[str, ...]
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
    stands = hindrances(store, paths, config, misconfigured=misconfigured)
    known = {*(one.bead for one in news), *(one.bead for one in needs)} - {None}
    titles = {bead.id: bead.title for bead in store.beads(ids=sorted(filter(None, known)))} if known else {}
    return NowView(
        needs,
        tuple(one for one in stands.found if _is_broken(one)),
        degraded(paths, config),
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
        next_step(store, replace(stands, found=tuple(one for one in stands.found if one.kind not in _SETTINGS))),
        store.now(),
    )


def _is_broken(one: Hindrance) -> bool:
    return (one.stops and one.kind not in _SWITCHES) or one.kind in (Kind.MERGE_WAITS, Kind.QUARANTINED)


def _said(store: "Store", paths: Paths, found: tuple[Worker, ...]) -> tuple[AtWork, ...]:
    rings = Rings(paths)
    open_ones = {one.id: one for one in store.board(Limits(), 1).attempts}
    agents = [one for one in found if one.role is not Role.REVIEWER]
    return tuple(
        AtWork(one, rings.last_line(open_ones[one.attempt]) if one.attempt in open_ones else "") for one in agents
    )


def _merged(store: "Store") -> tuple[Merged, ...]:
    """The latest, newest first; a bead that was merged again stands there once."""
    events = store.latest_events(MERGES, None, LATEST)
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
