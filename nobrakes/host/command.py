"""Clocks, the browser, the command that agents call, work beside the loop, and a stop in bounded time.

A clock that nobody sets: it goes on while the machine is awake, and starts again with each boot.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StopCut
from ..files import LEFT, is_readable, private_folder, write_atomic
from ..paths import HOOKS, Paths, own_path, process_environment, resource
from ..text.cleaning import first_of
from . import proctable

if TYPE_CHECKING:
    from concurrent.futures import Future

_BOOT = "/proc/sys/kernel/random/boot_id"


def steady() -> tuple[str, float]:
    """(boot id, seconds awake since boot); without boot ids the id is constant."""
    boot = ""
    with contextlib.suppress(OSError), open(_BOOT, encoding="ascii") as file:
        boot = file.read().strip()
    return boot, time.monotonic()


class LocalZone(tzinfo):
    """Local time on any day; `datetime.astimezone` gives today's offset for all days."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        seconds = (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
        return datetime.fromtimestamp(seconds).replace(tzinfo=self)


def named_zone(name: str) -> tzinfo | None:
    """None: empty or unknown name."""
    if not name:
        return None
    from zoneinfo import ZoneInfo  # reads the folders of zones when it is imported

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return None


def open_page(path: str) -> bool:
    return open_address(Path(path).as_uri())


def open_address(address: str) -> bool:
    """Show the page in a browser; whether one could be started."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")) and (
        os.uname().sysname == "Linux"
    ):
        return False  # a browser of the terminal would take it over
    words = [sys.executable, "-I", "-c", "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))", address]
    environment = {**process_environment(), "PATH": own_path(os.getcwd())}  # it looks for the browser there
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, check=False).returncode == 0


MAX_LENGTH = 127
_ASKED_ALL_NIGHT = (
    *("", "agents", "agents/db", "agents/service", "beads", "checks", "checks/policy"),
    *("cli", "db", "decisions", "events", "features", "host", "projects", "projects/service", "text"),
)
"""Folders of the package that `nobrakes agent …` imports from."""
_PROGRAM = """
import sys
sys.path.append({package!r})
from nobrakes.cli.entry import main
sys.exit(main())
"""
_BY_SHELL = """#!/bin/sh
'''exec' {python} -PS "$0" "$@"
' '''"""


def script(python: str, package: str) -> bytes:
    first = f"#!{python} -PS"  # nothing is imported from the script's own folder, and `site` only where it is needed
    if " " in python or len(os.fsencode(first)) > MAX_LENGTH:
        import shlex

        first = _BY_SHELL.format(python=shlex.quote(python))
    return os.fsencode(first + _PROGRAM.format(package=package))


# Agents call it all night: pip's own script may import `re` first, which costs half a start of Python, and `site` an
# eighth. What it imports is compiled first, since a sandbox is read-only. Where the kernel would not read the first
# line to its end (a space, a long path), /bin/sh starts the interpreter.
def install(paths: Paths) -> None:
    """Install the running `nobrakes` in .nobrakes/bin, with the workspaces' hooks below."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    compile_for_agents(os.path.join(package, "nobrakes"))
    _put(os.path.join(paths.folder, "bin", "nobrakes"), script(sys.executable, package))
    for name in HOOKS:
        with open(resource(os.path.join("hooks", name)), "rb") as file:
            _put(os.path.join(paths.hooks, name), file.read())


def compile_for_agents(package: str) -> int:
    """Compile the modules of agents' commands; returns how many. An unwritable package stays; doctor reports it."""
    from importlib.util import cache_from_source

    missing = [path for path in _sources(package) if not os.path.exists(cache_from_source(path))]
    if missing:
        import py_compile

        for number, path in enumerate(missing):
            try:
                py_compile.compile(path, doraise=True)
            except (OSError, py_compile.PyCompileError):
                return number
    return len(missing)


def _sources(package: str) -> Iterator[str]:
    for inner in _ASKED_ALL_NIGHT:
        folder = os.path.join(package, inner)
        yield from (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py"))


def _put(path: str, wanted: bytes) -> None:
    if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.X_OK):
        with open(path, "rb") as file:
            if file.read() == wanted:
                return
    private_folder(os.path.dirname(path))
    write_atomic(path, wanted, 0o755)


_GONE_SECONDS = 2.0


