"""A stop ends in bounded time, whatever hangs: a thread that does nothing else watches it, and in the end cuts it.

1. It is told through a pipe, which a signal handler may write; where the main thread hangs so deep in the system that
   no handler runs, the signals that wait for it are seen within PENDING_SECONDS.
2. When the time is over it says what is left and ends the process at once: what was begun is written down before it
   is done, so the next start goes on, as after a kill.
3. Saying it may hang as well (a full pipe, a stalled disk): an alarm of the system's own ends the process then.
4. Once armed, it is disarmed only by the end of what it watches.
5. What is closed at the end has a time of its own beside that (`part`), whoever asked for the end or nobody did; the
   line names the part that was not over in its time.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

from ..core.errors import StopCut
from .readable import is_readable
from .system import proctable

STOP_SECONDS = 25.0
"""Between the signal and the end, for a stop in order."""
AT_ONCE_SECONDS = 5.0
"""The same for a stop at once: the second signal, or a hand-over."""
PENDING_SECONDS = 10.0
"""Between two looks for a signal that nobody could hear: it wakes for nothing else while nobody asks for a stop."""
LAST_WORDS_SECONDS = 2
LEFT = "left running: "
"""What the line about it begins with, wherever it is read again."""
IDLE = "idle"
"""What the name of a thread begins with that has nothing to do: it is not told as left."""
_HEARD = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1}
_MOST = 12


class StopLimit:
    """Watches while it is open. `more` seconds are added to the time of a stop in order."""

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
        """A stop was asked for. May be called in a signal handler."""
        self._say(b"!" if at_once else b".")

    @contextlib.contextmanager
    def part(self, name: str, seconds: float) -> Iterator[None]:
        """What is done in this block is over after so many seconds, or all is cut and this is named."""
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
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
        ends_at: float | None = None
        while True:
            now = time.monotonic()
            name, part_ends_at = self._part or ("", None)
            due = [at for at in (ends_at, part_ends_at) if at is not None]
            if due and now >= min(due):
                _cut(name)
            nap = min([*due, *([now + PENDING_SECONDS] if ends_at is None else [])]) - now
            if not is_readable(self._reading, nap):
                if ends_at is None and _is_asked_unheard():
                    ends_at = time.monotonic() + self._seconds
                continue
            said = os.read(self._reading, 64)
            if not said:
                return
            if not said.strip(b"p"):
                continue
            seconds = AT_ONCE_SECONDS if b"!" in said else self._seconds
            until = time.monotonic() + seconds
            ends_at = until if ends_at is None else min(ends_at, until)


def _is_asked_unheard() -> bool:
    """Whether a signal that asks for a stop waits for a thread that can take it."""
    return bool(_HEARD & signal.sigpending())


def _cut(part: str) -> None:
    """Say what is left, with the part that was being closed, and end the process."""
    signal.setitimer(signal.ITIMER_REAL, LAST_WORDS_SECONDS)  # nobody handles this alarm: it kills
    with contextlib.suppress(Exception):
        os.write(2, f"! {left_running(part)}\n".encode("utf-8", "replace"))
    os._exit(StopCut.code)


def left_running(part: str = "") -> str:
    """What still works in and below this process, in a line; first `part`, which was waited for."""
    main = threading.main_thread()
    found = [part] if part else []
    found += [f"{_name(pid)} (process {pid})" for pid in proctable.children(os.getpid())]
    # those that only serve until the end (daemons) keep nothing up, unless they are the part that was waited for
    working = [one.name for one in threading.enumerate() if not one.daemon and one is not main]
    found += [f"'{name}' beside the loop" for name in working if not name.startswith(IDLE)]
    shown = ", ".join(found[:_MOST]) + (f" and {len(found) - _MOST} more" if len(found) > _MOST else "")
    return f"{LEFT}{shown or _where(main)}; the stop took too long and was cut, and the next start goes on from here"


def _name(pid: int) -> str:
    # not its command line: reading that waits for a process that waits for its memory
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "a process"


def _where(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    return f"the loop, in {frame.f_code.co_qualname}" if frame is not None else "the loop"
