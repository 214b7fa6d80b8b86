"""How runs ended and what they left: exit codes, output, and the files that checks wrote their results into."""

import errno
import io
import json
import os
import select
import sys
import threading
from collections.abc import Mapping, Sequence

from ...globs import matches
from ...walking import FAULTS, Beyond, below, of_state, walk
from .. import proctable, watching
from ..files import plain_file, read_tail, write_atomic
from ..port import Ending, Reports, StepEnd
from ..proctable import Process
from ..watching import poke
from . import wrapper

SAID = 20_000
"""Bytes of the prologue's output that are shown."""


def _numbers(path: str) -> list[int] | None:
    """The numbers in a file that the wrapper wrote; None: missing, or not written to its end."""
    words = read_tail(path, 100).split(b" ")
    if not words[-1].endswith(b"\n") or not all(word.strip().isdigit() for word in words):
        return None
    return [int(word) for word in words]


def _modified(path: str) -> float | None:
    try:
        return os.lstat(path).st_mtime
    except OSError as error:
        if error.errno in FAULTS:
            raise
        return None


def begun_at(base: str) -> float | None:
    """When the step began; None: not yet."""
    return _modified(base + ".start") if read_tail(base + ".start", 1) == b"\n" else None


def _seconds(base: str, begun: float, last: float | None) -> float:
    """How long a step took; for one that was killed, until its last sign of life."""
    ended = _modified(base + ".exit")
    if ended is None:
        signs = (_modified(base + ".out"), _modified(base + ".err"), last)
        ended = max((sign for sign in signs if sign is not None), default=begun)
    return max(0.0, ended - begun)


def _prologue_failed(folder: str) -> str | None:
    numbers = _numbers(os.path.join(folder, wrapper.PROLOGUE_EXIT))
    if numbers and numbers[0] == 0:
        return None
    if numbers is None and _modified(os.path.join(folder, wrapper.PROLOGUE_START)) is None:
        return None  # never begun
    said = read_tail(os.path.join(folder, wrapper.PROLOGUE_OUTPUT), SAID).decode("utf-8", "replace").strip()
    if numbers is None:
        reason = "stopped while its folder was prepared"
    elif numbers[1:] == [0]:
        reason = "its folder is not there"
    else:
        reason = f"command {numbers[1]} of its preparation ended with exit code {numbers[0]}"
    return f"{reason}\n{said}" if said else reason


def is_over(folder: str) -> bool:
    """Whether the wrapper has brought the run to its end, or has no place any more to say what it has to say."""
    return os.path.exists(os.path.join(folder, wrapper.END)) or not os.path.isdir(folder)


def _started_line(path: str) -> tuple[int, int] | None:
    """Pid and start time of the process that a step became; None: not told, or not yet."""
    line = read_tail(path, 4096)
    words = line[line.rfind(b")") + 2 :].split()
    pid = line.split(b" ", 1)[0]
    if not line.endswith(b"\n") or len(words) < 20 or not pid.isdigit() or not words[19].isdigit():
        return None
    return int(pid), int(words[19])


