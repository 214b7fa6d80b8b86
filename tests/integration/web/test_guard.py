"""What stands in front of the pages: each rule with a request that would pass without it."""

import socket
from urllib.parse import unquote

import httpx
import pytest

from nobrakes.web import access
from nobrakes.web.server import routes
from tests.support.web import NAME, serving

CHANGES = "/r/shop/do/pause"


def send(site, text: str) -> bytes:
    """What a client sends that speaks no proper HTTP, and the first of the answer."""
    with socket.create_connection(("127.0.0.1", site.site.port), 10) as line:
        line.sendall(text.encode("latin-1"))
        return line.recv(65536)


def addresses() -> list[tuple[str, str]]:
    found = []
    for route in routes():
        path = route.path
        for name in ("repo", "command", "version", "name"):
            path = path.replace(f"{{{name}}}", {"repo": "shop", "command": "pause"}.get(name, "x"))
        for method in getattr(route, "methods", None) or ("SOCKET",):
            found.append((method, path))
    return found


def test_every_address_needs_a_session_but_the_login_page_and_the_files(site) -> None:
    site.cookies = {}
    asked = [(method, path) for method, path in addresses() if method != "HEAD"]
    assert len(asked) >= 6
    for method, path in asked:
        if method == "SOCKET":
            continue
        answer = site.get(path) if method == "GET" else site.post(path, {})
        step = site.get(path, sec_fetch_mode="navigate", sec_fetch_dest="document")
        assert method == "POST" or step.status_code == answer.status_code, "who follows a link logs in too"
        if path == "/login":
            assert answer.status_code in (200, 401)
        elif path.startswith("/static/"):
            assert answer.status_code == 404
        elif method == "GET" and "/api/" not in path:
            assert (answer.status_code, unquote(answer.headers["location"])) == (303, f"/login?next={path}")
        else:
            assert answer.status_code == 401, (method, path)


def test_every_answer_has_the_headers_and_none_lets_another_origin_read_it(site) -> None:
    answers = [site.get(path) for path in ("/", "/r/shop/", "/nothing", "/static/x/nothing", "/login")]
    answers += [
        site.post("/r/shop/do/nothing", {}),
        site.raw.get("/", headers={"host": "evil.example"}),
        site.raw.request("PUT", "/", headers=site.headers()),
    ]
    assert {answer.status_code for answer in answers} == {200, 303, 404, 405, 421, 422}
    for answer in answers:
        for name, value in access.HEADERS:
            assert answer.headers[name.decode()] == value.decode()
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "server" not in answer.headers


