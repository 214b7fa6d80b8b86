"""What a program on this machine, or a page of a hostile site, may send to the port: nothing is done, nothing is read.

Whoever attacks here speaks raw bytes. tests/browser has the same from a real browser.
"""

import json
import socket
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from nobrakes.cli import main
from nobrakes.store import open_store
from tests.integration.web.test_socket import hear, hello, seq_of
from tests.integration.web.test_socket import socket as page_socket

SECRET = "Parse the header"
"""A title: who reads it has read the repository."""
PATHS = (
    "/static/../r/shop/board", "/static/%2e%2e/r/shop/board", "/static/x/%2e%2e%2f%2e%2e%2fr%2fshop%2fboard", "/static/x/..%2fapplication.py",
    "/static/x/../../application.py", "/static/x/..\\application.py", "/static/x/%252e%252e%252fapplication.py", "/static//r/shop/board",
    "/static/x/base.css%00.js", "/static/x//etc/passwd", "//evil.example/r/shop/board", "/login/../r/shop/board", "/login/%2e%2e/r/shop/board",
    "/login;/r/shop/board", "/login%2f..%2fr%2fshop%2fboard", "/login?/r/shop/board", "/LOGIN/../r/shop/board", "/r/%2e%2e/%2e%2e/etc/passwd",
    "/r/..%2f..%2fetc/board", "/r/shop/board#/login", "/./r/shop/board", "/%72/shop/board", "/r/shop/api/status", "/r/shop/bead/nb-1",
)  # fmt: skip


def send(site, text: str | bytes, *, most: int = 65536) -> bytes:
    """What a client sends that speaks no proper HTTP, and the whole answer as far as it comes."""
    with socket.create_connection(("127.0.0.1", site.site.port), 10) as line:
        line.sendall(text.encode("latin-1") if isinstance(text, str) else text)
        found = line.recv(most)
        line.settimeout(0.2)
        try:
            while more := line.recv(most):
                found += more
        except OSError:
            pass
        return found


def head(site, path: str, *more: str, method: str = "GET") -> str:
    return "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {site.host}", "Connection: close", *more, "", ""))


@pytest.fixture
def quiet(site, repository):
    """How many events there are: an attack that did something adds one."""
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    yield lambda: store.events(0, 1000)[-1].seq
    store.close()


def test_no_way_of_writing_a_path_leads_past_the_session_or_out_of_the_files(site) -> None:
    for path in (
        *PATHS,
        f"http://{site.host}/r/shop/board",
        f"http://evil.example@{site.host}/r/shop/board",
        "*",
        "r/shop/board",
    ):
        found = send(site, head(site, path))
        assert found[:5] == b"HTTP/" and found[9:12] in (b"200", b"303", b"400", b"401", b"404", b"421"), (
            path,
            found[:60],
        )
        assert SECRET.encode() not in found and b"root:" not in found and b"import " not in found, path
        if found[9:12] == b"200":
            assert b"<title>Log in" in found or path.startswith("/login"), path
    cookie = f"Cookie: {site.headers()['cookie']}"
    assert SECRET.encode() in send(site, head(site, "/r/shop/board", cookie)), "the proof that this test can fail"
    for path in PATHS[:12]:
        assert b"import " not in send(site, head(site, path, cookie)), path


def test_a_login_leads_to_no_other_site_however_the_way_back_is_written(site) -> None:
    for then in (
        "//evil.example",
        "/%2f/evil.example",
        "http://evil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "/\r\nSet-Cookie: x=1",
    ):
        for path in (f"/{then}", then):
            found = send(site, head(site, path.replace("\r", "%0d").replace("\n", "%0a")))
            where = [line for line in found.split(b"\r\n") if line.lower().startswith(b"location:")]
            assert all(line.lower().startswith(b"location: /login?next=/") for line in where), (then, where)
            assert b"x=1" not in found.split(b"\r\n\r\n")[0].replace(b"%0d%0aSet-Cookie:%20x%3D1", b""), found


def test_a_forged_page_does_nothing(site, quiet) -> None:
    before = quiet()
    cookie = f"Cookie: {site.headers()['cookie']}"
    form = ("Content-Type: application/x-www-form-urlencoded", "Content-Length: 0")
    own = f"Origin: {site.origin}"
    port = site.site.port
    attacks = [
        (own, own), (own, "Origin: null"), ("Origin: null",), (), (f"Origin: http://127.0.0.1:{port + 1}",), (f"{own}.evil.example",),
        ("Origin: http://nobrakes.localhost",), (f"Origin: http://evil@{site.host}",), (f"{own}/",), (own, "Sec-Fetch-Site: same-site"),
        (own, "Sec-Fetch-Site: cross-site"), (own, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
        (own, "X-Forwarded-Host: evil.example"), (own, "Forwarded: host=x"), (own, "Via: 1.1 x"), (f"Referer: {site.origin}/",),
        ("Authorization: Bearer ",), ("Authorization: Bearer x",), ("Authorization: Basic eDp5", own.replace("http:", "https:")),
    ]  # fmt: skip
    for lines in attacks:
        found = send(site, head(site, "/r/shop/do/pause", cookie, *lines, *form, method="POST"))
        assert found[9:12] in (b"400", b"401", b"403", b"421"), (lines, found[:80])
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "GET", "HEAD", "pOsT"):
        found = send(site, head(site, "/r/shop/do/pause", cookie, own, *form, method=method))
        shows = (b"200",) if method in ("GET", "HEAD") else ()  # the form of the command, which does nothing yet
        assert found[9:12] in (b"400", b"404", b"405", b"421", *shows), (method, found[:80])
        assert b"access-control-" not in found.lower()
    assert quiet() == before
    assert send(site, head(site, "/r/shop/do/pause", cookie, own, *form, method="POST"))[9:12] == b"303"
    assert quiet() == before + 1, "the proof that this test can fail"


