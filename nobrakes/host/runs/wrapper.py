"""The program that runs a run's steps and outlives the daemon, and what it leaves: how the run ended.

It is a fixed text for /bin/sh. It leaves exit codes, output, and the files that checks wrote their results to.

1. All data are positional parameters. `exec "${1}" "${2}" …` evaluates only numbers, and scripts of ours (7).
2. `pid` is created exclusively, so of two wrappers of one run only the first acts.
3. `<step>.start` and `<step>.exit` are empty or complete: one write, ended by a newline. On Linux the first has the
   step's line of /proc, which identifies its process without its parent.
4. On Linux the wrapper adopts orphans below it. If some still live when it is done, it stops itself to keep the tree
   together until somebody ends it (host.runs.processes).
5. A file `_stop` ends the run: a running step gets no exit code, a starting one ends itself (a trap would lose a signal
   between fork and exec). The end touches the wake file.
6. Steps get the environment unchanged except PWD, and the daemon's own umask.
7. A prologue of ours (`sh -c SCRIPT nobrakes …`) runs in the subshell itself, unconfined, with our own PATH
   (paths.own_path).
8. `beside` neighbours run in parallel, each under a shell that writes its exit code; the next step waits for all.
   Background commands of a shell ignore INT and QUIT, so these are started separately.
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

from ...globs import matches
from ...paths import own_path
from ...walking import FAULTS, Beyond, below, state_parts, walk
from .. import proctable, watching
from ..files import plain_file, poke, read_tail, write_atomic
from ..port import Command, Ending, Reports, StepEnd
from ..proctable import Process

SHELL = "/bin/sh"

PID = "pid"
PROLOGUE_START = "_prologue.start"
PROLOGUE_EXIT = "_prologue.exit"
PROLOGUE_OUTPUT = "_prologue.err"
END = "_end"
STOP = "_stop"
OWN_ERRORS = "_wrapper.err"

_HEARS = (
    "import os,signal as s,sys;[s.signal(n,s.SIG_DFL) for n in (s.SIGINT,s.SIGQUIT,s.SIGPIPE,s.SIGXFSZ)];"
    "os.execvp(sys.argv[1],sys.argv[1:])"
)
"""Resets the signals of a background command; Python itself ignores the last two."""

SCRIPT = r"""
umask 077
_nb_dir=$1 _nb_wake=$2 _nb_cwd=$3 _nb_keep=$4 _nb_umask=$5 _nb_path=$6 _nb_left=$7 _nb_n=0
shift 7
set -C
{ echo $$ >"$_nb_dir/pid"; } 2>/dev/null || exit 75
set +C

# what a program put in its place is not written to: a link leads elsewhere, a pipe waits for ever
_nb_clear() {
    if [ -e "$1" ] || [ -L "$1" ]; then rm -rf -- "$1"; fi
}
_nb_finish() {
    _nb_clear "$_nb_dir/_end"
    times >"$_nb_dir/_end"
    { echo >"$_nb_wake"; } 2>/dev/null
    # asked twice: the kernel's list may miss one while others are just ending
    for _nb_look in 1 2; do
        _nb_left=
        { read -r _nb_left <"/proc/$$/task/$$/children"; } 2>/dev/null
        [ -z "$_nb_left" ] || kill -STOP $$
    done
    exit 0
}
_nb_words() {
    _nb_i=0 _nb_call=exec
    while [ "$_nb_i" -lt "$1" ]; do
        _nb_i=$((_nb_i + 1)) _nb_call="$_nb_call \"\${$((_nb_i))}\""
    done
}

[ "$_nb_left" -eq 0 ] || echo >"$_nb_dir/_prologue.start"
while [ "$_nb_left" -gt 0 ]; do
    _nb_left=$((_nb_left - 1)) _nb_n=$((_nb_n + 1)) _nb_argc=$1
    shift
    _nb_words "$_nb_argc"
    (
        [ ! -e "$_nb_dir/_stop" ] || exit 143
        umask "$_nb_umask"
        if [ "$_nb_argc" -gt 4 ] && [ "$1 $2 $4" = "sh -c nobrakes" ]; then
            _nb_script=$3 PATH=$_nb_path
            shift 4
            _nb_words "$((_nb_argc - 4))"
            eval "set --${_nb_call#exec}"
            _nb_call=$_nb_script
        fi
        eval "$_nb_call"
    ) </dev/null >>"$_nb_dir/_prologue.err" 2>&1
    _nb_code=$?
    [ ! -e "$_nb_dir/_stop" ] || _nb_finish
    if [ "$_nb_code" -ne 0 ]; then
        echo "$_nb_code $_nb_n" >"$_nb_dir/_prologue.exit"
        _nb_finish
    fi
    shift "$_nb_argc"
