"""What the daemon works with: the doors to the world, given to it whole by `app` (or by the simulation)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..agents.adapter import Adapter
from ..config import Config
from ..core.board import Limits
from ..places import Places
from ..ports import Git, Notifier, Processes, Store


@dataclass(frozen=True, slots=True)
class Doors:
    """The doors, and the few facts about this machine that agents and checks are started with."""

    store: Store
    git: Git
    processes: Processes
    notifier: Notifier
    places: Places
    config: Callable[[], Config]  # the settings as they are now; the last good ones while the file is broken
    limits: Callable[[], Limits]  # with what a person changed while it runs
    adapter: Callable[[str], Adapter]
    environment: Mapping[str, str]  # what agents and checks see of the human's environment
    credentials: Mapping[str, str] = field(default_factory=dict)  # what agents alone may be given, by their adapter
    guard: tuple[str, ...] = ()  # argv of the guard that agent CLIs call before each tool
