"""Hostile pages and hostile words against a person who is logged in: nothing is done, nothing is read, nothing runs.

A server that an agent started on another port of this machine is the same site to a browser, so it attacks here too.
"""

import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nobrakes.cli import main
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import open_store
from tests.browser.conftest import CHROMIUM, EVIL, NAME, Person
from tests.browser.test_pages_in_a_browser import PAGES

pytestmark = pytest.mark.slow
WORDS = EVIL + "\x1b[31m\x1b]0;evil\x07\u202eright to left\u2066\u200b"
SECRET = "Count the till"
TRIES = """async (target) => {
  const found = {}, after = (ms) => new Promise((go) => setTimeout(go, ms));
  const form = "request=evil&reason=evil&bead=till";
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const asks = {
    read: ["/r/shop/board", { credentials: "include" }],
    json: ["/r/shop/api/status", { credentials: "include" }],
    blind: ["/r/shop/board", { credentials: "include", mode: "no-cors" }],
    post: ["/r/shop/do/hold", { method: "POST", credentials: "include", headers: type, body: form }],
    noCors: ["/r/shop/do/hold", { method: "POST", mode: "no-cors", credentials: "include", headers: type, body: form }],
    put: ["/r/shop/do/hold", { method: "PUT", credentials: "include", body: form }],
    bearer: ["/r/shop/do/hold", { method: "POST", credentials: "include", headers: { ...type, authorization: "Bearer x" }, body: form }],
  };
  for (const [name, [path, how]] of Object.entries(asks)) {
    try { const answer = await fetch(target + path, how); found[name] = await answer.text(); } catch { found[name] = ""; }
  }
  found.beacon = (navigator.sendBeacon(target + "/r/shop/do/hold", new URLSearchParams(form)), "");
  found.socket = await new Promise((go) => {
    const line = new WebSocket(target.replace("http", "ws") + "/r/shop/socket");
    line.onopen = () => line.send('{"boot":"","after":0,"topics":["now","board","s:1"]}');
    line.onmessage = (event) => go("heard " + event.data);
    line.onclose = line.onerror = () => go("");
  });
  for (const path of ["/r/shop/api/status", "/r/shop/board", "/api/repositories"]) {
    found["script " + path] = await new Promise((go) => {
      const one = document.createElement("script");
      one.onload = () => go("loaded"); one.onerror = () => go("");
      one.src = target + path; document.head.append(one);
    });
  }
  const frame = document.createElement("iframe");
  frame.name = "frame"; frame.src = target + "/r/shop/board"; document.body.append(frame);
  await after(700);
  try { found.frame = frame.contentDocument.body.innerText; } catch { found.frame = ""; }
  const sent = document.createElement("form");
  Object.assign(sent, { method: "post", action: target + "/r/shop/do/hold", target: "frame" });
  for (const [name, value] of new URLSearchParams(form)) {
    const one = document.createElement("input"); one.name = name; one.value = value; sent.append(one);
  }
  document.body.append(sent); sent.submit();
  await after(700);
  return found;
}"""


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>evil</title><body>evil"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        cookies.append(self.headers.get("cookie", ""))

    def log_message(self, *given: Any) -> None:
        """It says nothing."""


cookies: list[str] = []


