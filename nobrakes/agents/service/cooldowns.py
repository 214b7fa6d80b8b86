"""Gates of providers, breakers of beads, and what was spent under the caps: looking, and a person's overrides."""

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from ...daemon.service import control
from ...errors import UsageError
from ...events.kinds import Event, Kind
from ...host.files import wake
from ...machine.registry import MachineView, shown
from ...paths import Paths
from ...records import frozen
from ..limits import CALLS, CAP_LIFTED, WORKSPACES, Cap, Caps, Cooldown, Spent, ends_at, period_of

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...store import Store


@frozen
class CapView:
    """A cap that is set for all beads, and what was spent under it."""

    name: str
    spent: float
    limit: float
    lifted: bool = False  # a person lets agents start beyond it until its period ends


@frozen
class GatesView:
    """What holds agents back, at one moment."""

    now: float
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]
    machine: MachineView | None = None  # what all repositories share, where that is limited


def caps_of(caps: Caps, spent: Spent, now: float) -> tuple[CapView, ...]:
    """Spent and cap, for each that is set."""
    found = []
    for name, cap, amount in (("day", caps.day, spent.day), ("run", caps.run, spent.run)):
        for part in fields(Cap):
            if (limit := getattr(cap, part.name)) is not None:
                found.append(CapView(f"{name}.{part.name}", getattr(amount, part.name), limit))
    if caps.calls_per_hour is not None:
        found.append(CapView(CALLS, spent.calls, caps.calls_per_hour))
    return tuple(replace(one, lifted=spent.lifted.get(one.name) == period_of(one.name, spent, now)) for one in found)


def view(store: "Store", config: "Config") -> GatesView:
    """The cooldowns and the caps now."""
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    return GatesView(board.now, tuple(board.gates.values()), caps_of(limits.caps, board.spent, board.now), shown())


@frozen
class Lifted:
    """A cap that a person lifted, or lets hold again. `until`: when its period ends; None: with the run."""

    name: str
    spent: float
    limit: float
    until: float | None
    lifted: bool


def lift(store: "Store", paths: Paths, config: "Config", name: str, is_lifted: bool, actor: str) -> Lifted:
    """Let agents start beyond this cap until its period ends, or let it hold again. UsageError: it is not set."""
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    found = {one.name: one for one in caps_of(limits.caps, board.spent, board.now)}
    if name not in found:
        known = f"Set are: {', '.join(found)}." if found else "No cap for all beads is set in .nobrakes/config.toml."
        raise UsageError(f"there is no cap '{name[:40]}' that could be lifted", known)
    one = found[name]
    if one.lifted != is_lifted:
        with store.write():
            store.set_setting(f"{CAP_LIFTED}{name}", period_of(name, board.spent, board.now) if is_lifted else None)
            before, after = ("holds", "lifted") if is_lifted else ("lifted", "holds")
            data = {"before": {f"caps.{name}": before}, "after": {f"caps.{name}": after}}
            store.record(Event(Kind.LIMITS_CHANGED, actor=actor, data=data))
    wake(paths)
    return Lifted(name, one.spent, one.limit, ends_at(name, board.now), is_lifted)


def end_cooldown(store: "Store", paths: Paths, provider: str, actor: str) -> bool:
    """Start agents at the provider again; False: it had no cooldown. UsageError where nothing ever closed it."""
    opened = store.end_cooldown(provider, actor)
    if not opened and provider not in _known():
        names = ", ".join(sorted(_known()))
        raise UsageError(f"there is no provider '{provider[:40]}'", f"Providers are: {names}.")
    wake(paths)
    return opened


def _known() -> set[str]:
    from ..registry import ADAPTERS

    return {WORKSPACES, *(agent.provider for agent in ADAPTERS.values() if agent.provider)}


def reset(store: "Store", paths: Paths, bead: str, actor: str) -> int:
    """Let agents try the bead once more, though its breakers are open; how many breakers that were."""
    found = store.reset_breakers(bead, actor)
    wake(paths)
    return found
