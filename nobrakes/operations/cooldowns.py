"""Gates of providers, breakers of beads, and what was spent under the caps: looking, and a person's overrides."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.limits.caps import Cap, Caps, Spent
from ..core.limits.cooldowns import Cooldown
from ..paths import Paths
from . import control
from .machine_wide.views import MachineView, shown
from .waking import wake

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..ports import Store


@dataclass(frozen=True, slots=True)
class CapView:
    """A cap that is set for all beads, and what was spent under it."""

    name: str
    spent: float
    limit: float


@dataclass(frozen=True, slots=True)
class GatesView:
    """What holds agents back, at one moment."""

    now: float
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]
    machine: MachineView | None = None  # what all repositories share, where that is limited


def caps_of(caps: Caps, spent: Spent) -> tuple[CapView, ...]:
    """Spent and cap, for each that is set."""
    found = []
    for name, cap, amount in (("day", caps.day, spent.day), ("run", caps.run, spent.run)):
        for part in fields(Cap):
            limit = getattr(cap, part.name)
            if limit is not None:
                found.append(CapView(f"{name}.{part.name}", getattr(amount, part.name), limit))
    if caps.calls_per_hour is not None:
        found.append(CapView("calls_per_hour", spent.calls, caps.calls_per_hour))
    return tuple(found)


def view(store: "Store", config: "Config") -> GatesView:
    """The gates and the caps now."""
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    return GatesView(board.now, tuple(board.gates.values()), caps_of(limits.caps, board.spent), shown())


def end_cooldown(store: "Store", paths: Paths, provider: str, actor: str) -> bool:
    """Start agents at the provider again; False: its gate was open. UsageError where nothing ever closed it."""
    opened = store.end_cooldown(provider, actor)
    if not opened and provider not in _known():
        names = ", ".join(sorted(_known()))
        raise UsageError(f"there is no provider '{provider[:40]}'", f"Providers are: {names}.")
    wake(paths)
    return opened


def _known() -> set[str]:
    from ..agents.registry import ADAPTERS

    return {agent.provider for agent in ADAPTERS.values() if agent.provider}


def reset(store: "Store", paths: Paths, bead: str, actor: str) -> int:
    """Let agents try the bead once more, though its breakers are open; how many breakers that were."""
    found = store.reset_breakers(bead, actor)
    wake(paths)
    return found
