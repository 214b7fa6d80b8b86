"""What a run leaves, written by two programs of ours (programs): how its steps end, and what they say.

The wrapper runs the prologue and the steps, and outlives the daemon.

1. `pid` is created exclusively, so of two wrappers of one run only the first acts.
2. `<step>.start`, `<step>.exit` and `_end` are complete or not there. On Linux the first has the step's line of /proc,
   which identifies its process without its parent.
3. On Linux the wrapper adopts orphans below it. If some still live when it is done, it stops itself to keep the tree
   together until somebody ends it (host.runs.processes).
4. A file `_stop` ends the run: a running step gets no exit code, a starting one ends itself (a handler would lose a
   signal between fork and exec). The end touches the wake file.
5. Steps get the environment unchanged except PWD, and the daemon's own umask.
6. Programs of ours in the prologue run unconfined, with our own PATH (paths.own_path).
7. `beside` neighbours run in parallel, each below a process that writes its exit code; the next step waits for all.
8. What cannot be written is told in the wrapper's own errors, and the run goes on.

The recorder has an agent's words in files and a check's passed on, both bounded:

    recorder OUT ERR BYTES -- ARGV…   of an agent: its words are written down without secrets
    recorder BYTES -- ARGV…           of a check: its output and errors are passed on, as they come

9. An agent's secrets are blacked out before writing (text.redaction, and the environment's secret values). A check's
   output is evidence and stays unchanged.
10. OUT and ERR are private files. At half of its limit (BYTES for OUT, a sixteenth for ERR) a file becomes FILE.1 and
   starts again, so the newest output is kept. For a check the beginning and the newest are kept, with a line about the
   gap.
11. The exit code is the agent's (128 + N for signal N). Signals stop the agent; the recorder ends after it, when
   everything is written. A full disk costs lines, never the agent.
12. Standard library and nobrakes' secret rules only: both outlive the daemon that started them, and precede every agent
   and check, so nothing slow is imported (`subprocess` and `selectors` took twice as long as the rest).
"""

import _signal  # type: ignore[import-not-found]
import os
import resource
import select
from _collections import deque  # type: ignore[import-not-found]
from functools import partial

from ...paths import process_environment
from ...programs import become, is_ours, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...text.redaction import Redactor

HELD = 1024 * 1024
"""Longer lines are written in parts."""
OVERLAP = 4096
"""Bytes held back of a part, for a secret across the cut."""
LAST_BLOCKS = 16
"""Final reads of a pipe: all that it held when the agent ended, even if others keep writing."""
_BYTES = "latin-1"

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""Stored bytes of an agent's OUT, a check, or a setup."""
NEWEST = 1_000_000
"""Stored bytes of a check's end; fewer than are read for judging."""
LEFT_OUT = "[nobrakes kept no more of this output, and left out here: {} B]"


def capped(argv: "Sequence[str]") -> "tuple[str, ...]":
    return program("recorder", str(MAX_OUTPUT_BYTES), "--", *argv)


def recorded(argv: "Sequence[str]", out: str, err: str) -> "tuple[str, ...]":
    return program("recorder", out, err, str(MAX_OUTPUT_BYTES), "--", *argv)


def left_out(text: str) -> int:
    """The number of omitted bytes in such an output; 0: none. Forging that line only harms its author."""
    import re  # only for who reads it: each check waits until this is imported

    before, _, after = LEFT_OUT.partition("{}")
    found = re.search(f"^{re.escape(before)}([0-9]{{1,18}}){re.escape(after)}$", text, re.MULTILINE)
    return int(found[1]) if found else 0