@pytest.fixture
def evil() -> Iterator[int]:
    """The port of a hostile server on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    cookies.clear()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()


@pytest.fixture
def done(repository) -> Iterator[Callable[[], int]]:
    """How many events there are: an attack that did something adds one."""
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    yield lambda: store.events(0, 1000)[-1].seq
    store.close()


def test_a_hostile_page_on_another_port_does_nothing_and_reads_nothing(chromium, served, evil, done) -> None:
    person = Person(chromium, served).log_in()
    page = person.page
    numeric = f"http://127.0.0.1:{served.site.port}"
    page.goto(f"{numeric}/login?next=/r/shop/#code={served.new_code()}")
    page.wait_for_url("**/r/shop/")  # here the cookie does reach every port of 127.0.0.1
    before = done()
    for host in ("127.0.0.1", NAME, "localhost", f"evil.{NAME}"):
        for target in (numeric, served.origin):
            page.goto(f"http://{host}:{evil}/")
            found = page.evaluate(TRIES, target)
            assert {name: said for name, said in found.items() if said} == {}, (host, target)
            assert [frame.url for frame in page.frames[1:] if frame.url.startswith(target)] == [] or all(
                SECRET not in frame.content() for frame in page.frames[1:]
            )
            page.goto(f"http://{host}:{evil}/")
            page.evaluate(
                """target => { const one = document.createElement("form"); one.method = "post";
                one.action = target + "/r/shop/do/pause"; document.body.append(one); one.submit(); }""", target
            )  # fmt: skip
            page.wait_for_url(f"{target}/r/shop/do/pause")
            assert "another site" in page.content() and SECRET not in page.content()
    assert done() == before
    assert f"nb_{served.site.port}=" in "".join(cookies), "a cookie of 127.0.0.1 reached it, and that was no use"
    page.goto(f"{served.origin}/r/shop/")
    own = """async () => { await fetch("/r/shop/do/hold", {method: "POST", body: new URLSearchParams("bead=report&reason=x")});
        return await (await fetch("/r/shop/board")).text() + await (await fetch("/r/shop/api/status")).text(); }"""
    found = page.evaluate(own)
    assert SECRET in found and '{"ok":true' in found and done() > before, "the proof that this test can fail"
    person.close()


def test_a_name_that_is_bound_again_to_this_machine_is_not_answered(chromium, served, evil, done) -> None:
    browser = chromium.browser_type.launch(
        executable_path=CHROMIUM,
        args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    )
    before = done()
    try:
        page = browser.new_page()
        for path in ("/login", "/r/shop/board", "/r/shop/api/status"):
            answer = page.goto(f"http://evil.example:{served.site.port}{path}")
            assert answer.status == 421 and SECRET not in page.content() and "<form" not in page.content()
        page.goto(f"http://evil.example:{evil}/")
        found = page.evaluate(TRIES, f"http://evil.example:{served.site.port}")
        assert {name: said for name, said in found.items() if said} == {}
        page.goto(f"http://evil.example:{served.site.port}/login")
        same = "fetch('/r/shop/do/pause', {method: 'POST', body: new URLSearchParams('request=x')})"
        assert page.evaluate(f"async () => (await {same}).status") == 421
    finally:
        browser.close()
    assert done() == before


def test_hostile_words_run_on_no_page_and_come_through_no_socket(chromium, served, repository) -> None:
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    assert main.run(["edit", "stock", "--title", EVIL, "--description", EVIL, "--notes", EVIL]) == 0
    store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, WORDS, WORDS), "till", None, WORDS[:40])
    run = next((repository / ".nobrakes" / "runs").iterdir())
    person = Person(chromium, served).log_in()
    script = """() => [window.hit, document.querySelectorAll("img, iframe, object, base").length,
        /[\\u001b\\u0007\\u202a-\\u202e\\u2066-\\u2069\\u200b]/.test(document.body.textContent + document.title)]"""
    for path in [
        *PAGES,
        "desk/3",
        "desk?all=1",
        "board?q=%3Cimg%20src%3Dx%20onerror%3D%22window.hit%3D1%22%3E",
        "live/1?before=200",
    ]:
        page = person.goes(path)
        assert page.evaluate(script) == [None, 0, False], path
    page = person.goes("live/1")
    with (run / "agent.out").open("a") as file:
        file.write(f"fresh line {WORDS}\n")
    page.wait_for_function("() => document.body.textContent.includes('fresh line')")
    assert page.evaluate(script) == [None, 0, False]
    page = person.goes("board")
    store.escalate(NewEscalation(EscalationType.QUESTION, f"fresh {WORDS}", WORDS), "later", None, "Ada")
    assert main.run(["edit", "later", "--title", f"fresh title {EVIL}"]) == 0
    page.wait_for_function("() => document.body.textContent.includes('fresh title')")
    assert page.evaluate(script) == [None, 0, False]
    assert person.errors == []
    person.close()
    store.close()
