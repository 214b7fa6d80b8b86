"""Where a page links to a preview, and what the sandbox gets of a connection to it: tests/browser has the browser's side."""

import socket
import threading

import pytest

from nobrakes.host import proxy
from nobrakes.review.service.previews import Preview
from nobrakes.web import pages

LINK = '<a class="button main" href="http://localhost:4321/"'


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preview of every bead."""
    made = Preview("nb-1", "running", "http://localhost:4321/", 0.0, "ada", "")
    monkeypatch.setattr(pages.previews, "shown", lambda paths, bead: made)


def panel(site, name: str) -> str:
    site.host = f"{name}:{site.site.port}"
    answer = site.get("/r/shop/bead/nb-1")
    assert answer.status_code == 200
    return answer.text.partition('aria-labelledby="h-preview"')[2].partition("</section>")[0]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "nobrakes.localhost"])
def test_a_page_whose_name_other_servers_share_has_no_link(site, running, name) -> None:
    found = panel(site, name)
    assert LINK not in found and "<code>http://localhost:4321/</code>" in found and "Log in with the link" in found


def test_a_page_of_a_name_of_its_own_links_to_another_host(site, running) -> None:
    assert LINK in panel(site, f"{site.site.state.name()}.localhost")


def test_the_sandbox_gets_a_pipe_and_never_the_connection(tmp_path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    channel, inside = socket.socketpair()
    threading.Thread(target=proxy.let_in, args=(listener, channel, str(tmp_path / "seen")), daemon=True).start()
    with socket.create_connection(listener.getsockname(), 10) as person:
        _, descriptors, _, _ = socket.recv_fds(inside, 1, 2)
        assert len(descriptors) == 1
        with socket.socket(fileno=descriptors[0]) as given:
            assert given.family == socket.AF_UNIX
            given.sendall(b".hello")
            assert person.recv(5) == b"hello"
