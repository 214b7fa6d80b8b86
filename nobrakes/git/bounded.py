"""A git child in bounded time: what it is fed and prints moves with a deadline, and one that hangs is ended.

1. A hang is no answer: NoAnswer, which is no GitFailed, so nobody judges work or a repository by it.
2. It is asked to end first (TERM, and CONT where it was stopped), since git removes its lock files then; a moment later
   it is killed, with what it started: each child leads a process group.
3. What a kill does not end waits for a disk. It is left behind and named by `left`, and nobody waits for it.
4. Time is the machine's own (monotonic): a wall clock that jumps ends nothing, and a sleeping machine is no silence.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import NoAnswer
from ..paths import own_path

if TYPE_CHECKING:
    import subprocess

SHORT_SECONDS = 60.0
"""For commands that read a few files, and for each silence of one that goes on answering."""
LONG_SECONDS = 600.0
"""For commands whose work grows with the repository."""
GRACE_SECONDS = 2.0
"""Between TERM and KILL, and between KILL and leaving it behind."""
CHUNK = 65_536

_SHORT = frozenset(
    {
        "cat-file",
        "commit-tree",
        "config",
        "for-each-ref",
        "hash-object",
        "init",
        "mktree",
        "remote",
        "rev-parse",
        "show-ref",
        "symbolic-ref",
        "update-ref",
        "version",
    }
)
_SHOWN = 120
_left: "list[subprocess.Popen[bytes]]" = []


def seconds_for(arguments: Sequence[str]) -> float:
    """The time of `git ARGUMENTS`: by its command word, and long where that is not known to be short."""
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return SHORT_SECONDS if word in _SHORT else LONG_SECONDS
    return LONG_SECONDS


def no_answer(arguments: Sequence[str], seconds: float) -> NoAnswer:
    """The error of a command that hung so long and was ended."""
    return NoAnswer(f"`{_shown(['git', *arguments])}` did not answer in {seconds:g} seconds and was ended")


def start(
    arguments: Sequence[str], cwd: str, env: Mapping[str, str], stdin: Any = None, stderr: Any = None
) -> "subprocess.Popen[bytes]":
    """Start `git ARGUMENTS` under exactly this environment, with pipes where no stream is given; OSError."""
    return begin(["git", *arguments], cwd, env, stdin, stderr)


def begin(
    words: Sequence[str], cwd: str, env: Mapping[str, str], stdin: Any = None, stderr: Any = None
) -> "subprocess.Popen[bytes]":
    """The same for any program."""
    import subprocess

    pipe = subprocess.PIPE
    return subprocess.Popen(
        words,
        cwd=cwd,
        env={**env, "PATH": own_path(cwd, env.get("PATH", os.defpath))},
        process_group=0,
        stdin=pipe if stdin is None else stdin,
        stdout=pipe,
        stderr=pipe if stderr is None else stderr,
    )


def exchange(
    process: "subprocess.Popen[bytes]", said: bytes, seconds: float, take: Callable[[bytes], object]
) -> bytes | None:
    """Feed it `said`, give what it prints to `take` piece by piece, and return its errors when it has ended.

    None: it did not end in `seconds`, and was ended. Whatever is raised meanwhile ends it, too.
    """
    deadline = time.monotonic() + seconds
    errors = bytearray()
    try:
        if _move(process, said, deadline, take, errors.extend) and ends(process, deadline - time.monotonic()):
            return bytes(errors)
        end(process)
        return None
    except BaseException:
        end(process)
        raise
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _move(
    process: "subprocess.Popen[bytes]",
    said: bytes,
    deadline: float,
    take: Callable[[bytes], object],
    take_error: Callable[[bytes], object],
) -> bool:
    """Move all streams to their ends; False: the deadline came first."""
    assert process.stdout is not None and process.stderr is not None
    takers = {process.stdout.fileno(): take, process.stderr.fileno(): take_error}
    polled = select.poll()
    for number in takers:
        polled.register(number, select.POLLIN)
    rest = memoryview(said)
    if process.stdin is not None:
        if rest:
            os.set_blocking(process.stdin.fileno(), False)
            polled.register(process.stdin.fileno(), select.POLLOUT)
        else:
            process.stdin.close()
    while takers or rest:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        for number, _ in polled.poll(left * 1000):
            if number in takers:
                piece = os.read(number, CHUNK)
                if piece:
                    takers[number](piece)
                else:
                    polled.unregister(number)
                    del takers[number]
                continue
            assert process.stdin is not None
            rest = rest[_feed(number, rest) :]
            if not rest:
                polled.unregister(number)
                process.stdin.close()
    return True


def _feed(number: int, rest: memoryview) -> int:
    """How much of `rest` is dealt with: all of it when nobody reads there any more."""
    try:
        return os.write(number, rest[:CHUNK])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(rest)


def ends(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Wait for its end; False: it lives on after `seconds`."""
    import subprocess

    if process.poll() is not None:
        return True
    seconds = max(0.0, seconds)
    # Popen.wait(timeout) sleeps in steps, which every short command would feel
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(process.pid)
        try:
            polled = select.poll()
            polled.register(descriptor, select.POLLIN)
            if not polled.poll(seconds * 1000):
                return False
        finally:
            os.close(descriptor)
        seconds = GRACE_SECONDS  # it has ended, and is collected at once
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def end(process: "subprocess.Popen[bytes]") -> None:
    """End it and what it started (rule 2); what survives is left behind."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
            os.killpg(process.pid, signal.SIGCONT)
        if ends(process, GRACE_SECONDS):
            return
    _left.append(process)


def left() -> list[str]:
    """The commands that a kill did not end, each with its pid; those that have ended meanwhile are forgotten."""
    _left[:] = [process for process in _left if process.poll() is None]
    return [f"`{_shown(process.args)}` (process {process.pid})" for process in _left]


def _shown(words: Any) -> str:
    return " ".join(map(str, words))[:_SHOWN]
