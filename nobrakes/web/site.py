"""One server's own facts: where it is reached, by which names, and who is logged in."""

import asyncio
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from ..doctor.health import Looks
from .rendering import STATIC, version

if TYPE_CHECKING:
    from ..machine.service.web_state import WebState


FAILURES = 10
"""Wrong codes a minute that are written in the log."""
LOG = logging.getLogger("nobrakes.web")


def hashed(token: str) -> bytes:
    """As a token is kept; empty: there is none."""
    import hashlib

    return hashlib.sha256(token.encode()).digest() if token else b""


@dataclass(slots=True)
class Site:
    """`names` are the hosts that a browser may say, `host:port` in small letters; `token`: the hash of a script's."""

    state: "WebState"
    port: int
    names: frozenset[str]
    is_secure: bool = False
    token: bytes = b""
    failed: deque[float] = field(default_factory=deque)
    looks: Looks = field(default_factory=Looks)

    @property
    def scheme(self) -> str:
        """Of every address."""
        return "https" if self.is_secure else "http"

    @property
    def cookie(self) -> str:
        """The name of the session's cookie: two servers on one host do not overwrite each other's."""
        return f"__Host-nb_{self.port}" if self.is_secure else f"nb_{self.port}"

    def is_flooded(self, said: str) -> bool:
        """Note that a code was wrong, in the log too; True: there were too many within a minute to write this one."""
        now = time.monotonic()
        while self.failed and now - self.failed[0] > 60:
            self.failed.popleft()
        if len(self.failed) >= FAILURES:
            return True
        self.failed.append(now)
        LOG.warning(said)
        return False


# Names of the site's own files are looked up in a list; no path comes from outside.
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".webmanifest": "application/json"}
_YEAR = "public, max-age=31536000, immutable"


@cache
def files() -> dict[str, bytes]:
    """Every file by its name."""
    found = {}
    for name in os.listdir(STATIC):
        if os.path.splitext(name)[1] in KINDS:
            with open(os.path.join(STATIC, name), "rb") as file:
                found[name] = file.read()
    return found


@cache
def _packed(name: str) -> bytes:
    import gzip

    return gzip.compress(files()[name], mtime=0)


async def static(request: Request) -> Response:
    """One file, for ever: the address has the version of all of them."""
    name = request.path_params["name"]
    if name not in files():
        return Response("there is no such file\n", 404, media_type="text/plain")
    # a page of an older version asks by its old address, and is told not to keep what it gets
    keep = _YEAR if request.path_params["version"] == version() else "no-cache"
    headers = {"cache-control": keep, "vary": "accept-encoding"}
    kind = KINDS[os.path.splitext(name)[1]]
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(_packed(name), headers={**headers, "content-encoding": "gzip"}, media_type=kind)
    return Response(files()[name], headers=headers, media_type=kind)


# A thread that takes too long is left: it goes on to its end and is heard no more. MAX_THREADS bounds how many there
# are, so a disk that hangs makes pages say so and nothing else. A command is waited for: nobody would know what it did.
TIMEOUT_SECONDS = 15.0
MAX_THREADS = 40
Look = Callable[[Request], Response]


class Threads:
    """The threads of one server."""

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._free = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], Response]) -> Response:
        """What `work` makes in a thread of its own; TimeoutError after TIMEOUT_SECONDS, the wait for one included."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self._free.acquire()
            answer: asyncio.Future[Response] = loop.create_future()

            def end(made: Response | None, error: BaseException | None) -> None:
                self._free.release()
                if answer.done():
                    return  # it was left
                if made is not None:
                    answer.set_result(made)
                else:
                    answer.set_exception(error or RuntimeError("nothing was made"))

            def go() -> None:
                made, error = None, None
                try:
                    made = work()
                except BaseException as caught:
                    error = caught
                with suppress(RuntimeError):  # the server has ended meanwhile
                    loop.call_soon_threadsafe(end, made, error)

            try:
                threading.Thread(target=go, daemon=True, name="page").start()
            except RuntimeError:
                self._free.release()
                raise
            return await answer


def in_time(look: Look) -> Callable[[Request], Awaitable[Response]]:
    """`look`, with TIMEOUT_SECONDS."""

    @wraps(look)
    async def answer(request: Request) -> Response:
        threads: Threads = request.app.state.threads
        return await threads.run(lambda: look(request))

    return answer
