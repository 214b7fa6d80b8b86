"""The sandbox on macOS, never run: a profile for `sandbox-exec`, made of the same mounts as the argv of bubblewrap.

1. The last rule that matches a path decides, as a later mount covers an earlier one. A mount that no rule is made of is
   an error, never left out.
2. What bubblewrap keeps in memory (home, temporary files) is one folder of the run in the account's temporary folder.
3. A profile has no view of its own: names and sizes of hidden files can be seen, and nothing can be laid over a path.
4. With a network of its provider or none, a run reaches the loopback of the machine, and nothing else.
"""

import os
import tempfile
from collections.abc import Iterator
from hashlib import sha256

from ..errors import NoSandbox
from ..git.port import Argv
from .closure import HOME, INSIDE, Closure, mounts

PROGRAM = "/usr/bin/sandbox-exec"
_BASE = """(version 1)
(deny default)
(import "system.sb")
(allow process-fork process-info*)
(allow signal (target same-sandbox))
(allow sysctl-read file-read-metadata)
(allow file-read* (literal "/"))
(allow file-read* file-write* (subpath "/dev/fd") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))"""
_MEMORY = ("/tmp", "/dev/shm", HOME)
_ACCESS = {
    "read": ("(deny file-write* {0})", "(allow file-read* file-map-executable process-exec* {0})"),
    "write": ("(allow file-read* file-write* file-map-executable process-exec* {0})",),
    "hide": ("(deny file-read* file-write* file-map-executable process-exec* {0})",),
}
_MOUNTS = {"--ro-bind": "read", "--ro-bind-try": "read", "--bind": "write", "--tmpfs": "hide"}
_OTHERS = {"--symlink": 2, "--proc": 1, "--dev": 1, "--size": 1, "--remount-ro": 1}
"""Options that say nothing of a path there, with their number of words."""
_START = 'mkdir -p -m 700 "$HOME" && exec "$@"'


def rules(closure: Closure) -> Iterator[tuple[str, str]]:
    """(read, write or hide, path) in the order of the mounts. NoSandbox: something is to lie over the workspace."""
    if closure.laid is not None:
        raise NoSandbox("a session in a person's checkout needs bubblewrap, which is Linux' only")
    words = mounts(closure)
    for option in words:
        if option in _OTHERS:
            for _ in range(_OTHERS[option]):
                next(words)
            continue
        access, path = _MOUNTS[option], next(words)
        if option != "--tmpfs":
            source, path = path, next(words)
            assert source == path, "only what is laid over the workspace has another place"
        if path not in _MEMORY:
            yield access, path
    yield "write", home(closure)


def home(closure: Closure) -> str:
    """The run's own folder for its home and temporary files."""
    name = f"nobrakes-{sha256(os.fsencode(closure.workspace)).hexdigest()[:16]}"
    return os.path.join(tempfile.gettempdir(), name)


def profile(closure: Closure) -> str:
    """The profile. Raises NoSandbox."""
    lines = [_BASE]
    for access, path in rules(closure):
        where = f"(subpath {_quoted(os.path.realpath(path))})"  # a profile is asked about real paths
        lines += [line.format(where) for line in _ACCESS[access]]
    if closure.network == "open":
        lines.append("(allow network*)")
    else:
        lines.append('(allow network* (local ip "localhost:*") (remote ip "localhost:*"))')
    return "\n".join(lines)


def _quoted(path: str) -> str:
    """As a string of the profile's language. NoSandbox: it cannot be one."""
    if not path.isprintable():
        raise NoSandbox(f"the path {path!r} has characters that a sandbox of macOS cannot name")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def wrap(argv: Argv, closure: Closure) -> Argv:
    """The command that runs `argv` by the profile."""
    own = (("HOME", home(closure)), ("TMPDIR", home(closure)), *closure.machine.variables, *closure.environment)
    variables = (f"{name}={value}" for name, value in own)
    first = ("/bin/sh", "-c", _START, "sh", closure.machine.python, "-I", "-S", INSIDE, *closure.bounds.words(), "--")
    return ("/usr/bin/env", *variables, PROGRAM, "-p", profile(closure), *first, *argv)
