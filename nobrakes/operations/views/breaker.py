"""The Breaker Box on one page: what may start and how much, which providers refuse, what was spent under caps."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ...core.hindrances import Hindrance
from ...core.limits.caps import DAY_SECONDS, HOUR_SECONDS, day_start, hour_start
from ...core.limits.cooldowns import Cooldown
from ...paths import Paths
from .. import control
from ..cooldowns import CapView, caps_of
from ..hindrances.look import hindrances
from ..machine_wide.views import MachineView, shown
from .board import Worker, workers

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...ports.store import Store


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that can be changed while it runs. `is_changed`: not as in config.toml."""

    name: str
    value: str
    of_config: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class CapLine:
    """A cap with when it starts anew (seconds since 1970), where it does by itself."""

    cap: CapView
    resets_at: float | None


@dataclass(frozen=True, slots=True)
class BreakerView:
    """Everything that holds agents back or lets them go. `stands`: what holds up more than single beads now."""

    paused: bool
    stopping: bool
    working: tuple[Worker, ...]
    limits: tuple[Limit, ...]
    gates: tuple[Cooldown, ...]
    caps: tuple[CapLine, ...]
    machine: MachineView | None
    stands: tuple[Hindrance, ...]
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
        tuple(one for one in hindrances(store, paths, config, misconfigured=misconfigured).found if one.stops),
        board.now,
    )


def resets_at(cap: str, now: float) -> float | None:
    """When a cap starts anew by itself: a day's at midnight UTC, an hour's at the full hour."""
    if cap.startswith("day."):
        return day_start(now) + DAY_SECONDS
    return hour_start(now) + HOUR_SECONDS if cap == "calls_per_hour" else None


def _limits(store: "Store", config: "Config") -> tuple[Limit, ...]:
    from ...config.sections import FROM_THE_START, LimitSettings

    changed: Mapping[str, float] = control.overrides(store)
    found = []
    for one in fields(LimitSettings):
        if one.name not in FROM_THE_START:
            own = getattr(config.limits, one.name)
            found.append(Limit(one.name, f"{changed.get(one.name, own):g}", f"{own:g}", one.name in changed))
    return tuple(found)
