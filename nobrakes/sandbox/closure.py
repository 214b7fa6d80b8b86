"""The part of the machine that one run sees, and the argv that confines it: bubblewrap, a wall, a filter of git."""

import functools
import os
import resource
import sys
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Literal, Protocol

from ..errors import NoSandbox
from ..git.port import NOWHERE, Argv
from ..paths import own_program
from ..records import frozen
from .inside import LIMITS

Network = Literal["open", "provider", "none"]


@frozen
class Bounds:
    """A process' limits; 0: unlimited."""

    memory_mb: int = 0
    processes: int = 0
    file_mb: int = 0
    open_files: int = 0
    cpu_minutes: int = 0
    temporary_mb: int = 0  # of /tmp and of each home

    def limits(self) -> tuple[tuple[str, int], ...]:
        return (
            ("data", self.memory_mb << 20),
            ("nproc", self.processes),
            ("fsize", self.file_mb << 20),
            ("nofile", self.open_files),
            ("cpu", self.cpu_minutes * 60),
        )

    def words(self) -> tuple[str, ...]:
        return tuple(f"{name}={number}" for name, number in self.limits())


@frozen
class Prlimit:
    """The program that sets limits inside."""

    path: str
    hard: tuple[tuple[str, int], ...] = ()  # by prlimit's name: what none can be set above; missing: without limit

    def words(self, bounds: Bounds) -> tuple[str, ...]:
        most = dict(self.hard)
        limits = [f"--{name}={min(number, most.get(name, number))}" for name, number in bounds.limits() if number]
        return (self.path, *limits, "--core=0", "--")


@frozen
class Machine:
    """Paths that every run may read, and those hidden from all, even inside."""

    system: tuple[str, ...]  # folders and files that belong to the machine, not to a person
    links: tuple[tuple[str, str], ...]  # (path, target): /bin -> usr/bin, where the machine has it so
    programs: tuple[str, ...]  # where PATH leads, the Python of nobrakes and nobrakes itself
    python: str
    home: str
    variables: tuple[tuple[str, str], ...] = ()  # where toolchains are that a program would look for in its home
    account: str = ""  # the home that the account has, whatever HOME says: Java goes by it. Empty: it has none
    prlimit: Prlimit | None = None  # None: Python does it (sandbox.inside)


@frozen
class Laid:
    """What covers a person's checkout as workspace: pairs of outside and inside paths. `covered`: empty folders,
    `over`: writable, `read`: read-only."""

    covered: tuple[str, ...] = ()
    over: tuple[tuple[str, str], ...] = ()
    read: tuple[tuple[str, str], ...] = ()


@frozen
class Closure:
    """One run's view. Absolute paths; links in writable ones are not followed."""

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
    is_serving: bool = False  # people reach a port of its own network
    bounds: Bounds = field(default_factory=Bounds)


# The view is built up from nothing: a path that no line below names does not exist inside. Later mounts cover earlier
# ones. Every namespace is its own (the network by setting), with no capability and no new privileges; with the first
# process of the namespace the whole tree dies. bubblewrap itself gets no TERM: it would end at once and take everything
# with it. What runs inside gets it (host.proctable.ask_to_end), and KILL to any of its two processes ends all.
HOME = "/agent"
INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")

LOOPBACK = ("localhost", "127.0.0.1", "::1")

_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_PRIVILEGES = ("--disable-userns", "--cap-drop", "ALL", "--die-with-parent")


def wrap(argv: Argv, closure: Closure, executable: str = "") -> Argv:
    """The command that runs `argv` in the closure's workspace only."""
    if sys.platform == "darwin":
        from .seatbelt import wrap as seatbelt_wrap

        return seatbelt_wrap(argv, closure)
    executable = executable or own_program("bwrap", closure.workspace) or "/usr/bin/bwrap"
    words = [executable, *_NAMESPACES, *_PRIVILEGES]
    if closure.network != "open":
        words.append("--unshare-net")
    words += mounts(closure)
    variables = (("HOME", HOME), ("TMPDIR", "/tmp"), *_direct(closure), *closure.machine.variables)
    for name, value in (*variables, *closure.environment):
        words += ["--setenv", name, value]
    return (*words, "--chdir", closure.workspace, "--", *_first(closure), *argv)