class Passed:
    """Passes output on, except between its beginning and its newest part."""

    def __init__(self, limit: int) -> None:
        self.newest = min(NEWEST, limit // 2)
        self.room = limit - self.newest
        self.end: deque[bytes] = deque()
        self.held = 0
        self.left_out = 0

    def add(self, block: bytes) -> None:
        begin, rest = block[: self.room], block[self.room :]
        if begin:
            self.room -= len(begin)
            self._write(begin)
        if rest:
            self.end.append(rest)
            self.held += len(rest)
            while self.held - len(self.end[0]) >= self.newest:
                self.left_out += len(self.end[0])
                self.held -= len(self.end.popleft())

    def finish(self) -> None:
        if self.left_out:
            self._write(f"\n{LEFT_OUT.format(self.left_out)}\n".encode())
        for block in self.end:
            self._write(block)

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            pass  # the disk is full: these lines are lost, the check goes on, and what it is counted by is missing


class File:
    """A private file of two halves."""

    def __init__(self, path: str, limit: int) -> None:
        self.path = path
        self.half = max(1, limit // 2)
        self._redactor: Redactor | None = None
        self.rest = b""
        self.descriptor = self._open()
        self.size = os.fstat(self.descriptor).st_size

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def add(self, block: bytes) -> None:
        """Write the complete lines so far."""
        data = self.rest + block
        end = data.rfind(b"\n") + 1
        if not end and len(data) > HELD:
            rules = self._rules()
            end = rules.cut(data.decode(_BYTES), OVERLAP) if rules is not None else len(data)
        self.rest = data[end:]
        if end:
            self._write(self._clean(data[:end]))

    def finish(self) -> None:
        if self.rest:
            self._write(self._clean(self.rest))
        self.rest = b""

    def _clean(self, data: bytes) -> bytes:
        rules = self._rules()
        return rules.feed(data.decode(_BYTES)).encode(_BYTES) if rules is not None else b""

    def _rules(self) -> "Redactor | None":
        """None: nobrakes was removed meanwhile, so nothing unchecked is written."""
        if self._redactor is None:
            try:
                from ...text.redaction import Redactor, secret_values
            except ImportError:
                return None
            given = (
                (name, text.encode("utf-8", "surrogateescape").decode(_BYTES))
                for name, text in process_environment().items()
            )
            self._redactor = Redactor(secret_values(given))
        return self._redactor

    def _write(self, data: bytes) -> None:
        try:
            while data:
                # a block may be larger than a half: then it is cut between its lines, where it has any
                end = len(data) if len(data) <= self.half else data.rfind(b"\n", 0, self.half) + 1 or self.half
                self._append(data[:end])
                data = data[end:]
        except OSError:
            pass  # the disk is full, or somebody took the folder away: these lines are lost, the agent goes on

    def _append(self, piece: bytes) -> None:
        if self.size and self.size + len(piece) > self.half:
            os.rename(self.path, self.path + ".1")
            os.close(self.descriptor)
            self.descriptor = self._open()
            self.size = 0
        while piece:
            written = os.write(self.descriptor, piece)
            self.size += written
            piece = piece[written:]


def files_of(out: str, err: str, limit: int) -> "tuple[File, File]":
    return (File(out, limit), File(err, limit // 16))


def record_words(words: "list[str]") -> int:
    """The recorder. Without OUT and ERR it is a check."""
    at = words.index("--")
    most, paths = int(words[at - 1]), words[: at - 1]
    files = files_of(paths[0], paths[1], most) if paths else (Passed(most),)
    return record(files, words[at + 1 :])


def record(files: "Sequence[File | Passed]", argv: "list[str]") -> int:
    """Run `argv` and record its output, errors in the last file; returns its exit code."""
    try:
        child, streams = _started(argv, apart=len(files) > 1)
    except OSError as error:
        files[-1].add(f"{argv[0]}: {error.strerror}\n".encode())
        files[-1].finish()
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGQUIT):
        _signal.signal(number, _signal.SIG_IGN)  # after the start: the agent must hear them
    said = dict(zip(streams, files, strict=True))
    watched = select.poll()
    for stream in streams:
        os.set_blocking(stream, False)
        watched.register(stream, select.POLLIN)
    ended = os.pidfd_open(child) if hasattr(os, "pidfd_open") else -1
    if ended >= 0:
        watched.register(ended, select.POLLIN)
    status = None
    while status is None and said:
        for number, _ in watched.poll(None if ended >= 0 else 200):
            if number == ended:
                status = os.waitpid(child, 0)[1]
            else:
                _take(number, said)
                if number not in said:
                    watched.unregister(number)
        if status is None and ended < 0:
            gone, code = os.waitpid(child, os.WNOHANG)
            status = code if gone else None
    # what it said last is in the pipes; who still holds them open is not waited for, nor heard for ever
    for stream in list(said):
        blocks = LAST_BLOCKS
        while blocks and _take(stream, said):
            blocks -= 1
    for file in files:
        file.finish()
    return _code(os.waitpid(child, 0)[1] if status is None else status)


def _started(argv: "list[str]", apart: bool) -> "tuple[int, list[int]]":
    pipes = [os.pipe() for _ in range(2 if apart else 1)]
    outputs = [(os.POSIX_SPAWN_DUP2, pipes[0][1], 1), (os.POSIX_SPAWN_DUP2, pipes[-1][1], 2)]
    ignored_here = [number for number in (_signal.SIGPIPE, getattr(_signal, "SIGXFSZ", None)) if number is not None]
    try:
        child = os.posix_spawnp(argv[0], argv, process_environment(), file_actions=outputs, setsigdef=ignored_here)
    finally:
        for _, writer in pipes:
            os.close(writer)
    return child, [reader for reader, _ in pipes]


def _take(stream: int, said: "dict[int, File | Passed]") -> bool:
    try:
        block = os.read(stream, 256 * 1024)
    except BlockingIOError:
        return False
    if block:
        said[stream].add(block)
        return True
    del said[stream]
    return False


PID = "pid"
PROLOGUE_START = "_prologue.start"
PROLOGUE_EXIT = "_prologue.exit"
PROLOGUE_OUTPUT = "_prologue.err"
END = "_end"
STOP = "_stop"
NEW = ".new"
"""Suffix of a file that is not complete."""

NOT_THE_FIRST = 75
BROKEN = 126
MISSING = 127
STOPPED = 143
_WRITE = os.O_WRONLY | os.O_CREAT


class Step:
    """One step, taken from the front of the words (host.runs.wrapper.arguments)."""

    def __init__(self, words: "list[str]") -> None:
        beside, self.after, self.name, joined, self.stdin = words[:5]
        self.beside, self.joined = beside == "1", joined == "1"
        del words[:5]
        self.argv = _taken(words)


def _taken(words: "list[str]") -> "list[str]":
    """The argv that its length stands before; both are taken out of `words`."""
    end = 1 + int(words[0])
    argv = words[1:end]
    del words[:end]
    return argv


def wrap(words: "list[str]") -> int:
    """The wrapper: FOLDER WAKE CWD KEEP-GOING UMASK PATH COUNT, so many commands of the prologue, and the steps."""
    os.umask(0o077)
    folder, wake, cwd, keep_going, umask, path, count = words[:7]
    left = words[7:]
    wrapper = Wrapper(folder, cwd, int(umask, 8))
    if not wrapper.is_first():
        return NOT_THE_FIRST
    if wrapper.is_prepared([_taken(left) for _ in range(int(count))], path):
        wrapper.run(left, keep_going == "1")
    wrapper.finish(wake)
    return 0


class Wrapper:
    """Of the run in `folder`."""

    def __init__(self, folder: str, cwd: str, umask: int) -> None:
        self.folder, self.cwd, self.umask = folder, cwd, umask
        self.environment = {name: value for name, value in process_environment().items() if name != "OLDPWD"}
        self._neighbours: set[int] = set()

    def is_first(self) -> bool:
        """Take the run, unless another wrapper did."""
        try:
            number = os.open(self._path(PID), _WRITE | os.O_EXCL, 0o600)
        except OSError:
            return False
        os.write(number, f"{os.getpid()}\n".encode())
        os.close(number)
        return True

    def is_prepared(self, prologue: "Sequence[list[str]]", path: str) -> bool:
        """Run the prologue; False: it failed, or the run was stopped."""
        if prologue:
            self._write(PROLOGUE_START)
        log = self._path(PROLOGUE_OUTPUT)
        for number, argv in enumerate(prologue, 1):
            environment = {**self.environment, "PATH": path} if is_ours(argv) else self.environment
            code = self._exit_code(argv, environment, "/", (os.devnull, log, log))
            if self._is_stopped():
                return False
            if code:
                self._write(PROLOGUE_EXIT, b"%d %d" % (code, number))
                return False
        try:
            os.chdir(self.cwd)
        except OSError as error:
            _say(error, self.cwd)
            self._write(PROLOGUE_EXIT, b"%d 0" % BROKEN)
            return False
        os.chdir("/")
        self._write(PROLOGUE_EXIT, b"0 0")
        return True

    def run(self, left: "list[str]", keep_going: bool) -> None:
        """Run the steps that `left` tells."""
        while left and not self._is_stopped():
            step = Step(left)
            if step.beside:
                self._neighbours.add(_forked(partial(self._step, step)))
                continue
            self._await_neighbours()
            if self._is_due(step.after) and self._step(step) and not keep_going:
                return
        if not self._is_stopped():
            self._await_neighbours()

    def finish(self, wake: str) -> None:
        """Leave the end, and stay as long as something lives below."""
        spent = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        self._write(END, b"\n".join(b"0m%.6fs 0m%.6fs" % (one.ru_utime, one.ru_stime) for one in spent))
        try:
            with open(wake, "wb", 0) as file:  # closed here: that is what wakes, and below it may stop itself
                file.write(b"\n")
        except OSError:
            pass  # nobody waits
        while _has_children():
            os.kill(os.getpid(), _signal.SIGSTOP)

    def _step(self, step: Step) -> int:
        base = self._path(step.name)
        _remove(base + ".start")
        out = base + ".out"
        files = (step.stdin, out, out if step.joined else base + ".err")
        code = self._exit_code(step.argv, self.environment, self.cwd, files, f"{step.name}.start")
        if not self._is_stopped():
            if not os.path.exists(base + ".start"):
                self._write(f"{step.name}.start")  # its files could not be opened
            self._write(f"{step.name}.exit", b"%d" % code)
        return code

    def _exit_code(
        self, argv: "list[str]", environment: "Mapping[str, str]", cwd: str, files: "Sequence[str]", start: str = ""
    ) -> int:
        """Its exit code, as a shell tells it. `files`: for input, output and errors; `start`: says that it begins."""
        numbers: list[int] = []
        try:
            # opened first, since a file that cannot be would look like a command that failed
            numbers.append(os.open(files[0], os.O_RDONLY))
            numbers.append(os.open(files[1], _WRITE | os.O_APPEND, 0o600))
            numbers.append(
                os.dup(numbers[1]) if files[2] == files[1] else os.open(files[2], _WRITE | os.O_APPEND, 0o600)
            )
            pid = _forked(partial(self._begin, argv, environment, cwd, numbers, start))
        except OSError as error:
            _say(error, argv[0])
            return BROKEN
        finally:
            for number in numbers:
                os.close(number)
        while (ended := os.wait())[0] != pid:  # also what it adopted
            self._neighbours.discard(ended[0])
        return _code(ended[1])

    def _begin(
        self, argv: "list[str]", environment: "Mapping[str, str]", cwd: str, numbers: "Sequence[int]", start: str
    ) -> None:
        for place, number in enumerate(numbers):
            os.dup2(number, place)
        if self._is_stopped():
            os._exit(STOPPED)
        if start:
            self._write(start, _own_line())
        os.chdir(cwd)
        os.umask(self.umask)
        try:
            become(argv, {**environment, "PWD": cwd})
        except FileNotFoundError as error:
            _say(error, argv[0])
            os._exit(MISSING)

    def _await_neighbours(self) -> None:
        while self._neighbours:
            self._neighbours.discard(os.wait()[0])

    def _is_due(self, after: str) -> bool:
        if not after:
            return True
        if after.startswith("+"):
            return any(self._exit_of(name) == 0 for name in after[1:].split())
        return 0 < self._exit_of(after) < BROKEN

    def _exit_of(self, name: str) -> int:
        """-1: it has none."""
        try:
            with open(self._path(f"{name}.exit"), "rb", buffering=0) as file:
                return int(file.read(100))
        except (OSError, ValueError):
            return -1

    def _is_stopped(self) -> bool:
        return os.path.exists(self._path(STOP))

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    # What a program put in its place is not written to: a link leads elsewhere, a pipe waits for ever.
    def _write(self, name: str, text: bytes = b"") -> None:
        path = self._path(name)
        try:
            _remove(path)
            _remove(path + NEW)
            number = os.open(path + NEW, _WRITE | os.O_EXCL, 0o600)
            os.write(number, text + b"\n")
            os.close(number)
            os.rename(path + NEW, path)
        except OSError as error:
            _say(error, path)


def _forked(work: "Callable[[], object]") -> int:
    """A process that does this and ends, with BROKEN if it comes to no end of its own."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except OSError as error:
        _say(error, "")
    finally:
        os._exit(BROKEN)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)


def _own_line() -> bytes:
    try:
        with open("/proc/self/stat", "rb", buffering=0) as file:
            return file.read(4096).rstrip(b"\n")
    except OSError:
        return str(os.getpid()).encode()  # there is no /proc


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _say(error: OSError, what: str) -> None:
    os.write(2, f"{error.filename or what}: {error.strerror}\n".encode("utf-8", "backslashreplace"))
