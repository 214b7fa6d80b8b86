"""`nobrakes web` as a process of its own, on a port that stays: it is killed, stopped and started again."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.scripted import until
from tests.support.warm import NOBRAKES


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class WebProcess:
    """The server of the person whose environment this is, started in `folder`."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder, self.env, self.port = folder, dict(env), free_port()
        self.process: subprocess.Popen[str] | None = None
        self.origin = ""
        self.begin()

    def begin(self) -> None:
        """Start it; it answers when this returns."""
        argv = [NOBRAKES, "web", "--port", str(self.port)]
        self.process = subprocess.Popen(argv, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, text=True)
        until(self._answers, 60)
        assert self.process.stdout is not None
        link = next(line.split()[1] for line in self.process.stdout if line.startswith("open"))
        self.origin = link.partition("/login")[0]

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, "the server has ended"
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/login", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def new_code(self) -> str:
        """As `nobrakes web --code` prints it."""
        done = subprocess.run(
            [NOBRAKES, "web", "--code"], cwd=self.folder, env=self.env, capture_output=True, text=True
        )
        return next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("code"))

    def tell(self, number: int) -> None:
        """Send it a signal."""
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """It is gone at once."""
        self.tell(signal.SIGKILL)
        assert self.process is not None
        self.process.wait(10)

    def end(self) -> None:
        """It ends, whatever was done to it."""
        if self.process is None or self.process.poll() is not None:
            return
        self.tell(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def web_process(folder: Path, env: Mapping[str, str]) -> Iterator[WebProcess]:
    """One, until the end of the block."""
    made = WebProcess(folder, env)
    try:
        yield made
    finally:
        made.end()