def _first(closure: Closure) -> Argv:
    prlimit = closure.machine.prlimit
    if prlimit is None or closure.hosts or closure.is_serving:  # a way out is opened by Python alone
        return (closure.machine.python, "-I", "-S", INSIDE, *closure.bounds.words(), "--")
    return prlimit.words(closure.bounds)


def _direct(closure: Closure) -> Iterator[tuple[str, str]]:
    if closure.network == "provider":
        own = [name for name in LOOPBACK if not any(host.startswith(f"{name}:") for host in closure.hosts)]
        yield from (("NO_PROXY", ",".join(own)), ("no_proxy", ",".join(own)))


def mounts(closure: Closure) -> Iterator[str]:
    """Options of bubblewrap, each with its paths."""
    machine = closure.machine
    yield from _readable(machine.system)
    for path, target in machine.links:
        yield from ("--symlink", target, path)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from _temporary("/tmp", closure.bounds.temporary_mb)
    yield from _temporary("/dev/shm", closure.bounds.temporary_mb)
    yield from ("--remount-ro", "/dev")
    yield from _temporary(HOME, closure.bounds.temporary_mb)
    yield from _covers((machine.home,), machine.system)
    if machine.account:
        yield from _temporary(machine.account, closure.bounds.temporary_mb)
    wide, narrow = _split((*machine.programs, *closure.read), closure.hidden)
    yield from _readable(wide)
    for path in closure.write:
        yield from ("--bind", path, path)
    yield from _covers(closure.hidden, (*machine.system, *wide, *closure.write))
    yield from _readable(narrow)
    workspace = ("--bind", closure.workspace, closure.workspace)
    if closure.laid is not None:  # a person's checkout may have what is let in below it
        yield from workspace
        for path in closure.laid.covered:
            yield from ("--tmpfs", path)
        for option, pairs in (("--bind", closure.laid.over), ("--ro-bind", closure.laid.read)):
            for source, path in pairs:
                yield from (option, source, path)
    for path in closure.inner:
        yield from ("--ro-bind", path, path)
    if closure.laid is None:
        yield from workspace
    for path in closure.own:
        yield from ("--bind", path, path)
    yield from ("--remount-ro", "/")


def _readable(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield from ("--ro-bind-try", path, path)


def _temporary(path: str, megabytes: int) -> Iterator[str]:
    if megabytes:
        yield from ("--size", str(megabytes << 20))
    yield from ("--tmpfs", path)


def _covers(hidden: Iterable[str], shown: Iterable[str]) -> Iterator[str]:
    above = tuple(shown)
    for path in hidden:
        if any(lies_in(path, other) for other in above):
            yield from ("--tmpfs", path)


def _split(paths: Iterable[str], hidden: tuple[str, ...]) -> tuple[list[str], list[str]]:
    wide: list[str] = []
    narrow: list[str] = []
    for path in dict.fromkeys(paths):
        (wide if any(lies_in(secret, path) for secret in hidden) else narrow).append(path)
    return wide, narrow


def lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Agents(Protocol):
    """The part of the agents' settings used here."""

    def bypasses(self, agent: str) -> bool:
        """Whether its own permissions do not restrain the agent."""


def describe(names: Iterable[str], agents: Agents) -> str:
    """The warning about these agents, shown once by run, daemon and doctor."""
    free = [name for name in names if agents.bypasses(name)]
    held = [name for name in names if not agents.bypasses(name)]
    text = "agents run without a sandbox: they can read and write everything that your account can, also outside "
    text += "their workspace."
    if held:
        text += (
            f" Only the agents' own permissions restrict {', '.join(held)}: they allow the checks' commands, git and "
            "edits in the workspace, and deny the rest. Programs that the checks start can do anything."
        )
    if free:
        text += f" Nothing restricts {', '.join(free)}."
    return (
        f"{text} The Reviewer still checks the work that they hand in. For more safety, run nobrakes in a separate "
        "account, container or virtual machine."
    )


# Behind the wall, where there is no sandbox, a run reads what your account can, and writes its own places and temporary
# folders.
WALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "walled.py")


