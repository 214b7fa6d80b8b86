"""What the promises look at: everything in the simulated world but the daemon itself."""

from dataclasses import dataclass, field

from ..config import Config
from ..ports import Notice, Store
from .clock import FakeClock
from .fakegit import FakeGit
from .fakeprocesses import FakeProcesses
from .replay import Observed


class Notes:
    """A notifier that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Notice] = []

    def tell(self, notice: Notice) -> None:
        """Keep it."""
        self.told.append(notice)


@dataclass
class Tally:
    """What a run went through."""

    steps: int = 0
    turns: int = 0
    boots: int = 0
    reboots: int = 0
    stops: int = 0
    acts: int = 0


@dataclass(frozen=True)
class Scene:
    """The store, the fakes, and what was seen so far."""

    config: Config
    clock: FakeClock
    store: Store
    git: FakeGit
    processes: FakeProcesses
    notes: Notes = field(default_factory=Notes)
    tally: Tally = field(default_factory=Tally)
    observed: Observed = field(default_factory=Observed)
