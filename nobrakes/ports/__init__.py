"""The only doors to the world: Clock, Store, Git, Processes, Notifier, as Protocols over core's values.

1. Paths are absolute strings, object ids full lowercase hex, times seconds since 1970 UTC by the store's clock.
2. A method either does the whole of what it says or raises a core.errors.NobrakesError and did nothing.
3. Every method may be called again after a crash between its effect and its return: it must be idempotent.
"""

from .git import Argv, Candidate, Conflict, Git, Land, Landing, Message, Workspace
from .people import Clock, Notice, Notifier
from .processes import Born, Command, Ending, Processes, Step, StepEnd
from .store import NewEscalation, Store

__all__ = [
    "Argv",
    "Born",
    "Candidate",
    "Clock",
    "Command",
    "Conflict",
    "Ending",
    "Git",
    "Land",
    "Landing",
    "Message",
    "NewEscalation",
    "Notice",
    "Notifier",
    "Processes",
    "Step",
    "StepEnd",
    "Store",
    "Workspace",
]