@frozen
class Wall:
    """A run's writable paths, absolute."""

    kept: tuple[str, ...]  # not to be written in a temporary folder either
    own: tuple[str, ...]  # writable, also below what is kept
    temporary: str = ""  # made and used where the machine's own folder for that lies on the way to what is kept
    environment: tuple[tuple[str, str], ...] = ()  # nothing secret: everybody can read an argv


def wall_wrap(argv: Argv, wall: Wall) -> Argv:
    """The command that runs `argv` behind the wall, or fails."""
    words = [f"keep={path}" for path in wall.kept]
    words += [f"own={path}" for path in wall.own]
    words += [f"temporary={wall.temporary}"] if wall.temporary else []
    words += [f"set={name}={value}" for name, value in wall.environment]
    return (sys.executable, "-I", "-S", WALLED, *words, "--", *argv)


def probe(folder: str) -> Argv:
    return wall_wrap(("true",), Wall((folder,), ()))


def platform_trouble() -> str:
    """Why walls are impossible on this system; empty: possible."""
    if not sys.platform.startswith("linux"):
        return "Landlock works on Linux only"
    from . import landlock

    return "" if landlock.version() else "this kernel lacks Landlock (Linux 5.13 has it), or Landlock is switched off"


def lacking() -> tuple[str, ...]:
    from . import landlock

    return landlock.lacks(landlock.version())


def wall_describe() -> str:
    text = (
        "agents and checks run behind a wall (Landlock), not in a sandbox: they can read what your account can read, "
        "but write only their own folders and temporary folders."
    )
    return f"{text} Landlock of this kernel is incomplete: {'; '.join(lacking())}." if lacking() else text


# `prlimit` does what sandbox.inside does, in a fifth of its time. Only util-linux': what is inside its file shows that
# it is. Whoever has another, or has it elsewhere than every run finds it, takes Python's way.
_PRLIMIT = "/usr/bin/prlimit"
_MARKS = (b"util-linux", b"nproc")


def prlimit(system: Iterable[str]) -> Prlimit | None:
    """This machine's `prlimit` for runs that see `system`; None: Python does it."""
    try:
        found = os.stat(_PRLIMIT)
    except OSError:
        return None
    # a machine that is upgraded has another in its place
    if "/usr" not in system or not _is_known(_PRLIMIT, found.st_ino, found.st_mtime_ns):
        return None
    hard = ((name, resource.getrlimit(which)[1]) for name, which in LIMITS.items())
    return Prlimit(_PRLIMIT, tuple((name, most) for name, most in hard if most != resource.RLIM_INFINITY))


@functools.lru_cache(4)
def _is_known(path: str, *_: int) -> bool:
    try:
        with open(path, "rb") as file:
            content = file.read(1 << 20)
    except OSError:
        return False
    return all(mark in content for mark in _MARKS)


# A filter of git that the person configured sees the whole machine, read-only, since program and key lie wherever the
# person's settings say; no network, no process of anybody's, and nothing outside of a memory of its own that it can
# write. It starts in an empty folder: a program that is named by a path in the repository is not found.
def filter_wrap(argv: Argv) -> Argv:
    """The command that runs the filter `argv` confined. NoSandbox: not on this system."""
    if sys.platform == "darwin":
        raise NoSandbox("git filters run only in bubblewrap, which works on Linux only")
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", NOWHERE]
    words += ["--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    words += ["--setenv", "TMPDIR", NOWHERE, "--chdir", NOWHERE]
    return (*words, "--", *argv)