def outputs(
    commands: Mapping[str, Sequence[str]], env: Mapping[str, str], seconds: float, folder: str | None = None
) -> dict[str, tuple[int, str]]:
    """Exit code and output by name; on a timeout the command's session is killed."""
    running = {
        name: subprocess.Popen(
            argv,
            env=dict(env),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        for name, argv in commands.items()
    }
    found = {}
    for name, child in running.items():
        try:
            out, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            try:
                out, _ = child.communicate(timeout=_GONE_SECONDS)
            except subprocess.TimeoutExpired:  # it waits for a disk, or what it left holds its output
                found[name] = (-signal.SIGKILL, "")
                continue
        found[name] = (child.returncode, out.decode(errors="replace"))
    return found


def pid_in(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return 0
    return int(text) if text.endswith("\n") and text.strip().isdigit() else 0


def is_alive(pid: int) -> bool:
    """A zombie is not alive."""
    process = proctable.look(pid)
    return process is not None and process.running


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


STOP_SECONDS = 25.0
"""Seconds from the signal to the end of an orderly stop."""
URGENT_SECONDS = 5.0
"""Seconds of an immediate stop: the second signal, or a hand-over."""
PENDING_SECONDS = 10.0
"""Interval for checking unhandled signals, the only reason to wake."""
LAST_WORDS_SECONDS = 2
IDLE = "idle"
"""Prefix of idle threads' names, which are not reported as left."""
_END_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1}
_MAX_SHOWN = 12


# A stop ends in bounded time: a thread that watches it is told through a pipe, which a signal handler may write, and
# sees signals that no handler took within PENDING_SECONDS. Then it says what is left and ends the process; an alarm
# does where saying it hangs. What is closed at the end has a time of its own beside that (`part`).
class StopLimit:
    """Limits a stop while open. `more` seconds extend an orderly stop."""

    def __init__(self, more: float = 0.0) -> None:
        self._seconds = STOP_SECONDS + more
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._part: tuple[str, float] | None = None  # what is being closed, and when it is to be over
        self._thread = threading.Thread(target=self._watch, name="stop limit", daemon=True)

    def __enter__(self) -> "StopLimit":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._writing)  # its end is seen at the other one
        self._thread.join()
        os.close(self._reading)

    def asked(self, at_once: bool) -> None:
        """Callable in a signal handler."""
        self._say(b"!" if at_once else b".")

    @contextlib.contextmanager
    def part(self, name: str, seconds: float) -> Iterator[None]:
        """If the block takes longer, the process ends and names this part."""
        self._part = (name, time.monotonic() + seconds)
        self._say(b"p")
        try:
            yield
        finally:
            self._part = None

    def _say(self, what: bytes) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._writing, what)

    def _watch(self) -> None:
        # what waits for the process is told only to who blocks it, and this thread is not the one to take it
        signal.pthread_sigmask(signal.SIG_BLOCK, _END_SIGNALS)
        ends_at: float | None = None
        while True:
            now = time.monotonic()
            name, part_ends_at = self._part or ("", None)
            due = [at for at in (ends_at, part_ends_at) if at is not None]
            if due and now >= min(due):
                _cut(name)
            nap = min([*due, *([now + PENDING_SECONDS] if ends_at is None else [])]) - now
            if not is_readable(self._reading, nap):
                if ends_at is None and bool(_END_SIGNALS & signal.sigpending()):
                    ends_at = time.monotonic() + self._seconds
                continue
            said = os.read(self._reading, 64)
            if not said:
                return
            if not said.strip(b"p"):
                continue
            until = time.monotonic() + (URGENT_SECONDS if b"!" in said else self._seconds)
            ends_at = until if ends_at is None else min(ends_at, until)


def _cut(part: str) -> None:
    signal.setitimer(signal.ITIMER_REAL, LAST_WORDS_SECONDS)  # nobody handles this alarm: it kills
    with contextlib.suppress(Exception):
        os.write(2, f"! {left_running(part)}\n".encode("utf-8", "replace"))
    os._exit(StopCut.code)


def left_running(part: str = "") -> str:
    """One line about work in and below this process; first `part`, which was waited for."""
    main = threading.main_thread()
    found = [part] if part else []
    found += [f"{_name(pid)} (process {pid})" for pid in proctable.children(os.getpid())]
    # those that only serve until the end (daemons) keep nothing up, unless they are the part that was waited for
    working = [one.name for one in threading.enumerate() if not one.daemon and one is not main]
    found += [f"'{name}' in the background" for name in working if not name.startswith(IDLE)]
    frame = sys._current_frames().get(main.ident or 0)
    loop = f"the loop, in {frame.f_code.co_qualname}" if frame is not None else "the loop"
    shown = first_of(found, _MAX_SHOWN) or loop
    return f"{LEFT}{shown}; the stop took too long, so the daemon ended early; its next start continues the work"


def _name(pid: int) -> str:
    # not its command line: reading that waits for a process that waits for its memory
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "a process"


NEAR = 4
"""Parallel jobs, so that a slow clone holds up only its bead."""


# A job uses git and files, never the store: a database connection belongs to one thread. It is known by its name until
# its end was told once, and asked for again it is done again. Nothing is remembered over a restart. A thread has the
# name of its job, so that a stop that is cut can tell which one it left.
class ThreadBackground:
    """Background in threads that start with the first job and end with the process."""

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._near = ThreadPoolExecutor(max_workers=NEAR, thread_name_prefix=IDLE)
        self._far = ThreadPoolExecutor(max_workers=1, thread_name_prefix=IDLE)
        self._jobs: dict[str, Future[None]] = {}
        self._wake: Callable[[], None] = lambda: None

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called from the thread after each job."""
        self._wake = wake

    def begin(self, name: str, job: Callable[[], None], far: bool = False) -> None:
        """Ignored while a job of this name is unfinished or uncollected."""
        if name not in self._jobs:
            self._jobs[name] = (self._far if far else self._near).submit(partial(_do, name, job))
            self._jobs[name].add_done_callback(lambda _: self._wake())

    def over(self, name: str) -> bool:
        """Whether no such job runs; raises its error once."""
        future = self._jobs.get(name)
        if future is None:
            return True
        if not future.done():
            return False
        del self._jobs[name]
        future.result()
        return True

    def busy(self, name: str) -> bool:
        return name in self._jobs

    def is_empty(self) -> bool:
        return not self._jobs

    def close(self) -> None:
        self._near.shutdown(wait=True)
        self._far.shutdown(wait=True)


def _do(name: str, job: Callable[[], None]) -> None:
    thread = threading.current_thread()
    thread.name = name
    try:
        job()
    finally:
        thread.name = IDLE