def processes(folder: str) -> frozenset[tuple[int, int]]:
    """Pid and start time of every step that the run has begun, as far as they are told."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".start")]
    except OSError:
        return frozenset()
    found = (_started_line(os.path.join(folder, name)) for name in names)
    return frozenset(one for one in found if one is not None)


def is_step_alive(folder: str, steps: Sequence[str]) -> bool:
    """With the wrapper gone, and something of the run alive: whether a step that it waited for may still run."""
    for name in steps:
        base = os.path.join(folder, name)
        if begun_at(base) is not None and _numbers(base + ".exit") is None:
            known = _started_line(base + ".start")
            now = proctable.look(known[0]) if known else None
            if known is None or (now is not None and now.running and now.started == known[1]):
                return True
    return False


def ending(folder: str, steps: Sequence[str]) -> Ending:
    """What the exit files in `folder` say, in the order of `steps`."""
    ends = []
    last = _modified(os.path.join(folder, wrapper.END))
    for name in steps:
        base = os.path.join(folder, name)
        begun = begun_at(base)
        numbers = _numbers(base + ".exit")
        ends.append(
            StepEnd(
                name,
                begun is not None,
                numbers[0] if numbers else None,
                0.0 if begun is None else _seconds(base, begun, last),
                base + ".out",
                begun or 0.0,
            )
        )
    return Ending(tuple(ends), _prologue_failed(folder), is_over(folder))


MAX_WATCHED = 256
"""So many processes are watched at a time; of a larger tree, those that were looked at first."""


# A help, and Linux only: whoever is not told finds out at its next look.
class Exits:
    """Touches a file in the wake folder when a process ends."""

    def __init__(self, wake_folder: str) -> None:
        self._wake = wake_folder
        self._watched: set[tuple[int, int]] = set()
        self._names: dict[int, tuple[tuple[int, int], str]] = {}
        self._sleeper: select.epoll | None = None

    def watch(self, process: Process, name: str) -> None:
        """Touch the file `name` when the process has ended; asked again, it is watched once."""
        key = (process.pid, process.started)
        if key in self._watched or len(self._watched) >= MAX_WATCHED or not hasattr(os, "pidfd_open"):
            return
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError as error:
            if error.errno == errno.ESRCH:
                poke(self._wake, name)
            return  # too many open files: the next look finds out
        now = proctable.look(process.pid)
        if now is None or now.started != process.started:
            os.close(descriptor)
            poke(self._wake, name)
            return
        self._watched.add(key)
        self._names[descriptor] = key, name
        if self._sleeper is None:
            self._sleeper = select.epoll()
            threading.Thread(target=self._await, args=(self._sleeper,), name="exits", daemon=True).start()
        self._sleeper.register(descriptor, select.EPOLLIN)

    def _await(self, sleeper: select.epoll) -> None:
        while True:
            for descriptor, _ in sleeper.poll():
                sleeper.unregister(descriptor)
                key, name = self._names.pop(descriptor)
                self._watched.discard(key)
                os.close(descriptor)
                poke(self._wake, name)


MAX_ENTRIES = 500_000
"""Names in the checkout that are looked at."""
MAX_FILES = 2_000
_LEFT = frozenset((".git",))
MAX_BYTES = 20_000_000
"""Of all reports of one check together."""


def kept(top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
    """What `read` gives, or gave when it was asked for the first time."""
    try:
        with open(keep, encoding="utf-8") as file:
            values = json.load(file)
    except FileNotFoundError:
        found = read(top, folder, glob, since)
        write_atomic(keep, json.dumps([found.texts, found.trouble]).encode())
        return found
    return Reports(tuple(values[0]), values[1])


# Only what was written since the check began is a result, by the inode's own moment (ctime), which no program can set.
# No link is followed, and all is bounded: more than that is told, not cut short. What was read is kept beside the
# output, since a run may be judged again when its checkout is gone.
def read(top: str, folder: str, glob: str, since: float) -> Reports:
    """The reports in `folder` below the checkout `top` that the glob matches, in the order of their paths."""
    try:
        return _read(top, folder, glob, since)
    except Beyond as error:
        return Reports(trouble=str(error))
    except OSError as error:
        if error.errno in FAULTS:
            raise
        return Reports(trouble=f"the folder {folder} cannot be read: {error.strerror}")


def _read(top: str, folder: str, glob: str, since: float) -> Reports:
    begin = os.path.join(top, folder)
    if os.path.realpath(begin) != os.path.normpath(os.path.join(os.path.realpath(top), folder)):
        return Reports(trouble=f"the folder {folder} is a link")
    if not os.path.isdir(begin):
        return Reports()  # the check itself could not run there
    texts: list[str] = []
    left = MAX_BYTES
    for path, descriptor, _, names in walk(begin, MAX_ENTRIES, leave=_LEFT):
        for name in names:
            if not matches(os.path.join(path, name), (glob,)):
                continue
            found = _content(descriptor, name, since, left)
            if found is None:
                continue
            left -= len(found)
            if left < 0 or len(texts) >= MAX_FILES:
                return Reports(trouble=f"the reports have more than {MAX_BYTES // 1_000_000} MB or {MAX_FILES} files")
            texts.append(found.decode("utf-8", "replace"))
    return Reports(tuple(texts))


def _content(folder: int, name: str, since: float, limit: int) -> bytes | None:
    """What the file holds, or a byte more than the limit; None: it is no plain file, or an old one."""
    with plain_file(folder, name, since) as file:
        return None if file is None else file.read(limit + 1)


def main(folder: str, directory: str, glob: str, *steps: str) -> int:
    """Keep, in the run's folder, what the last of these steps that began wrote. The checkout is the current folder."""

    started = {name: since for name in steps if (since := begun_at(os.path.join(folder, name))) is not None}
    name, since = list(started.items())[-1]
    kept(os.getcwd(), directory, glob, since, os.path.join(folder, f"{name}.reports"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))


class Outputs:
    """Reads them, whoever wrote them and whether the run still lives."""

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        return ending(folder, steps)

    def output(self, path: str, limit: int) -> str:
        """The last `limit` bytes of an output file as text; "" when it is missing."""
        return read_tail(path, limit).decode("utf-8", "replace")

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        with below(*of_state(path)) or io.BytesIO() as file:
            file.seek(start)
            return file.read(limit)

    def appended(self, folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
        """What agents' own files hold from their places on."""
        return watching.appended(folder, glob, since, paths, limit)

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        """What a check wrote into files."""
        return kept(top, folder, glob, since, keep)
