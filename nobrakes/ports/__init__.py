"""The only doors to the world, as Protocols over core's values: Clock, Store, Git, Processes, Notifier, Background,
MachineWide.

1. Paths are absolute strings, object ids full lowercase hex, times seconds since 1970 UTC by the store's clock.
2. A method either does the whole of what it says or raises a core.errors.NobrakesError and did nothing.
3. Every method may be called again after a crash between its effect and its return: it must be idempotent.
4. Each module is imported when a name of it is asked for: most commands need the Store only, and start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .git import Argv, Candidate, Conflict, Git, Land, Landing, Lands, Message, Workspace
    from .machine import MachineWide
    from .people import Background, Clock, Notice, Notifier
    from .processes import Born, ChannelServer, Command, Ending, Login, Processes, Remains, Reports, Step, StepEnd
    from .reviews import ByHand
    from .store import NO_ANSWERS, Changes, NewEscalation, Position, Restored, Store

__all__ = [
    "NO_ANSWERS",
    "Argv",
    "Background",
    "Born",
    "ByHand",
    "Candidate",
    "Changes",
    "ChannelServer",
    "Clock",
    "Command",
    "Conflict",
    "Ending",
    "Git",
    "Land",
    "Landing",
    "Lands",
    "Login",
    "MachineWide",
    "Message",
    "NewEscalation",
    "Notice",
    "Notifier",
    "Position",
    "Processes",
    "Remains",
    "Reports",
    "Restored",
    "Step",
    "StepEnd",
    "Store",
    "Workspace",
]

_HOME = {
    **dict.fromkeys(
        ("Argv", "Candidate", "Conflict", "Git", "Land", "Landing", "Lands", "Message", "Workspace"), "git"
    ),
    "ByHand": "reviews",
    "MachineWide": "machine",
    **dict.fromkeys(("Background", "Clock", "Notice", "Notifier"), "people"),
    **dict.fromkeys(("Born", "Command", "ChannelServer", "Ending", "Login", "Processes", "Remains"), "processes"),
    **dict.fromkeys(("Reports", "Step", "StepEnd"), "processes"),
    **dict.fromkeys(("NO_ANSWERS", "Changes", "NewEscalation", "Position", "Restored", "Store"), "store"),
}


def __getattr__(name: str) -> object:
    """A name of `__all__`, from the module that it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found
