"""The pages, served by a real uvicorn in a thread, to a client that speaks as a browser does."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx

from nobrakes.machine.web_state import web_state
from nobrakes.web import server
from nobrakes.web.access import Site
from tests.support.warm import NOBRAKES

NAME = "nobrakes.localhost"


class Served:
    """A site that answers. `get` and `post` are a logged-in browser's; `raw` sends what it is told and no more."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.host = f"{NAME}:{site.port}"
        self.origin = f"http://{self.host}"
        nothing_kept = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self.raw = httpx.Client(base_url=f"http://127.0.0.1:{site.port}", timeout=20, cookies=nothing_kept)
        self.cookies: dict[str, str] = {}

    def headers(self, **more: str) -> dict[str, str]:
        found = {"host": self.host, "sec-fetch-site": "same-origin"}
        if self.cookies:
            found["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {**found, **{name.replace("_", "-"): value for name, value in more.items()}}

    def get(self, path: str, **more: str) -> httpx.Response:
        return self.raw.get(path, headers=self.headers(**more))

    def post(self, path: str, data: Any, **more: str) -> httpx.Response:
        return self.raw.post(path, data=data, headers=self.headers(origin=self.origin, **more))

    def new_code(self) -> str:
        """One to log in with, once."""
        return self.site.state.new_code()

    def log_in(self) -> "Served":
        answer = self.post("/login", {"code": self.new_code()})
        assert answer.status_code == 303, answer.text
        self.cookies = dict(answer.cookies)
        return self


@contextmanager
def serving(token: str = "", **options: Any) -> Iterator[Served]:
    """Serve on a free port of the loopback until the end of the block."""
    import asyncio

    import uvicorn

    from nobrakes.web.server import application

    chosen = server.Options(port=0, **options)
    state = web_state()
    listening, _ = server.bound("127.0.0.1", 0)
    port = int(listening.getsockname()[1])
    site, _ = server.site_of(state, chosen, port, "", token)
    running = uvicorn.Server(uvicorn.Config(application(site), **server.settings(chosen)))
    running.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[listening])), daemon=True)
    thread.start()
    try:
        served = Served(site)
        yield served
        served.raw.close()
    finally:
        running.should_exit = True
        thread.join(10)
        listening.close()


class Process:
    """`nobrakes web` as a person starts it, in the current folder; `said` is what it printed until it served."""

    def __init__(self, *options: str, folder: Path | str = ".", env: Mapping[str, str] = os.environ) -> None:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        argv = [NOBRAKES, "web", *options]
        self.running = subprocess.Popen(argv, cwd=folder, env=env, text=True, **pipes)  # type: ignore[call-overload]
        self.said = ""
        for line in self.running.stdout:
            self.said += line
            if line.startswith("also "):
                break  # the last of what it says before it answers
        found = re.search(r"^open  (\w+)://([\w.-]+):(\d+)/\S*#code=(\S+)$", self.said, re.M)
        if not found:
            self.running.kill()
            raise AssertionError(f"it does not serve, or does not say where:\n{self.said}")
        self.scheme, self.name, port, self.code = found.groups()
        self.port = int(port)
        self.host = f"{self.name}:{port}"
        self.pid = self.running.pid

    @staticmethod
    def log(home: Path) -> str:
        """What a server of the person with this home wrote down."""
        return (home / ".local" / "state" / "nobrakes" / "web" / "log" / "web.log").read_text()

    def end(self) -> int:
        """As Ctrl-C does; its exit code."""
        self.running.send_signal(signal.SIGINT)
        try:
            self.said += self.running.communicate(timeout=20)[0]
        finally:
            self.running.kill()
        return self.running.returncode


@contextmanager
def process(*options: str, **environment: str) -> Iterator[Process]:
    """A process that serves until the end of the block."""
    found = Process(*options, env={**os.environ, **environment})
    try:
        yield found
    finally:
        if found.running.poll() is None:
            found.end()
