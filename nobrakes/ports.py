"""What the daemon works with: the doors to the world, given to it whole by `app` (or by the simulation)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Protocol

from .agents.adapter import Adapter
from .agents.limits import MachineRoom
from .beads.proposals import Merged
from .config.settings import Config
from .daemon.model import Limits
from .errors import NoSandbox, NotAllowed
from .features.markers import PlanStep
from .git.port import Git
from .host.port import Background, ChannelServer, Login, Notifier, Processes
from .notices.model import Channels, NoChannels
from .paths import Paths
from .records import frozen
from .requests.hosts.port import PullPorts
from .requests.text import Where

if TYPE_CHECKING:
    from .store import Store


class NoChannel:
    """Where no agent is confined, none speaks through a folder."""

    def start(self) -> None:
        """Nothing to look at."""

    def close(self) -> None:
        """Nothing to stop."""

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """NoSandbox: whoever closes an agent off needs somebody who hears it."""
        raise NoSandbox("an agent is to be confined, and nobody would hear it")

    def end(self, run: str) -> None:
        """Nobody waits."""

    def failed(self) -> Mapping[str, Exception]:
        """Nothing."""
        return {}


class MachineWide(Protocol):
    """One daemon's view of what those of one person share on a machine: places for agents, and what a day has cost.

    Where nothing is shared, `look` answers None and `take` gives every place.
    """

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """What is allowed and taken now; None: nothing is limited.

        `at_work` are the runs of this daemon's living agents: from now on they hold places, beyond the limit too, and
        no other place is this daemon's.
        """
        ...

    def take(self, name: str) -> bool:
        """Take a place for an agent that is about to start; False: there is none. The same name has one place."""
        ...

    def give_back(self, name: str) -> None:
        """Nothing was started under this name after all."""
        ...

    def hold(self, name: str) -> None:
        """Have a place for an agent that lives already, whatever the limit is."""
        ...

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """What this repository has spent on the day that began at `day`, in all."""
        ...

    def close(self) -> None:
        """Give every place back. Whoever is killed gives them back, too."""
        ...


class Alone:
    """A daemon that shares nothing."""

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """Nothing is limited."""
        return None

    def take(self, name: str) -> bool:
        """There is always room."""
        return True

    def give_back(self, name: str) -> None:
        """Nobody counts."""

    def hold(self, name: str) -> None:
        """Nobody counts."""

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """Nobody adds up."""

    def close(self) -> None:
        """Nothing was taken."""


class ShaperWords(Protocol):
    """What is done in the name of a feature's Shaper, or with its plan, outside its turns: features.service.shaping."""

    def propose_steps(self, session: int, steps: Sequence[PlanStep]) -> object:
        """File steps of its words as drafts; NobrakesError: nothing was written."""
        ...

    def plan_ready(self, session: int) -> object:
        """The plan is whole; NotAllowed, and why."""
        ...

    def go_on(self, feature: str, way: str, by: str) -> int:
        """Go on with a feature that has expired, in one of the ways of features.actions: how many drafts were given up
        for it. NotAllowed.
        """
        ...

    def give_up(self, feature: str, by: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Cancel the open beads of a feature that is rolled back: (those, those that land just now and are left)."""
        ...

    def landed(self, feature: str) -> tuple[Merged, ...]:
        """The merges that beads of the feature are done by."""
        ...

    def end_rollback(self, feature: str, by: str, taken: Sequence[Merged], why: str, commit: str) -> None:
        """The feature is rolled back: `commit` took these merges off main."""
        ...

    def drop_rollback(self, feature: str, by: str, why: str) -> bool:
        """The feature is not rolled back after all; False: it was not being rolled back."""
        ...


class NoWords:
    """Where no feature is planned."""

    def propose_steps(self, session: int, steps: Sequence[PlanStep]) -> object:
        """NotAllowed."""
        raise NotAllowed("no feature is planned here")

    def plan_ready(self, session: int) -> object:
        """NotAllowed."""
        raise NotAllowed("no feature is planned here")

    def go_on(self, feature: str, way: str, by: str) -> int:
        """NotAllowed."""
        raise NotAllowed("no feature is planned here")

    def give_up(self, feature: str, by: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """NotAllowed."""
        raise NotAllowed("no feature is planned here")

    def landed(self, feature: str) -> tuple[Merged, ...]:
        """None."""
        return ()

    def end_rollback(self, feature: str, by: str, taken: Sequence[Merged], why: str, commit: str) -> None:
        """NotAllowed."""
        raise NotAllowed("no feature is planned here")

    def drop_rollback(self, feature: str, by: str, why: str) -> bool:
        """It was not."""
        return False


@frozen
class Ports:
    """The doors, and the few facts about this machine that agents and checks are started with."""

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
    sandbox_trouble: Callable[[], str] = lambda: "none was asked for"  # why bubblewrap does not work; empty: it does
    wall_trouble: Callable[[], str] = lambda: "none was asked for"  # why Landlock does not work; empty: it does
    start_trouble: Callable[[str], str] = lambda agent: ""  # why its CLI does not work; empty: it does, or nobody knows
    git_trouble: Callable[[], str] = str  # why git does not work for this account; empty: it does
    channel: ChannelServer = field(default_factory=NoChannel)
    channels: Channels = field(default_factory=NoChannels)  # what sends notices beside the loop
    zone: Callable[[], tzinfo] = lambda: UTC  # of the person's clock: quiet hours are hours of their day
    degraded: Callable[[], list[str]] = list  # what is to be said of agents that can do less than they should
    steady: Callable[[], tuple[str, float] | None] = lambda: None  # a clock that nobody sets: its boot, and seconds
    modules: Callable[[Sequence[tuple[str, str]]], frozenset[str]] = lambda programs: frozenset()  # what they resolve
    machine: MachineWide = field(default_factory=Alone)  # what it shares with the daemons of other repositories
    pulls: PullPorts | None = None  # where work lands by pull requests
    where: Where = field(default_factory=Where)  # the branch by which work is reviewed here, which `git` has as main
    in_place: Callable[[], None] = lambda: None  # RepositoryReplaced: another repository lies where this one did
    guard: tuple[str, ...] = ()  # argv of the guard that agent CLIs call before each tool
    words: Callable[[], ShaperWords] = NoWords  # what is done for Shapers outside their turns
    export: Callable[[], None] = lambda: None  # brings the file of public events up to date; never raises for it