def test_the_policy_lets_nothing_run_or_frame_it_that_is_not_ours() -> None:
    said = {name.decode(): value.decode() for name, value in access.HEADERS}
    policy = dict(part.strip().partition(" ")[::2] for part in said["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert all(policy[name] == "'self'" for name in ("script-src", "style-src", "connect-src", "form-action"))
    assert policy["img-src"] == "'self' data:" and policy["require-trusted-types-for"] == "'script'"
    # with no-referrer a browser would say `Origin: null` with our own forms
    assert said["referrer-policy"] == said["cross-origin-opener-policy"] == "same-origin"
    assert said["cross-origin-resource-policy"] == "same-origin" and said["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", "2130706433:{port}",
        "0x7f000001:{port}", "127.1:{port}", "[::1]:{port}", "nobrakes.localhost", "x.nobrakes.localhost:{port}",
        "nobrakes.localhost.:{port}", "nobrakes.localhost:{port}.evil.example", "evil@127.0.0.1:{port}", "",
    ],
)  # fmt: skip
def test_another_host_is_refused(site, host) -> None:
    said = host.format(port=site.site.port)
    assert site.raw.get("/login", headers={"host": said}).status_code in (400, 421)


def test_a_host_said_twice_a_whole_address_and_a_proxy_are_refused(site) -> None:
    own, port = f"Host: {site.host}\r\n", site.site.port
    assert b" 200 " in send(site, f"GET /login HTTP/1.1\r\n{own}\r\n")
    for head in (
        f"GET /login HTTP/1.1\r\n{own}{own}\r\n",
        "GET /login HTTP/1.1\r\n\r\n",
        f"GET http://evil.example/login HTTP/1.1\r\n{own}\r\n",
        f"GET /login HTTP/1.1\r\n{own}X-Forwarded-Host: {NAME}:{port}\r\n\r\n",
        f"GET /login HTTP/1.1\r\n{own}Forwarded: for=1.2.3.4\r\n\r\n",
        f"GET /login HTTP/1.1\r\n{own}Origin: http://{site.host}\r\nOrigin: http://{site.host}\r\n\r\n",
    ):
        assert send(site, head)[:12] in (b"HTTP/1.1 421", b"HTTP/1.1 400"), head


def test_what_changes_something_comes_from_our_own_origin(site) -> None:
    good = site.headers(origin=site.origin)
    assert site.raw.post(CHANGES, data={}, headers=good).status_code == 303
    port = site.site.port
    for origin in (
        None, "null", f"http://{NAME}", f"http://{NAME}:{port + 1}", f"https://{NAME}:{port}", f"http://127.0.0.1:{port}",
        "http://evil.example", f"http://{NAME}:{port}.evil.example",
    ):  # fmt: skip
        headers = {**good, "origin": origin} if origin else {k: v for k, v in good.items() if k != "origin"}
        assert site.raw.post(CHANGES, data={}, headers=headers).status_code == 403, origin
    for came in ("same-site", "cross-site", "none"):
        assert site.raw.post(CHANGES, data={}, headers={**good, "sec-fetch-site": came}).status_code == 403


def test_another_site_reads_nothing_but_a_person_may_follow_a_link(site) -> None:
    step = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    for came in ("same-site", "cross-site"):
        there = {"sec-fetch-site": came}
        assert site.raw.get("/", headers={**site.headers(), **there}).status_code == 403
        frame = site.headers(sec_fetch_mode="navigate", sec_fetch_dest="iframe") | there
        assert site.raw.get("/", headers=frame).status_code == 403
        assert site.raw.get("/", headers=site.headers(**step) | there).status_code == 200
    assert site.get("/", origin="http://evil.example").status_code == 403


def test_bodies_are_bounded_and_say_how_long_they_are(site) -> None:
    big = site.raw.post("/login", content=b"x" * (access.MAX_BODY + 1), headers=site.headers(origin=site.origin))
    assert big.status_code == 413
    parts = site.raw.post("/login", content=iter([b"code=", b"x"]), headers=site.headers(origin=site.origin))
    assert parts.status_code == 411
    lied = send(
        site, f"POST /login HTTP/1.1\r\nHost: {site.host}\r\nOrigin: {site.origin}\r\nContent-Length: -1\r\n\r\n"
    )
    assert lied[:12] == b"HTTP/1.1 400"


def test_a_code_is_good_once_and_wrong_ones_keep_nobody_out(site, caplog) -> None:
    site.cookies = {}
    code = site.site.state.new_code()
    assert site.post("/login", {"code": code.lower().replace("-", " ")}).status_code == 303
    assert site.post("/login", {"code": code}).status_code == 401
    for _ in range(9):
        assert site.post("/login", {"code": "AAAAA-AAAAA"}).status_code == 401
    for _ in range(50):
        assert site.post("/login", {"code": "AAAAA-AAAAA"}).status_code == 429
    assert len([one for one in caplog.records if "login refused" in one.message]) <= 10, "nor do they fill the log"
    assert site.post("/login", {"code": site.site.state.new_code()}).status_code == 303


def test_a_login_leads_to_our_own_pages_only(site) -> None:
    site.cookies = {}
    for there, then in (
        ("/r/shop/", "/r/shop/"), ("//evil.example", "/"), ("https://evil.example", "/"), ("/\\evil.example", "/"),
        ("/\tx", "/"), ("javascript:alert(1)", "/"), ("/login", "/"),
    ):  # fmt: skip
        answer = site.post("/login", {"code": site.site.state.new_code(), "next": there})
        assert answer.headers["location"] == then


def test_the_cookie_is_the_browsers_alone_and_outlives_the_server(site) -> None:
    answer = site.post("/login", {"code": site.site.state.new_code()})
    told = answer.headers["set-cookie"]
    assert all(word in told for word in ("HttpOnly", "SameSite=lax", "Path=/", f"nb_{site.site.port}="))
    assert "Domain" not in told
    with serving() as again:
        again.cookies = {again.site.cookie: next(iter(dict(answer.cookies).values()))}
        assert again.get("/").status_code == 200
        assert again.post("/logout", {}).status_code == 303
        assert again.get("/").status_code == 303


def test_a_token_is_for_scripts_in_the_header_alone(repository) -> None:
    token = "a-token-that-nobody-guesses"
    with serving(token) as site:
        bare = {"host": site.host}
        assert site.raw.post(CHANGES, data={}, headers={**bare, "authorization": f"Bearer {token}"}).status_code == 303
        for headers in (bare, {**bare, "authorization": f"Bearer {token}x"}, {**bare, "authorization": "Bearer"}):
            assert site.raw.post(CHANGES, data={}, headers=headers).status_code in (401, 403)
        assert site.raw.get(f"/?token={token}", headers=bare).status_code == 303
        evil = {**bare, "authorization": f"Bearer {token}", "origin": "http://evil.example"}
        assert site.raw.post(CHANGES, data={}, headers=evil).status_code == 403


def test_it_listens_on_the_loopback_alone(site) -> None:
    with httpx.Client() as client, pytest.raises(httpx.ConnectError):
        client.get(f"http://127.0.0.2:{site.site.port}/login")
