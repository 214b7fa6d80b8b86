"""What the promises look at: everything in the simulated world but the daemon itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nobrakes.beads.model import Bead
from nobrakes.config.settings import Config
from nobrakes.daemon.model import Board
from nobrakes.decisions.model import EscalationType
from nobrakes.host.port import Notice
from nobrakes.store import Store

from .clock import FakeClock
from .fake_git import FakeGit
from .fake_machine import FakeMachine
from .fake_nodes import FakeNodes
from .fake_processes import FakeProcesses
from .features import Features
from .noticing import Noticing
from .providers import Providers
from .readers import Readers
from .replay import Observed
from .requested import RequestedFakeGit
from .sessions import Sessions
from .stumbling import Stumbling
from .talking import Talking

MAX_BEADS = 1000
"""More than there are in any simulated world."""


Difference = dict[str, tuple[str | None, str | None]]
"""What differs between two trees: each path with its text before and after."""


@dataclass
class Approved:
    """What the promise about approvals remembers.

    How many moves of main it has seen, the beads that had the label then, and what each question was about.
    """

    landings: int = 0
    labelled: set[str] = field(default_factory=set)
    shown: dict[int, Difference] = field(default_factory=dict)


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


@dataclass
class Scene:
    """The store, the fakes, and what was seen so far. `board` and `beads` are of the last `look`."""

    config: Config
    clock: FakeClock
    store: Store
    git: FakeGit
    processes: FakeProcesses
    sessions: Sessions
    talking: Talking
    noticing: Noticing | None = None
    notes: Notes = field(default_factory=Notes)
    tally: Tally = field(default_factory=Tally)
    observed: Observed = field(default_factory=Observed)
    providers: Providers | None = None
    machine: FakeMachine | None = None  # where it is shared with other daemons
    nodes: FakeNodes | None = None  # where agents and checks run on other machines
    board: Board = field(default_factory=lambda: Board(0.0))
    beads: Sequence[Bead] = ()
    has_questions: bool = False  # agents ask with options here
    given: list[Any] = field(default_factory=list)  # the answers that agents were given (questions.Given)
    looked_into: set[str] = field(default_factory=set)  # the runs whose prompts were read for that
    approved: Approved | None = None  # where people look before the merge
    readers: Readers | None = None  # where code review reads what passed
    features: Features | None = None  # where people plan features
    requested: RequestedFakeGit | None = None  # where work lands by requests
    stumbling: Stumbling | None = None  # where a bug is met in what is about one bead
    handed_in: dict[str, str] = field(default_factory=dict)  # commits that people handed in, and for which bead
    wrong_answers: list[str] = field(default_factory=list)

    def with_a_person(self) -> set[str]:
        """Beads that are on main by halves: a person was told of a failed revert."""
        return {
            one.bead
            for one in self.store.escalations(open_only=False)
            if one.type is EscalationType.MAIN_RED and one.evidence.get("reverted") is False and one.bead is not None
        }

    def look(self) -> None:
        """Ask the store once, for all promises of this step."""
        self.board = self.store.board(self.config.board_limits(), MAX_BEADS)
        self.beads = self.store.beads()