done
if ! cd -- "$_nb_cwd" 2>>"$_nb_dir/_prologue.err"; then
    echo "126 0" >"$_nb_dir/_prologue.exit"
    _nb_finish
fi
cd /
echo "0 0" >"$_nb_dir/_prologue.exit"

_nb_step() {
    _nb_out=$_nb_dir/$1.out _nb_err=$_nb_dir/$1.err _nb_start=$_nb_dir/$1.start _nb_exit=$_nb_dir/$1.exit
    _nb_join=$2 _nb_in=$3 _nb_argc=$4
    shift 4
    _nb_words "$_nb_argc"
    [ "$_nb_join" = 0 ] || _nb_err=$_nb_out
    _nb_clear "$_nb_start"
    # tried first, since a redirection that fails would look like a step that failed
    if { :; } <"$_nb_in" >>"$_nb_out" 2>>"$_nb_err"; then
        (
            [ ! -e "$_nb_dir/_stop" ] || exit 143
            _nb_me=
            { read -r _nb_me </proc/self/stat; } 2>/dev/null
            echo "$_nb_me" >"$_nb_start"
            cd -- "$_nb_cwd" || exit 126
            unset OLDPWD
            umask "$_nb_umask"
            eval "$_nb_call"
        ) <"$_nb_in" >>"$_nb_out" 2>>"$_nb_err"
        _nb_code=$?
    else
        echo >"$_nb_start"
        _nb_code=126
    fi
    if [ ! -e "$_nb_dir/_stop" ]; then
        _nb_clear "$_nb_exit"
        echo "$_nb_code" >"$_nb_exit"
    fi
}
_nb_failed() {
    _nb_code=
    { read -r _nb_code <"$_nb_dir/$1.exit"; } 2>/dev/null
    [ "${_nb_code:-0}" -gt 0 ] && [ "$_nb_code" -lt 126 ]
}
_nb_passed() {
    for _nb_name in $1; do
        _nb_code=
        { read -r _nb_code <"$_nb_dir/$_nb_name.exit"; } 2>/dev/null
        [ "$_nb_code" != 0 ] || return 0
    done
    return 1
}
_nb_due() {
    case $1 in
        "") return 0 ;;
        +*) _nb_passed "${1#+}" ;;
        *) _nb_failed "$1" ;;
    esac
}

while [ "$#" -gt 0 ]; do
    [ ! -e "$_nb_dir/_stop" ] || _nb_finish
    _nb_beside=$1 _nb_after=$2
    shift 2
    if [ "$_nb_beside" = 1 ]; then
        _nb_step "$@" &
    else
        wait
        if _nb_due "$_nb_after"; then
            _nb_step "$@"
            [ ! -e "$_nb_dir/_stop" ] || _nb_finish
            [ "$_nb_code" -eq 0 ] || [ "$_nb_keep" = 1 ] || _nb_finish
        fi
    fi
    _nb_argc=$4
    shift 4
    shift "$_nb_argc"
done
wait
_nb_finish
"""

_NAME = "nobrakes"


def arguments(command: Command, wake: str, umask: int) -> list[str]:
    """The wrapper shell's argv. `wake`: the file that its end touches."""
    argv = [SHELL, "-c", SCRIPT, _NAME, command.folder, wake, command.cwd]
    argv += ["1" if command.keep_going else "0", f"{umask:04o}"]
    argv += [own_path(command.folder, command.env.get("PATH", os.defpath)), str(len(command.prologue))]
    for words in command.prologue:
        argv += [str(len(words)), *words]
    for step in command.steps:
        words = (sys.executable, "-I", "-S", "-c", _HEARS, *step.argv) if step.beside else step.argv
        argv += [
            "1" if step.beside else "0",
            step.after or (f"+{' '.join(step.when_passed)}" if step.when_passed else ""),
            step.name,
            "1" if step.join_output else "0",
            step.stdin or "/dev/null",
            str(len(words)),
            *words,
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
        reason = "stopped while its folder was prepared"
    elif numbers[1:] == [0]:
        reason = "its folder is not there"
    else:
        reason = f"command {numbers[1]} of its preparation ended with exit code {numbers[0]}"
    return f"{reason}\n{said}" if said else reason


def _cpu(folder: str) -> float:
    """Seconds of what the wrapper waited for: the second line of the shell's `times`."""
    lines = read_tail(os.path.join(folder, END), 200).decode("ascii", "replace").replace(",", ".").splitlines()
    spent = re.findall(r"(?<!\d)(\d++)m(\d++(?:\.\d+)?)s", lines[1] if len(lines) == 2 else "")
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in spent)


def is_over(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, END)) or not os.path.isdir(folder)


def _started_line(path: str) -> tuple[int, int] | None:
    line = read_tail(path, 4096)
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

    def _await(self, sleeper: select.epoll) -> None:
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
