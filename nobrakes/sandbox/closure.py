"""What one run sees of the machine. Whatever is not named here is not there."""

from dataclasses import dataclass, field
from typing import Literal

Network = Literal["open", "provider", "none"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one process may use; 0: without limit."""

    memory_mb: int = 0
    processes: int = 0
    file_mb: int = 0
    open_files: int = 0
    cpu_minutes: int = 0
    temporary_mb: int = 0  # of /tmp and of each home

    def limits(self) -> tuple[tuple[str, int], ...]:
        """By prlimit's names, in its units; 0: none."""
        return (
            ("data", self.memory_mb << 20),
            ("nproc", self.processes),
            ("fsize", self.file_mb << 20),
            ("nofile", self.open_files),
            ("cpu", self.cpu_minutes * 60),
        )

    def words(self) -> tuple[str, ...]:
        """As the program inside reads them (sandbox.inside)."""
        return tuple(f"{name}={number}" for name, number in self.limits())


@dataclass(frozen=True, slots=True)
class Tools:
    """The programs that set limits and let signals be heard again (sandbox.tools)."""

    prlimit: str
    env: str
    hard: tuple[tuple[str, int], ...] = ()  # by prlimit's name: what none can be set above; missing: without limit

    def words(self, bounds: Bounds) -> tuple[str, ...]:
        """What stands before a command, for these bounds."""
        most = dict(self.hard)
        limits = [f"--{name}={min(number, most.get(name, number))}" for name, number in bounds.limits() if number]
        return (self.prlimit, *limits, "--core=0", "--", self.env, "--default-signal=TERM,PIPE", "--")


@dataclass(frozen=True, slots=True)
class Machine:
    """What of this machine every run may read, and what none may see even where it lies in between."""

    system: tuple[str, ...]  # folders and files that belong to the machine, not to a person
    links: tuple[tuple[str, str], ...]  # (path, target): /bin -> usr/bin, where the machine has it so
    programs: tuple[str, ...]  # where PATH leads, the Python of nobrakes and nobrakes itself
    python: str
    home: str
    variables: tuple[tuple[str, str], ...] = ()  # where toolchains are that a program would look for in its home
    account: str = ""  # the home that the account has, whatever HOME says: Java goes by it. Empty: it has none
    tools: Tools | None = None  # None: Python does it (sandbox.inside)


@dataclass(frozen=True, slots=True)
class Laid:
    """What is laid over a workspace that is a person's checkout: pairs of what is there outside, and where inside.

    `covered` are empty folders inside, `over` may be written, `read` may not.
    """

    covered: tuple[str, ...] = ()
    over: tuple[tuple[str, str], ...] = ()
    read: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Closure:
    """One run's view. Paths are absolute; writable ones are taken as they are, links in them are not followed."""

    workspace: str
    machine: Machine
    hidden: tuple[str, ...]  # the repository, its git folder and the state of nobrakes
    inner: tuple[str, ...] = ()  # read-only, also below what is hidden
    laid: Laid | None = None  # over the workspace, below what is `inner` and `own`
    own: tuple[str, ...] = ()  # writable, also below what is hidden
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()  # nothing secret: everybody can read an argv
    network: Network = "open"
    hosts: tuple[str, ...] = ()  # `name:port` that a run whose network is its provider's may reach
    bounds: Bounds = field(default_factory=Bounds)
