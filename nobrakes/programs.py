"""Programs of nobrakes' own around runs: `python -I -S programs.py NAME ARGUMENTS…`, or a fork that has loaded them.

1. `become` is the one exec: the fork server and what it forked run such a program without an interpreter's start.
2. Both are the same to everybody else: /proc shows the program's words and environment, the standard files are all that
   is open, and signals are as Python sets them.
3. These modules import little and nothing slow: they outlive the daemon, and precede every agent and check.
"""

import _signal  # type: ignore[import-not-found]
import contextlib
import os
import sys

if __name__ == "__main__":
    # as a program it finds its own rules, and nothing that lies beside them
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

PROGRAMS = {
    "wrapper": ("nobrakes.host.runs.recording", "wrap"),
    "recorder": ("nobrakes.host.runs.recording", "record_words"),
    "remote": ("nobrakes.fleet.on_node", "run"),
    "checkout": ("nobrakes.git.workspaces.checkout", "make_or_mend"),
}
SPEC = "remote.json"
"""In the folder of a run on a node: what the program `remote` reads."""
NODE_LOST = "remote.lost"
NODE_FAILED = "remote.failed"
"""In the folder of a run on a node: why the node is lost, or what it could not do."""
_ALSO_LOADED = ("ctypes", "nobrakes.text.redaction")
_START = (sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.py"))

_PR_SET_NAME = 15

_rooms: "list[int]" = []
"""Where this process' words and environment begin and end in its memory; empty: it was not forked for programs."""


def program(name: str, *words: str) -> "tuple[str, ...]":
    """The argv of one of PROGRAMS."""
    return (*_START, name, *words)


def is_ours(argv: "Sequence[str]") -> bool:
    return tuple(argv[: len(_START)]) == _START


def load() -> None:
    """Load all of them, for forks of this process, which forgets its own environment."""
    import gc

    for name in (*(module for module, _ in PROGRAMS.values()), *_ALSO_LOADED):
        __import__(name)
    with open("/proc/self/stat", "rb") as file:
        _rooms[:] = map(int, file.read().rpartition(b")")[2].split()[45:49])
    _set_environment({})
    show(sys.orig_argv[:-1], {})
    gc.freeze()  # a collection in a fork would copy every page


def show(argv: "Sequence[str]", environment: "Mapping[str, str]") -> None:
    """Write both where /proc reads them, as an exec does; what is too long is cut."""
    import ctypes

    texts = (argv, [f"{name}={value}" for name, value in environment.items()])
    for begin, end, words in zip(_rooms[::2], _rooms[1::2], texts, strict=True):
        data = b"".join(os.fsencode(word) + b"\0" for word in words)[: end - begin - 1]
        ctypes.memmove(begin, data.ljust(end - begin, b"\0"), end - begin)


def _set_environment(environment: "Mapping[str, str]") -> None:
    from nobrakes.paths import process_environment

    for name in process_environment():
        os.environ.pop(name)
    os.environ.update(environment)


def become(argv: "Sequence[str]", environment: "Mapping[str, str]") -> "NoReturn":
    """Be this program from here on; the standard files are its own. Raises OSError."""
    is_here = bool(_rooms) and is_ours(argv)
    ignored = _signal.SIG_IGN if is_here else _signal.SIG_DFL  # as Python has them when it starts
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, ignored)
    if not is_here:
        os.execvpe(argv[0], list(argv), dict(environment))
    code = 1
    try:
        for number in map(int, os.listdir("/proc/self/fd")):
            if number > 2:
                with contextlib.suppress(OSError):  # that of the list itself
                    os.close(number)
        show(argv, environment)
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_NAME, os.fsencode(argv[len(_START)]), 0, 0, 0)  # /proc may be read-only
        _set_environment(environment)
        code = main(argv[len(_START) :])
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main(words: "Sequence[str]") -> int:
    module, function = PROGRAMS[words[0]]
    __import__(module)
    return int(getattr(sys.modules[module], function)(list(words[1:])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
