"""A person tries the work before the yes: the project's server from a bead's workspace, confined, on a port of its own."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from nobrakes.sandbox import closure
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import Scripted, lives, until

SERVER = """
import http.server, os, pathlib, socket, sys
class Shows(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/store":
            try: text = str(len(pathlib.Path(sys.argv[2]).read_bytes()))
            except OSError as error: text = type(error).__name__
        elif self.path == "/beside":
            try:
                with socket.create_connection(("127.0.0.1", int(sys.argv[3])), 2): text = "reached"
            except OSError as error: text = type(error).__name__
        else: return super().do_GET()
        self.send_response(200); self.end_headers(); self.wfile.write(text.encode())
    def log_message(self, *_): pass
print("listening", flush=True)
http.server.ThreadingHTTPServer((os.environ["HOST"], int(sys.argv[1])), Shows).serve_forever()
"""
MODES = [
    pytest.param('mode = "none"\nwall = "none"', id="open"),
    pytest.param(
        'mode = "none"', id="wall", marks=pytest.mark.skipif(bool(closure.platform_trouble()), reason="no wall")
    ),
    pytest.param('mode = "bubblewrap"', id="sandbox", marks=needs_sandbox),
    pytest.param('mode = "bubblewrap"\nnetwork = "none"', id="none", marks=needs_sandbox),
    pytest.param(
        'mode = "bubblewrap"\nnetwork = "provider"\nhosts = ["example.invalid:443"]', id="provider", marks=needs_sandbox
    ),
]


@pytest.fixture
def beside() -> Iterator[int]:
    """The port of a server of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield one.getsockname()[1]


def get(url: str) -> str:
    return httpx.get(url, timeout=10).text


def answers(url: str) -> bool:
    try:
        return bool(get(url))
    except httpx.HTTPError:
        return False


@pytest.fixture
def project(tmp_path: Path, beside: int) -> Iterator[Scripted]:
    """Two beads whose merge waits for a yes, and a project with a server."""
    made = Scripted(tmp_path)
    made.configure('mode = "none"', 'mode = "none"\nwall = "none"')
    made.configure("[sandbox]", '[review]\napprove = "always"\n[sandbox]')
    (tmp_path / "server.py").write_text(SERVER)
    (made.folder / "server.py").write_text(SERVER)
    made.git("add", "server.py")
    made.git("commit", "-q", "-m", "A server")
    made.add("one", "two")
    made.nobrakes("run", expect=40)
    yield made
    for bead in ("one", "two"):
        made.nobrakes("preview", "stop", bead)


def named(project: Scripted, beside: int, **settings: str) -> None:
    store = project.folder / ".nobrakes" / "nobrakes.db"
    command = f"{sys.executable} server.py $PORT {store} {beside}"
    for name, value in {"command": command, **settings}.items():
        project.nobrakes("config", "set", f"preview.{name}", value)


@pytest.mark.parametrize("mode", MODES)
def test_two_are_tried_at_once_each_from_its_own_workspace(project: Scripted, beside: int, mode: str) -> None:
    project.configure('mode = "none"\nwall = "none"', mode)
    named(project, beside, setup="echo prepared >made-by-setup")
    found = {bead: project.ask("preview", "start", bead, "--wait", "60") for bead in ("one", "two")}
    assert {one["state"] for one in found.values()} == {"running"}
    assert found["one"]["url"] != found["two"]["url"]
    for bead, one in found.items():
        assert one["url"].startswith("http://localhost:")
        assert (
            get(f"{one['url']}src/{bead}") == f"made for {bead}\n" and get(f"{one['url']}made-by-setup") == "prepared\n"
        )
        other = "two" if bead == "one" else "one"
        assert httpx.get(f"{one['url']}src/{other}").status_code == 404
    is_closed, is_apart = "bubblewrap" in mode, "network" in mode
    assert get(f"{found['one']['url']}store").isdigit() is not is_closed
    assert (get(f"{found['one']['url']}beside") == "reached") is not is_apart
    again = project.ask("preview", "start", "one")
    assert again["url"] == found["one"]["url"], "what runs is found, and not started again"
    assert "listening" in project.nobrakes("preview", "show", "one").stdout
    assert project.nobrakes("preview", "stop", "one").stdout.strip() == "the preview of one has stopped"
    assert not answers(found["one"]["url"]) and answers(found["two"]["url"])
    assert [(one["bead"], one["state"]) for one in project.ask("preview", "show")] == [
        ("one", "ended"),
        ("two", "running"),
    ]
    # its workspace goes with the merge, and so does the server
    for one in project.open():
        project.nobrakes("resolve", str(one["id"]), "--approve")
    project.nobrakes("run")
    assert project.status("two") == "done"
    until(lambda: not answers(found["two"]["url"]), 30)
    until(lambda: project.ask("preview", "show", "two")[0]["state"] == "ended")
    refused = project.error("preview", "start", "two", code=17)
    assert "has no workspace" in refused["message"]
    kinds = [event["event"] for event in project.events("preview_started")]
    assert len(kinds) == 2


def test_what_keeps_a_server_from_starting_is_told_with_its_own_words(project: Scripted, beside: int) -> None:
    refused = project.error("preview", "start", "one", code=2)
    assert "preview.command" in refused["hint"]
    project.nobrakes("config", "set", "preview.command", "echo 'no such module'; exit 3")
    refused = project.error("preview", "start", "one", code=81)
    assert refused["message"] == "the server of one ended: no such module"
    project.nobrakes("config", "set", "preview.setup", "false")
    refused = project.error("preview", "start", "one", code=81)
    assert refused["message"] == "the server of one ended: preview.setup ended with exit code 1"
    project.nobrakes("config", "unset", "preview.setup")
    named(project, beside)
    assert project.ask("preview", "start", "one", "--wait", "60")["state"] == "running"


def test_a_server_that_leaves_a_process_behind_takes_it_along(project: Scripted, beside: int, tmp_path: Path) -> None:
    left = tmp_path / "left"
    project.nobrakes(
        "config", "set", "preview.command", f"setsid sh -c 'echo $$ >{left}; sleep 600' & sleep 1; exec true"
    )
    project.nobrakes("preview", "start", "one", expect=None)
    pid = int(until(lambda: left.exists() and left.read_text()))
    assert lives(pid)
    for one in project.open():
        project.nobrakes("resolve", str(one["id"]), "--approve")
    project.nobrakes("run")
    until(lambda: not lives(pid), 30)
