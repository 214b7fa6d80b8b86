"""The argv of bubblewrap for a closure. Pure: the same closure gives the same argv.

1. The view is built up from nothing: a path that no line below names does not exist inside.
2. Later mounts cover earlier ones: the machine, then what hides, then what is let in, the run's own places last.
3. Every namespace of its own (the network by setting), no capability, no new privileges, no further user namespace.
   With the first process of the namespace the whole tree dies, whatever it detached from.
4. bubblewrap itself does not hear TERM: it would end at once and take everything with it. What runs inside hears it
   (sandbox.inside, sandbox.tools), and KILL to any of bubblewrap's two processes ends all.
"""

import os
from collections.abc import Iterable, Iterator

from ..paths import own_program
from ..ports.git import Argv
from .closure import Closure, Laid

HOME = "/agent"
DEAF = 'trap "" TERM; exec "$@"'
INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")

LOOPBACK = ("localhost", "127.0.0.1", "::1")

_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_PRIVILEGES = ("--disable-userns", "--cap-drop", "ALL", "--die-with-parent")


def wrap(argv: Argv, closure: Closure, executable: str = "") -> Argv:
    """The argv that runs `argv` in the closure's workspace, and nowhere else."""
    executable = executable or own_program("bwrap", closure.workspace) or "/usr/bin/bwrap"
    words = ["/bin/sh", "-c", DEAF, "sh", executable, *_NAMESPACES, *_PRIVILEGES]
    if closure.network != "open":
        words.append("--unshare-net")
    words += _mounts(closure)
    variables = (("HOME", HOME), ("TMPDIR", "/tmp"), *_direct(closure), *closure.machine.variables)
    for name, value in (*variables, *closure.environment):
        words += ["--setenv", name, value]
    return (*words, "--chdir", closure.workspace, "--", *_first(closure, argv), *argv)


def _first(closure: Closure, argv: Argv) -> Argv:
    """The words of what sets the limits inside and then becomes `argv`."""
    tools = closure.machine.tools
    # a way out is opened by Python alone, and `env` would take a name with a `=` in it for a variable
    if tools is None or closure.hosts or "=" in argv[0]:
        return (closure.machine.python, "-I", "-S", INSIDE, *closure.bounds.words(), "--")
    return tools.words(closure.bounds)


def _direct(closure: Closure) -> Iterator[tuple[str, str]]:
    """What is not asked of the proxy: servers on the sandbox's own loopback."""
    if closure.network == "provider":
        own = [name for name in LOOPBACK if not any(host.startswith(f"{name}:") for host in closure.hosts)]
        yield from (("NO_PROXY", ",".join(own)), ("no_proxy", ",".join(own)))


def _mounts(closure: Closure) -> Iterator[str]:
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
        yield from _laid(closure.laid)
    for path in closure.inner:
        yield from ("--ro-bind", path, path)
    if closure.laid is None:
        yield from workspace
    for path in closure.own:
        yield from ("--bind", path, path)
    yield from ("--remount-ro", "/")


def _laid(laid: Laid) -> Iterator[str]:
    for path in laid.covered:
        yield from ("--tmpfs", path)
    for option, pairs in (("--bind", laid.over), ("--ro-bind", laid.read)):
        for source, path in pairs:
            yield from (option, source, path)


def _readable(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield from ("--ro-bind-try", path, path)


def _temporary(path: str, megabytes: int) -> Iterator[str]:
    if megabytes:
        yield from ("--size", str(megabytes << 20))
    yield from ("--tmpfs", path)


def _covers(hidden: Iterable[str], shown: Iterable[str]) -> Iterator[str]:
    """An empty folder over each hidden one that would be seen through a folder above it."""
    above = tuple(shown)
    for path in hidden:
        if any(lies_in(path, other) for other in above):
            yield from ("--tmpfs", path)


def _split(paths: Iterable[str], hidden: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Those with something hidden below them, and the others."""
    wide: list[str] = []
    narrow: list[str] = []
    for path in dict.fromkeys(paths):
        (wide if any(lies_in(secret, path) for secret in hidden) else narrow).append(path)
    return wide, narrow


def lies_in(path: str, folder: str) -> bool:
    """Whether the path is the folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
