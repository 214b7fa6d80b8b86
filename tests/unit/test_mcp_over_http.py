"""The guard before the workspace's HTTP server: what cannot be looked up now is answered in words."""

import json
import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from nobrakes import mcp_server
from nobrakes import serving as connections
from nobrakes.errors import PlaceUnusable, StoreBusy, UsageError
from nobrakes.projects.service import coding


@pytest.mark.parametrize("error", [StoreBusy("locked for 5 seconds"), PlaceUnusable("/srv/ada/user.db is no file")])
def test_a_busy_database_is_answered_in_words(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_token(token: str) -> str:
        raise error

    monkeypatch.setattr(coding, "client_of", of_token)
    headers = [(b"host", b"127.0.0.1:7118"), (b"authorization", b"Bearer nbc_x")]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read of who is not known")

    anyio.run(mcp_server.Guard(7118), {"type": "http", "path": "/mcp", "headers": headers}, receive, send)
    assert sent[0]["status"] == 503 and "try again" in json.loads(sent[1]["body"])["error"]
    assert b"/srv/ada" not in sent[1]["body"], "nobody is known yet: no path is told"


def test_a_connection_has_the_limits_of_the_pages_and_a_port_that_is_taken_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path))
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
        free.listen()
        with pytest.raises(UsageError, match="cannot listen on"):
            mcp_server.serve_http(port, lambda text: None)
    answers: list[bytes] = []

    def ask() -> None:
        """A head that never ends, then what is no HTTP, then the end."""
        for said in (b"POST /mcp HTTP/1.1\r\nx: ", b"\0\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), 20) as line:
                line.sendall(said)
                answers.append(b"".join(iter(lambda: line.recv(4096), b"")))
        os.kill(os.getpid(), signal.SIGINT)

    asking = threading.Thread(target=ask)
    with pytest.raises(KeyboardInterrupt):
        mcp_server.serve_http(port, lambda text: asking.start())
    asking.join()
    assert answers[0] == b"" and answers[1].startswith(b"HTTP/1.1 400 ")
