"""Messages sent beside everything else: each by a process of its own, at most one at a time through a channel.

1. A thread waits for the process and does nothing else. After the deadline the process and its whole group are killed.
2. What to send goes to its stdin, and fits into the pipe; nothing of it is in its arguments or its environment.
3. Its exit code is the answer, and what it wrote to stderr the reason.
4. The processes are no runs: they have sessions of their own, bear no mark, and end with their deadline.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO

from ..core.errors import NobrakesError
from ..core.notices.notice import Message, Sent
from ..core.notices.scrubbing import scrubbed
from ..paths import own_path
from .stopping import IDLE

ARGV = (sys.executable, "-I", "-m", "nobrakes.notifiers.deliver")
PASSED_ON = (
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "LANG", "LOGNAME", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TZ"),
    *("USER", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
)
"""What a sender sees of the environment."""
MOST_ERROR = 4000
_LOOK = 0.02

Pack = Callable[[str, Message], tuple[bytes, str]]
"""What the process is given for a channel and a message, and the secret in it. NobrakesError."""


class ChildChannels:
    """Channels by child processes. `seconds` is the deadline as it is now."""

    def __init__(self, pack: Pack, seconds: Callable[[], float], argv: tuple[str, ...] = ARGV) -> None:
        self._pack = pack
        self._seconds = seconds
        self._argv = argv
        self._wake: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._ended: list[Sent] = []
        self._threads: list[threading.Thread] = []
        self._cut = threading.Event()

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called from the thread after each end."""
        self._wake = wake

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        """Start a process that sends it."""
        self._busy.add(channel)
        try:
            stdin, secret = self._pack(channel, message)
        except NobrakesError as error:
            self._over(Sent(channel, delivery, scrubbed(f"{error} {error.hint}", "")))
            return
        work = threading.Thread(
            target=self._send, args=(channel, delivery, stdin, secret), name=f"sending through {channel}", daemon=True
        )
        self._threads = [thread for thread in self._threads if thread.is_alive()] + [work]
        work.start()

    def _send(self, channel: str, delivery: int, stdin: bytes, secret: str) -> None:
        error = "it could not be sent"
        try:
            error = scrubbed(self._attempt(stdin, time.monotonic() + self._seconds()), secret)
        except OSError as trouble:
            error = f"no process could be started: {trouble.strerror or trouble}"
        finally:
            self._over(Sent(channel, delivery, error))
            threading.current_thread().name = IDLE

    def _attempt(self, stdin: bytes, deadline: float) -> str:
        """Why it was not sent; empty: it was."""
        with tempfile.TemporaryFile() as errors:
            child = self._start(stdin, errors)
            while child.poll() is None:
                if time.monotonic() > deadline or self._cut.wait(_LOOK):
                    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has just ended
                        os.killpg(child.pid, signal.SIGKILL)  # not collected yet, so the id is its own
                    child.wait()
                    return "it was ended with the daemon" if self._cut.is_set() else "it took too long and was ended"
            if child.returncode == 0:
                return ""
            errors.seek(0)
            said = errors.read(MOST_ERROR).decode("utf-8", "replace").strip()
            return said or f"it ended with {child.returncode}"

    def _start(self, stdin: bytes, errors: IO[bytes]) -> "subprocess.Popen[bytes]":
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment["PATH"] = own_path(os.getcwd())
        child = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
        assert child.stdin is not None
        try:
            child.stdin.write(stdin)
            child.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and its exit code says how
        return child

    def _over(self, sent: Sent) -> None:
        with self._lock:
            self._ended.append(sent)
        self._wake()

    def is_busy(self, channel: str) -> bool:
        """Whether something was begun there whose end was not asked for yet."""
        return channel in self._busy

    def ended(self) -> list[Sent]:
        """What has ended since it was asked last."""
        with self._lock:
            found, self._ended = self._ended, []
        self._busy -= {sent.channel for sent in found}
        return found

    def close(self, seconds: float) -> None:
        """Wait so long for what is being sent, then kill it."""
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._cut.set()
        for thread in self._threads:
            thread.join(1.0)
