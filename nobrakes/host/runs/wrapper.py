"""The wrapper of a run as the daemon sees it: the words that start it, and what it leaves: how the run ended.

The wrapper is host.runs.recording. It leaves exit codes, output, and the files that checks wrote their results to.
"""

import errno
import io
import json
import os
import re
import select
import sys
import threading
from collections.abc import Mapping, Sequence

from ...files import plain_file, poke, read_tail, write_atomic
from ...globs import matches
from ...paths import own_path
from ...programs import program
from ...walking import FAULTS, Beyond, below, state_parts, walk
from .. import proctable, watching
from ..port import Command, Ending, Reports, StepEnd
from ..proctable import Process
from .recording import END, PROLOGUE_EXIT, PROLOGUE_OUTPUT, PROLOGUE_START

OWN_ERRORS = "_wrapper.err"

_NAME = "wrapper"


def arguments(command: Command, wake: str, umask: int) -> list[str]:
    """The wrapper's argv. `wake`: the file that its end touches."""
    argv = [*program(_NAME, command.folder, wake, command.cwd), "1" if command.keep_going else "0", f"{umask:04o}"]
    argv += [own_path(command.folder, command.env.get("PATH", os.defpath)), str(len(command.prologue))]
    for words in command.prologue:
        argv += [str(len(words)), *words]
    for step in command.steps:
        argv += [
            "1" if step.beside else "0",
            step.after or (f"+{' '.join(step.when_passed)}" if step.when_passed else ""),
            step.name,
            "1" if step.join_output else "0",
            step.stdin or os.devnull,
            str(len(step.argv)),
            *step.argv,
        ]
    return argv


def folder_in(argv: list[str]) -> str | None:
    """The run's folder in a wrapper's argv."""
    place = argv.index(_NAME) + 1 if _NAME in argv[:10] else len(argv)
    return argv[place] if place < len(argv) else None


SAID = 20_000


def _numbers(path: str) -> list[int] | None:
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
    return _modified(base + ".start") if read_tail(base + ".start", 1) == b"\n" else None


def _seconds(base: str, begun: float, last: float | None) -> float:
    ended = _modified(base + ".exit")
    if ended is None:
        signs = (_modified(base + ".out"), _modified(base + ".err"), last)
        ended = max((sign for sign in signs if sign is not None), default=begun)
    return max(0.0, ended - begun)


def _prologue_failed(folder: str) -> str | None:
    numbers = _numbers(os.path.join(folder, PROLOGUE_EXIT))
    if numbers and numbers[0] == 0:
        return None
    if numbers is None and _modified(os.path.join(folder, PROLOGUE_START)) is None:
        return None  # never begun
    said = read_tail(os.path.join(folder, PROLOGUE_OUTPUT), SAID).decode("utf-8", "replace").strip()
    if numbers is None:
        reason = "the run was stopped while its folder was being prepared"
    elif numbers[1:] == [0]:
        reason = "the run's folder is missing"
    else:
        reason = f"command {numbers[1]} that prepares the run's folder ended with exit code {numbers[0]}"
    return f"{reason}\n{said}" if said else reason


def _cpu(folder: str) -> float:
    """Seconds of what the wrapper waited for: the second line of END, which has the form of a shell's `times`."""
    lines = read_tail(os.path.join(folder, END), 200).decode("ascii", "replace").replace(",", ".").splitlines()
    spent = re.findall(r"(?<!\d)(\d++)m(\d++(?:\.\d+)?)s", lines[1] if len(lines) == 2 else "")
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in spent)


def is_over(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, END)) or not os.path.isdir(folder)


def _started_line(path: str) -> tuple[int, int] | None:
    line = read_tail(path, 4096)
    if not proctable.LINUX:  # the pid alone, which another process may have by now
        if not line.strip().isdigit():
            return None
        latest = proctable.HUNDREDTHS * ((_modified(path) or 0.0) + 1.0)
        now = proctable.look(int(line))
        return int(line), now.started if now is not None and now.started <= latest else 0
    words = line[line.rfind(b")") + 2 :].split()
    pid = line.split(b" ", 1)[0]
    if not line.endswith(b"\n") or len(words) < 20 or not pid.isdigit() or not words[19].isdigit():
        return None
    return int(pid), int(words[19])


def processes(folder: str) -> frozenset[tuple[int, int]]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".start")]
    except OSError:
        return frozenset()
    return frozenset(one for one in (_started_line(os.path.join(folder, name)) for name in names) if one is not None)


def is_step_alive(folder: str, steps: Sequence[str]) -> bool:
    """With a dead wrapper: whether a step may still run."""
    for name in steps:
        base = os.path.join(folder, name)
        if begun_at(base) is not None and _numbers(base + ".exit") is None:
            known = _started_line(base + ".start")
            now = proctable.look(known[0]) if known else None
            if known is None or (now is not None and now.running and now.started == known[1]):
                return True
    return False


def ending(folder: str, steps: Sequence[str]) -> Ending:
    """The run's end by the exit files in `folder`."""
    ends = []
    last = _modified(os.path.join(folder, END))
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
    return Ending(tuple(ends), _prologue_failed(folder), is_over(folder), _cpu(folder))


MAX_WATCHED = 256


# A help, and Linux only: whoever is not told finds out at its next look.
class Exits:
    """Touches a file in the wake folder when a process ends."""

    def __init__(self, wake_folder: str) -> None:
        self._wake = wake_folder
        self._watched: set[tuple[int, int]] = set()
        self._names: dict[int, tuple[tuple[int, int], str]] = {}
        self._sleeper: select.epoll | None = None

    def watch(self, process: Process, name: str) -> None:
        """Touch the file `name` when the process ends; repeatable."""
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

    def _await(self, sleeper: "select.epoll") -> None:  # quoted: other systems have none
        while True:
            for descriptor, _ in sleeper.poll():
                sleeper.unregister(descriptor)
                key, name = self._names.pop(descriptor)
                self._watched.discard(key)
                os.close(descriptor)
                poke(self._wake, name)


MAX_ENTRIES = 500_000
MAX_FILES = 2_000
_LEFT = frozenset((".git",))
MAX_BYTES = 20_000_000


def kept(top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
    """The result of the first `read`, stored."""
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
    """At most one byte more than the limit; None: not a plain, new file."""
    with plain_file(folder, name, since) as file:
        return None if file is None else file.read(limit + 1)


def main(folder: str, directory: str, glob: str, *steps: str) -> int:
    """Store reports of the last begun step in the run's folder. The checkout is the current folder."""

    started = {name: since for name in steps if (since := begun_at(os.path.join(folder, name))) is not None}
    name, since = list(started.items())[-1]
    kept(os.getcwd(), directory, glob, since, os.path.join(folder, f"{name}.reports"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))


class Outputs:
    """Reads outputs of any run, alive or not."""

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        return ending(folder, steps)

    def output(self, path: str, limit: int) -> str:
        return read_tail(path, limit).decode("utf-8", "replace")

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        with below(*state_parts(path)) or io.BytesIO() as file:
            file.seek(start)
            return file.read(limit)

    def appended(self, folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
        return watching.appended(folder, glob, since, paths, limit)

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        return kept(top, folder, glob, since, keep)
