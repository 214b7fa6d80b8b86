"""The socket of a page: what it hears, where it goes on, and what it does not mind."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from nobrakes.cli import main
from nobrakes.web.rendering import BOOT

TIMEOUT = 20


@contextlib.contextmanager
def socket(site, **headers: str) -> Iterator[ClientConnection]:
    said = {"origin": site.origin, "cookie": site.headers().get("cookie", ""), **headers}
    # the name in the address is what the client says as Host; it is reached on the loopback
    import socket as sockets

    line = sockets.create_connection(("127.0.0.1", site.site.port))
    more = {name: value for name, value in said.items() if name != "origin" and value}
    with connect(
        f"ws://{site.host}/r/shop/socket", sock=line, origin=said["origin"] or None, additional_headers=more
    ) as found:
        yield found


def hello(after: int, *topics: str, boot: str = BOOT) -> str:
    return json.dumps({"boot": boot, "after": after, "topics": topics, "lines": {}})


def hear(line: ClientConnection, wanted) -> Any:
    """The first message that is wanted; a test fails when it does not come."""
    end = time.monotonic() + TIMEOUT
    while (left := end - time.monotonic()) > 0:
        message = json.loads(line.recv(timeout=left))
        if wanted(message):
            return message
    raise AssertionError("it did not come")


def seq_of(site) -> int:
    page = site.get("/r/shop/").text
    return int(page.partition('data-seq="')[2].partition('"')[0])


def test_a_page_hears_what_happens_after_it_was_made_once_and_with_its_pieces(site) -> None:
    seq = seq_of(site)
    assert main.run(["hold", "nb-1", "--reason", "before it listens"]) == 0
    with socket(site) as line:
        line.send(hello(seq, "now"))
        assert hear(line, lambda m: m["op"] == "welcome")["s"] == seq + 1
        missed = hear(line, lambda m: m["op"] == "ev" and m["e"])
        assert [(event["kind"], event["bead"]) for event in missed["e"]] == [("held", "nb-1")]
        assert main.run(["pause"]) == 0
        heard = hear(line, lambda m: m["op"] == "ev" and m["e"])
        assert [event["kind"] for event in heard["e"]] == ["paused"]

        def has_bar(message: Any) -> bool:
            return any(one["id"] == "bar-state" and "Paused" in one["html"] for one in message.get("parts", ()))

        bar = heard if has_bar(heard) else hear(line, has_bar)  # both may come together
        assert "<img" not in json.dumps(bar)
        last = heard["s"]
    with socket(site) as line:
        line.send(hello(last, "now"))
        hear(line, lambda m: m["op"] == "welcome")
        assert main.run(["resume"]) == 0
        assert [event["kind"] for event in hear(line, lambda m: m.get("e"))["e"]] == ["resumed"]


def test_a_page_of_another_process_or_from_nowhere_loads_itself_again(site) -> None:
    for first in (hello(seq_of(site), boot="another"), hello(10**6)):
        with socket(site) as line:
            line.send(first)
            assert hear(line, lambda m: True) == {"op": "reset"}


@pytest.mark.parametrize(
    "garbage",
    ["", "[]", "{", '{"topics": 3}', hello(-1), json.dumps({"boot": BOOT, "topics": ["x"] * 65}), b"\0\1"],
    ids=["nothing", "a list", "half", "no topics", "before the first", "too many topics", "bytes"],
)
def test_garbage_ends_its_own_socket_alone(site, garbage) -> None:
    with socket(site) as other:
        other.send(hello(seq_of(site), "now"))
        hear(other, lambda m: m["op"] == "welcome")
        with socket(site) as line, pytest.raises(ConnectionClosed):
            line.send(garbage)
            while True:
                line.recv(timeout=TIMEOUT)
        assert main.run(["pause"]) == 0
        assert hear(other, lambda m: m.get("e"))["e"][0]["kind"] == "paused"


def test_a_socket_needs_our_origin_and_a_session(site) -> None:
    cookie = site.headers()["cookie"]
    for headers in (
        {"origin": ""}, {"origin": "http://evil.example"}, {"origin": f"http://127.0.0.1:{site.site.port}"},
        {"cookie": ""}, {"cookie": cookie + "x"}, {"sec-fetch-site": "cross-site"}, {"x-forwarded-for": "1.2.3.4"},
    ):  # fmt: skip
        with pytest.raises(InvalidStatus) as refused, socket(site, **headers):
            pass
        assert refused.value.response.status_code == 403
