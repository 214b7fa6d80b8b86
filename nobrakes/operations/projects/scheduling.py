"""Sprints that begin at a time, for people: asked for, listed, taken away. A yes is for what is shown with it."""

from dataclasses import dataclass

from ...core.errors import UsageError
from ...core.projects import schedules
from ...core.projects.schedules import MOST_LATE, Schedule, clock_time, named_days
from ...host.zone import local_zone, named_zone
from ...paths import Paths
from ...ports.store import Store
from ..waking import wake
from .running import Offer


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """A schedule, and when it is due next, in seconds since 1970."""

    schedule: Schedule
    next_at: float


def wanted(at: str, days: str, zone: str, late_hours: float, offer: Offer, actor: str) -> Schedule:
    """The schedule that these words ask for. UsageError."""
    clock = clock_time(at)
    if zone and named_zone(zone) is None:
        raise UsageError(f"'{zone[:60]}' is no time zone that is known here", "As Europe/Berlin, or UTC.")
    if not 0 < late_hours <= MOST_LATE:
        raise UsageError(f"--late-hours is above 0 and at most {MOST_LATE:g}")
    said = f"{clock:%H:%M}"
    return Schedule(
        0, said, named_days(days), zone, offer.sprints, late_hours, offer.needs_tests, offer.terms, actor, 0.0
    )


def add(store: Store, paths: Paths, one: Schedule) -> ScheduleView:
    """Keep it, and let the daemon know."""
    made = store.add_schedule(one)
    wake(paths)
    return _view(store, made)


def remove(store: Store, paths: Paths, number: int, actor: str) -> None:
    """Take it away; what it began goes on. UsageError."""
    if not store.remove_schedule(number, actor):
        raise UsageError(f"there is no schedule {number}", "`nobrakes project schedule NAME` lists them.")
    wake(paths)


def listed(store: Store) -> list[ScheduleView]:
    """All that begin something."""
    return [_view(store, one) for one in store.schedules()]


def _view(store: Store, one: Schedule) -> ScheduleView:
    zone = named_zone(one.zone) or local_zone()
    return ScheduleView(one, schedules.next_due(one, zone, store.now()))
