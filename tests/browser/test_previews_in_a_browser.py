"""A person tries a bead's work from its page: starts the server, opens it in another tab, and stops it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Person
from tests.browser.test_pages_in_a_browser import AXE, RULES
from tests.support.scripted import Scripted
from tests.support.web_process import WebProcess, web_process

pytestmark = pytest.mark.slow
SERVER = """
import http.server, os
class Shows(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{sorted(os.listdir('src'))} {self.headers.get('Cookie')} {self.headers.get('Referer')}".encode())
    def log_message(self, *_): pass
print("<b>listening</b>", flush=True)
http.server.HTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Shows).serve_forever()
"""
HOW = {"desktop": {"viewport": DESKTOP}, "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True}}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Scripted]:
    """A project with a server, and a bead whose merge waits for a yes."""
    made = Scripted(tmp_path)
    made.configure("[sandbox]", '[review]\napprove = "always"\n[sandbox]')
    (made.folder / "server.py").write_text(SERVER)
    made.git("add", "server.py")
    made.git("commit", "-q", "-m", "A server")
    made.add("one")
    made.nobrakes("run", expect=40)
    yield made
    made.nobrakes("preview", "stop", "one")


@pytest.fixture
def web(project: Scripted) -> Iterator[WebProcess]:
    """Its pages."""
    with web_process(project.folder, project.env()) as made:
        yield made


@pytest.mark.parametrize("device", HOW)
def test_a_person_tries_the_work_from_its_page(
    chromium: Any, project: Scripted, web: WebProcess, tmp_path: Path, device: str
) -> None:
    from playwright.sync_api import expect

    person = Person(chromium, web, project.folder.name, **HOW[device]).log_in()
    page = person.goes("bead/one")
    expect(page.get_by_role("region", name="Try it")).to_contain_text("nobrakes config set preview.command")
    go = tmp_path / "go"
    project.nobrakes("config", "set", "preview.setup", f"until [ -e {go} ]; do sleep 0.1; done")
    project.nobrakes("config", "set", "preview.command", f"{sys.executable} server.py")
    page.reload()
    page.get_by_role("button", name="Start a preview").click()
    panel = page.get_by_role("region", name="Try it")
    expect(panel).to_contain_text("Starting", timeout=30_000)
    go.touch()
    expect(panel).to_contain_text("Running", timeout=30_000)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    panel.get_by_text("What the server printed").click()
    expect(panel.locator("pre")).to_contain_text("<b>listening</b>")
    if AXE.exists():
        page.evaluate(AXE.read_text())
        assert page.evaluate("rules => axe.run(rules)", RULES)["violations"] == []
    with page.expect_popup() as opened:
        panel.get_by_role("link", name="Open the preview").click()
    expect(opened.value.locator("body")).to_contain_text("['one'] None None")
    page.bring_to_front()
    panel.get_by_role("button", name="Stop the preview").click()
    expect(panel.get_by_role("button", name="Start a preview")).to_be_visible()
    person.made_no_errors()
    person.close()


def test_a_name_that_servers_share_leads_to_no_preview(chromium: Any, project: Scripted, web: WebProcess) -> None:
    from playwright.sync_api import expect

    project.nobrakes("config", "set", "preview.command", f"{sys.executable} server.py")
    project.nobrakes("preview", "start", "one", "--wait", "60")
    web.origin = f"http://127.0.0.1:{web.port}"
    person = Person(chromium, web, project.folder.name).log_in()
    panel = person.goes("bead/one").get_by_role("region", name="Try it")
    expect(panel).to_contain_text("Log in with the link")
    expect(panel.get_by_role("link")).to_have_count(0)
    person.close()