def test_bodies_that_are_too_long_in_pieces_or_too_short_do_nothing(site, quiet) -> None:
    before = quiet()
    start = (
        f"Cookie: {site.headers()['cookie']}",
        f"Origin: {site.origin}",
        "Content-Type: application/x-www-form-urlencoded",
    )
    pieces = head(site, "/r/shop/do/pause", *start, "Transfer-Encoding: chunked", method="POST") + "0\r\n\r\n"
    both = (
        head(site, "/r/shop/do/pause", *start, "Transfer-Encoding: chunked", "Content-Length: 5", method="POST")
        + "0\r\n\r\n"
    )
    twice = head(site, "/r/shop/do/pause", *start, "Content-Length: 0", "Content-Length: 40", method="POST")
    for text, statuses in (
        (pieces, (b"411",)), (both, (b"400", b"411")), (twice, (b"400", b"411")),
        (head(site, "/r/shop/do/pause", *start, "Content-Length: 262145", method="POST"), (b"413",)),
        (head(site, "/r/shop/do/pause", *start, "Content-Length: 99999999999999999999", method="POST"), (b"400", b"413")),
        (head(site, "/r/shop/do/pause", *start, "Content-Length: +0", method="POST"), (b"400",)),
        (head(site, "/r/shop/do/pause", *start, method="POST"), (b"411",)),
        (head(site, "/r/shop/do/pause", *start, "Content-Length: 0", f"X-Long: {'x' * 70_000}", method="POST"), (b"400", b"431")),
    ):  # fmt: skip
        assert send(site, text)[9:12] in statuses, text[:300]
    assert quiet() == before and site.get("/r/shop/").status_code == 200


def test_slow_senders_keep_nobody_else_waiting(site) -> None:
    lines = [socket.create_connection(("127.0.0.1", site.site.port), 10) for _ in range(60)]
    try:
        for number, line in enumerate(lines):
            start = head(site, "/login", f"Origin: {site.origin}", "Content-Length: 50", method="POST")
            line.sendall((start + "code=" if number % 2 else start[:20]).encode())
        began = time.monotonic()
        assert site.get("/r/shop/board").status_code == 200
        assert time.monotonic() - began < 5
    finally:
        for line in lines:
            line.close()


DEEP = "[" * 60_000
GARBAGE = ["\x00", "null", "3", '"x"', DEEP, '{"topics":' * 9000, "{" * 60_000, "x" * 100_000, b"\xff" * 1000, '{"after": 1e400}', '{"lines": {"s:1": -1}}',
           '{"lines": []}', json.dumps({"topics": [["s:1"]]}), json.dumps({"topics": ["x" * 81]}), json.dumps({"after": True}), json.dumps({"after": 2**60})]  # fmt: skip


def test_garbage_at_first_or_later_ends_its_own_socket_alone(site, caplog) -> None:
    with page_socket(site) as other:
        other.send(hello(seq_of(site), "now"))
        hear(other, lambda message: message["op"] == "welcome")
        for garbage in GARBAGE:
            for is_later in (False, True):
                with page_socket(site) as line, pytest.raises(ConnectionClosed):
                    if is_later:
                        line.send(hello(seq_of(site), "now"))
                        hear(line, lambda message: message["op"] == "welcome")
                    line.send(garbage)
                    while True:
                        line.recv(timeout=20)
        assert main.run(["pause"]) == 0
        assert hear(other, lambda message: message.get("e"))["e"][0]["kind"] == "paused"
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


TOPICS = ("s:²", "s:٣", f"s:{'9' * 60}", "s:-1", "s:", "s:0", "b:none", "b:\x00", "../../etc", "nothing")


def test_a_topic_of_one_page_hurts_no_other(site, caplog) -> None:
    with page_socket(site) as other, page_socket(site) as line:
        other.send(hello(seq_of(site), "now"))
        hear(other, lambda message: message["op"] == "welcome")
        line.send(hello(seq_of(site), *TOPICS, *(f"s:{n}" for n in range(1, 50))))
        hear(line, lambda message: message["op"] == "welcome")
        for command, kind in (("pause", "paused"), ("resume", "resumed")):
            assert main.run([command]) == 0
            assert hear(other, lambda message: message.get("e"))["e"][0]["kind"] == kind
            assert hear(line, lambda message: message.get("e"))["e"][0]["kind"] == kind
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_socket_elsewhere_or_without_an_origin_is_none(site) -> None:
    cookie = site.headers()["cookie"]
    for headers in ({"origin": ""}, {"origin": "null"}, {"origin": f"{site.origin}.evil.example"}, {"origin": site.origin.replace("http", "https")},
                    {"cookie": cookie[:-1]}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"}):  # fmt: skip
        with pytest.raises(InvalidStatus), page_socket(site, **headers):
            pass
    with page_socket(site) as line:
        line.send(hello(seq_of(site), "now"))
        assert hear(line, lambda message: True)["op"] == "welcome", "the proof that this test can fail"
