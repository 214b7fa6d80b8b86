"""Limits of one connection before its caller is known: uvicorn's protocols with an end to every wait.

1. An address and its headers come within HEAD_SECONDS, a body within REST_SECONDS, however slowly they trickle.
2. An answer is taken within TAKE_SECONDS, else the connection is cut.
3. At most MAX_CONNECTIONS: one more replaces the longest silent one, or gets 503 if all are active.
4. uvicorn's own answers (400, 503) have the server's usual headers (Connection.bare_headers).
5. Without requests nothing runs: its tick took 100 ms of CPU a minute.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from .errors import UsageError

LOG = logging.getLogger(__name__)
BODY_SECONDS = 30.0
HEAD_SECONDS = 20.0
REST_SECONDS = BODY_SECONDS + 5.0
"""Later than BODY_SECONDS, in which an application reads a body: an unread body trickles on without it."""
TAKE_SECONDS = 60.0
MAX_CONNECTIONS = 400
_SAID = {400: b"That was no HTTP.\n", 503: b"Too many connections; try again in a moment.\n"}
Headers = tuple[tuple[bytes, bytes], ...]
_NAMED = {400: b"Bad Request", 503: b"Service Unavailable"}


def bound(host: str, port: int, hint: str) -> socket.socket:
    """A socket that listens there. UsageError with this hint: the port is taken."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise UsageError(f"nobrakes cannot listen on {host}:{port}: {error.strerror}", hint) from None
    made.listen(128)
    made.setblocking(False)
    return made


def settings() -> dict[str, Any]:
    return {
        "http": Connection,
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "date_header": False,  # rebuilt by a tick that there is not
        "proxy_headers": False,
        "lifespan": "on",
        "timeout_keep_alive": int(HEAD_SECONDS),
        "timeout_graceful_shutdown": 3,
        "h11_max_incomplete_event_size": 32 * 1024,
    }


def _bare(status: int, headers: Headers) -> bytes:
    said = _SAID[status]
    lines = [b"HTTP/1.1 %d %s" % (status, _NAMED[status]), b"content-type: text/plain; charset=utf-8"]
    lines += [b"content-length: %d" % len(said), b"connection: close", b"cache-control: no-store"]
    return b"\r\n".join([*lines, *(name + b": " + value for name, value in headers), b"", said])


class StalledPeerCut:
    """Cuts a connection whose other end does not read."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _is_full: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self._is_full = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        if self._is_full is not None:
            self._is_full.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)  # type: ignore[misc]
        if self._is_full is not None:
            self._is_full.cancel()

    def end(self) -> None:
        self.loop.call_later(TAKE_SECONDS, self.transport.abort)


class Connection(StalledPeerCut, H11Protocol):
    """An HTTP connection. `bare_headers`: of uvicorn's own answers. `quiet_since`: it owes a request; None: none."""

    bare_headers: Headers = ()
    quiet_since: float | None = None
    _phase: Any = None
    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS and not self._make_room():
            LOG.warning("refused a connection: there are %s", len(self.connections) - 1)
            transport.write(_bare(503, self.bare_headers))
            transport.close()
            self.end()
            return
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self.end()
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._until(None)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._until(None)
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        self.transport.write(_bare(400, self.bare_headers))
        self.transport.close()
        self.end()

    def _make_room(self) -> bool:
        quiet = [one for one in self.connections if isinstance(one, Connection) and one.quiet_since is not None]
        if not quiet:
            return False
        oldest = min(quiet, key=lambda one: one.quiet_since or 0.0)
        oldest._until(None)
        oldest.transport.abort()
        return True

    def _look(self) -> None:
        """Start the present timeout; trickling data does not restart it."""
        if (state := self.conn.their_state) is self._phase and self._end is not None:
            return
        self._until({h11.IDLE: HEAD_SECONDS, h11.SEND_BODY: REST_SECONDS}.get(state))
        self._phase = state
        self.quiet_since = self.loop.time() if state is h11.IDLE else None

    def _until(self, seconds: float | None) -> None:
        if self._end is not None:
            self._end.cancel()
        self._end = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
        if seconds is None:
            self.quiet_since = None


class Socket(StalledPeerCut, WebSocketsSansIOProtocol):
    """One that is a page's socket."""

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.end()

    def on_task_complete(self, task: "asyncio.Task[None]") -> None:
        super().on_task_complete(task)
        self.end()


class Server(uvicorn.Server):
    """uvicorn's server without its ten ticks a second."""

    _end: Callable[[], object] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """uvicorn's own handler stays until the clean-up ends, so that a second signal kills nothing."""
        super().handle_exit(sig, frame)
        if self._end is not None:
            self._end()

    async def main_loop(self) -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        self._end = partial(loop.call_soon_threadsafe, over.set)
        if not await self.on_tick(0):  # a signal came before
            await over.wait()
