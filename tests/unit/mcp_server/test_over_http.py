"""The guard before the workspace's HTTP server: what cannot be looked up now is answered in words."""

import json
from typing import Any

import anyio
import pytest

from nobrakes.core.errors import PlaceUnusable, StoreBusy
from nobrakes.mcp_server import over_http
from nobrakes.operations.projects import clients


@pytest.mark.parametrize("error", [StoreBusy("locked for 5 seconds"), PlaceUnusable("/srv/ada/user.db is no file")])
def test_a_busy_database_is_answered_in_words(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_token(token: str) -> str:
        raise error

    monkeypatch.setattr(clients, "of_token", of_token)
    headers = [(b"host", b"127.0.0.1:7118"), (b"authorization", b"Bearer nbc_x")]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read of who is not known")

    anyio.run(over_http.Guard(7118), {"type": "http", "path": "/mcp", "headers": headers}, receive, send)
    assert sent[0]["status"] == 503 and "try again" in json.loads(sent[1]["body"])["error"]
    assert b"/srv/ada" not in sent[1]["body"], "nobody is known yet: no path is told"
