"""The daemon's ports to git, processes and people; `app` (or the simulation) passes them in."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Protocol

from .agents.adapter import Adapter
from .agents.limits import MachineRoom
from .config.settings import Config
from .daemon.model import Board, Limits
from .errors import NoSandbox, NotAllowed
from .git.port import Git
from .host.port import Background, ChannelServer, Login, Notifier, Processes
from .notices.model import Channels, NoChannels
from .paths import Paths
from .records import frozen
from .requests.hosts.port import IssueTracker, PullPorts
from .requests.model import Where

if TYPE_CHECKING:
    from .features.service.shaping import Words
    from .snapshot.worker import StateSaver
    from .store import Store


class NoChannel:
    """For a daemon without confined agents."""

    def start(self) -> None: ...

    def close(self) -> None: ...

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """Raises NoSandbox, since confined agents need a server."""
        raise NoSandbox("an agent is to be confined, and nobody would hear it")

    def end(self, run: str) -> None: ...

    def failed(self) -> Mapping[str, Exception]:
        return {}


class MachineWide(Protocol):
    """One daemon's view of a shared machine: places for agents, a day's costs. Unshared: `look` None, `take` True."""

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """Present limits and usage; None: unlimited. `at_work`: this daemon's living agents, which hold places even
        beyond the limit; its other places are released."""

    def take(self, name: str) -> bool:
        """Take a place for a starting agent; False: there is none. The same name has one place."""

    def give_back(self, name: str) -> None:
        """Nothing was started under this name."""

    def hold(self, name: str) -> None:
        """Take a place for a living agent, beyond the limit if needed."""

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """This repository's total on the day that began at `day`."""

    def close(self) -> None:
        """Release every place, as a kill does."""


class Alone:
    """A daemon that shares nothing."""

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        return None

    def take(self, name: str) -> bool:
        return True

    def give_back(self, name: str) -> None: ...

    def hold(self, name: str) -> None: ...

    def spent(self, day: float, usd: float, tokens: int) -> None: ...

    def close(self) -> None: ...


def _no_words() -> "Words":
    raise NotAllowed("no feature is planned here")


def _no_issues(repository: str) -> IssueTracker:
    raise NotAllowed("no issues are read here")


@frozen
class Ports:
    """The ports, and facts about this machine for starting agents and checks."""

    store: "Store"
    git: Git
    processes: Processes
    notifier: Notifier
    background: Background
    paths: Paths
    config: Callable[[], Config]  # the settings as they are now; the last good ones while the file is broken
    limits: Callable[[], Limits]  # with what a person changed while it runs
    adapter: Callable[[str], Adapter]
    environment: Mapping[str, str]  # what agents and checks see of the human's environment
    credentials: Mapping[str, str] = field(default_factory=dict)  # what agents alone may be given, by their adapter
    sandbox_trouble: Callable[[], str] = lambda: "no sandbox is wanted"  # why bubblewrap does not work; empty: it does
    wall_trouble: Callable[[], str] = lambda: "no wall is wanted"  # why Landlock does not work; empty: it does
    start_trouble: Callable[[str], str] = lambda agent: ""  # why its CLI does not work; empty: it does, or nobody knows
    git_trouble: Callable[[], str] = str  # why git does not work for this account; empty: it does
    channel: ChannelServer = field(default_factory=NoChannel)
    channels: Channels = field(default_factory=NoChannels)  # what sends notices beside the loop
    zone: Callable[[], tzinfo] = lambda: UTC  # of the person's clock: quiet hours are hours of their day
    degraded: Callable[[], list[str]] = list  # what was not told yet of agents and nodes that can do less
    on_nodes: Callable[[Board], Board] = lambda board: board  # as far as other machines run its agents and checks
    steady: Callable[[], tuple[str, float] | None] = lambda: None  # a clock that nobody sets: its boot, and seconds
    modules: Callable[[Sequence[tuple[str, str]]], frozenset[str]] = lambda programs: frozenset()  # what they resolve
    machine: MachineWide = field(default_factory=Alone)  # what it shares with the daemons of other repositories
    pulls: PullPorts | None = None  # where work lands by pull requests
    issues: Callable[[str], IssueTracker] = _no_issues  # those of a repository; empty: of this one
    where: Where = field(default_factory=Where)  # the branch by which work is reviewed here, which `git` has as main
    in_place: Callable[[], None] = lambda: None  # RepositoryReplaced: another repository lies where this one did
    guard: tuple[str, ...] = ()  # argv of the guard that agent CLIs call before each tool
    words: "Callable[[], Words]" = _no_words  # what is done for Shapers outside their turns
    states: "StateSaver | None" = None  # what another machine continues from; None: no place for it is named
    export: Callable[[], None] = lambda: None  # brings the file of public events up to date; never raises for it
