"""Connections that say nothing, trickle, take nothing or are too many: each ends, and nobody else waits for it."""

import asyncio
import contextlib
import os
import signal
import socket
import time

import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed, InvalidStatus

from nobrakes import serving as connections
from nobrakes.web import access, live
from tests.integration.web.test_attacks import head
from tests.integration.web.test_socket import hear, hello, seq_of
from tests.integration.web.test_socket import socket as page_socket
from tests.support.web import serving

TIMEOUT = 20


def connect(site) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", site.site.port), 10)
    line.settimeout(0.05)
    return line


def is_cut(line: socket.socket, trickle: bytes = b"") -> bool:
    """Whether the server ends it while one byte after the other comes."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            if trickle:
                line.sendall(trickle)
            if not line.recv(65536):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_what_trickles_is_cut_whether_it_is_a_head_or_a_body_that_nobody_wants(repository, monkeypatch) -> None:
    for name in ("HEAD_SECONDS", "REST_SECONDS"):
        monkeypatch.setattr(connections, name, 1.0)
    with serving() as site:
        body = head(site, "/r/shop/do/pause", "Content-Length: 200000", method="POST").replace(
            "Connection: close\r\n", ""
        )
        first = head(site, "/login").replace("Connection: close\r\n", "")
        for start, trickle in (
            ("", b""),
            ("", b"G"),
            ("GET /login HTTP/1.1\r\nX-", b"x"),
            (first + "GET /lo", b"g"),
            (body, b"x"),
        ):
            with connect(site) as line:
                line.sendall(start.encode())
                assert is_cut(line, trickle), (start, trickle)
        with connect(site) as line:
            for _ in range(3):  # whoever asks and takes what is answered goes on
                line.sendall(first.encode())
                time.sleep(0.5)
                assert line.recv(65536).startswith(b"HTTP/1.1 200")


def test_whoever_takes_nothing_of_what_was_asked_for_is_cut(repository, monkeypatch) -> None:
    monkeypatch.setattr(connections, "TAKE_SECONDS", 0.5)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 600.0)
    with serving() as site, connect(site) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asked = head(site, "/static/x/base.css").replace("Connection: close\r\n", "").encode()
        end = time.monotonic() + TIMEOUT
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while time.monotonic() < end:
                with contextlib.suppress(TimeoutError):
                    line.sendall(asked)
        assert site.get("/login").status_code == 200


def test_one_connection_too_many_takes_the_place_of_the_quietest_and_never_of_a_page(repository, monkeypatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 4)
    with serving() as site, contextlib.ExitStack() as stack:
        site.log_in()
        site.raw.close()
        pages = [stack.enter_context(page_socket(site)) for _ in range(2)]
        for page in pages:
            page.send(hello(0))
        quiet = [stack.enter_context(connect(site)) for _ in range(6)]
        with stack.enter_context(connect(site)) as line:
            line.sendall(head(site, "/login").encode())
            line.settimeout(TIMEOUT)
            assert line.recv(65536).startswith(b"HTTP/1.1 200")
        assert all(is_cut(line) for line in quiet[:4])
        for page in pages:
            assert hear(page, lambda message: True)["op"] in ("welcome", "reset")
        for page in [stack.enter_context(page_socket(site)) for _ in range(2)]:
            page.send(hello(0))
            hear(page, lambda message: True)
        with connect(site) as line:
            line.settimeout(TIMEOUT)
            said = line.recv(65536)
        assert said.startswith(b"HTTP/1.1 503") and access.CSP.encode() in said


def test_what_is_no_http_and_a_refused_socket_are_answered_with_our_headers(site) -> None:
    for garbage in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /login HTTP/1.1\r\nHost : x\r\n\r\n"):
        with connect(site) as line:
            line.settimeout(TIMEOUT)
            line.sendall(garbage)
            said = line.recv(65536)
            assert said.startswith(b"HTTP/1.1 4") and access.CSP.encode() in said, garbage
    with pytest.raises(InvalidStatus) as refused, page_socket(site, origin="http://evil.example"):
        pass
    assert refused.value.response.headers["content-security-policy"] == access.CSP


def test_a_socket_says_hello_in_time_and_there_are_so_many_of_them(site, monkeypatch) -> None:
    monkeypatch.setattr(live, "HELLO_SECONDS", 0.3)
    with page_socket(site) as line, pytest.raises(ConnectionClosed):
        line.recv(timeout=TIMEOUT)
    monkeypatch.setattr(live, "HELLO_SECONDS", 5.0)
    monkeypatch.setattr(live, "MAX_SOCKETS", 1)
    seq = seq_of(site)
    with page_socket(site) as first:
        first.send(hello(seq))
        hear(first, lambda message: message["op"] == "welcome")
        with page_socket(site) as second, pytest.raises(ConnectionClosed) as closed:
            second.recv(timeout=TIMEOUT)
        assert closed.value.rcvd.code == live.FULL


def test_a_second_signal_cuts_off_no_cleaning_up() -> None:
    seen = []

    async def app(scope, receive, send) -> None:
        while scope["type"] == "lifespan":
            kind = (await receive())["type"]
            seen.append(kind)
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.startup":
                asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGTERM)
            else:
                assert signal.getsignal(signal.SIGTERM) == server.handle_exit, "a second one would end the process"
                os.kill(os.getpid(), signal.SIGTERM)
                seen.append("cleaned up")
                return

    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append("told on"))
    server = connections.Server(uvicorn.Config(app, lifespan="on", log_config=None))
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            asyncio.run(server.serve(sockets=[listening]))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["lifespan.startup", "lifespan.shutdown", "cleaned up", "told on", "told on"]
