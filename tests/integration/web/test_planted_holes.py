"""Holes of one line, planted one at a time into a copy of the program: the tests of the pages must find each of them.

Rules are those of docs/security.md, "The pages in a browser"; each has at least one hole here. A line that is not there
any more fails the test: then the hole has to be planted anew.
"""

import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.simulation.test_planted_bugs import PACKAGE, TESTS, Bug, planted, python
from tests.support.dose import dosed

ROOT = TESTS.parent


class Hole(NamedTuple):
    """One line of a file of the pages, what takes its place, and the test that finds it."""

    rule: int
    name: str
    file: str
    line: str
    instead: str
    found_by: str

    def bug(self) -> Bug:
        return Bug(self.name, self.file, self.line, self.instead)


GUARD, SERVER, LOGIN, DO = "web/access.py", "web/server.py", "web/access.py", "web/commands.py"
STATE, LINES, LIVE, REGISTRY = "machine/web_state.py", "serving.py", "web/live.py", "machine/registry.py"
HOLES = (
    Hole(1, "it listens everywhere", SERVER, "bound(LOOPBACK, options.port)", 'bound("0.0.0.0", options.port)', "server_process -k loopback_alone"),
    Hole(1, "any address without --lan", SERVER, "if options.host and not options.lan and", "if False and", "server_process -k cannot_be_served"),
    Hole(1, "a risk that is not said", SERVER, "            _warn(options, outside, say)\n", "", "server_process -k others_in_the_network"),
    Hole(2, "any name", GUARD, "hosts[0].lower() not in site.names", "not hosts[0]", "guard -k another_host"),
    Hole(2, "two origins", GUARD, "if len(origins) > 1:", "if False:", "guard -k said_twice"),
    Hole(2, "a proxy in front", GUARD, "if asked.is_forwarded():", "if False:", "guard -k said_twice"),
    Hole(2, "a whole address", GUARD, 'or not asked.raw.startswith(b"/")', "", "guard -k said_twice"),
    Hole(3, "no origin", GUARD, "if changes and not origins and not asked.token():", "if False:", "guard -k own_origin"),
    Hole(3, "another origin", GUARD, "if origins and origins[0].lower() != own:", "if False:", "guard -k own_origin"),
    Hole(3, "another port", GUARD, "origins[0].lower() != own:", "origins[0].rpartition(':')[0] != own.rpartition(':')[0]:", "guard -k own_origin"),
    Hole(3, "a socket from anywhere", GUARD, "changes = asked.is_socket or ", "changes = ", "socket -k needs_our_origin"),
    Hole(3, "the same site", GUARD, 'came == ["same-origin"] or', 'came[0] in ("same-origin", "same-site") or', "guard -k own_origin"),
    Hole(4, "reads from elsewhere", GUARD, "if not changes and asked.is_step():", "if not changes:", "guard -k another_site_reads"),
    Hole(4, "a frame is a step", GUARD, 'and self.one(b"sec-fetch-dest") == "document"', "", "guard -k another_site_reads"),
    Hole(5, "a code is good twice", STATE, "remove=True, confirms=confirms)", "confirms=confirms)", "guard -k good_once"),
    Hole(5, "a code is good for an hour", STATE, "CODE_SECONDS = 120.0", "CODE_SECONDS = 3600.0", "server_process -k two_minutes"),
    Hole(5, "codes are kept as they are", STATE, 'self._write(os.path.join("codes", _hashed(code))', 'self._write(os.path.join("codes", code)', "server_process -k two_minutes"),
    Hole(5, "wrong codes lock the person out", LOGIN, "if not site.state.use_code(code):", "if len(site.failed) >= 10 or not site.state.use_code(code):", "guard -k keep_nobody_out"),
    Hole(5, "wrong codes fill the log", "web/access.py", "if len(self.failed) >= FAILURES:", "if False:", "guard -k keep_nobody_out"),
    Hole(5, "a code in the address", SERVER, 'link = f"{found.address}/login?next={then}#code', 'link = f"{found.address}/login?next={then}&code', "server_process -k loopback_alone"),
    Hole(5, "a cookie for scripts", LOGIN, "secure=site.is_secure, httponly=True,\n", "secure=site.is_secure,\n", "guard -k browsers_alone"),
    Hole(5, "a token in the address", GUARD, 'if kind.lower() == "bearer" else ""', 'if kind.lower() == "bearer" else self.query.decode().partition("token=")[2]', "guard -k header_alone"),
    Hole(5, "any token", GUARD, "if not self._site.token or not", "if self._site.token and not", "attacks -k forged_page"),
    Hole(5, "a token that all read", SERVER, "os.O_EXCL | os.O_CLOEXEC, 0o600)", "os.O_EXCL | os.O_CLOEXEC, 0o644)", "server_process -k loopback_alone"),
    Hole(5, "a file of before is removed", SERVER, "        if token:\n", "        if options.token_file:\n", "server_process -k cannot_be_served"),
    Hole(5, "a code in the log", LOGIN, 'is_flooded("login refused: the code', 'is_flooded("login refused: " + code + " the code', "server_process -k loopback_alone"),
    Hole(5, "a session in the log", LOGIN, 'began", site.state.session(secret))', 'began", secret)', "server_process -k loopback_alone"),
    Hole(5, "lines of the log from a browser", "web/access.py", "record.message = one_line(record.message)", "pass", "server_process -k loopback_alone"),
    Hole(5, "a code on a command line", SERVER, "open_page(state.opening_page(own))", "open_page(state.opening_page(own) + '#code=' + own[-11:])", "server_process -k loopback_alone"),
    Hole(6, "data without a session", GUARD, "if found is not None or asked.is_public():", 'if found is not None or asked.is_public() or "/api/" in asked.path:', "guard -k every_address"),
    Hole(6, "to look does something", "web/server.py", 'commands.do, methods=["POST"])', 'commands.do, methods=["GET", "POST"])', "attacks -k forged_page"),
    Hole(6, "a person's step needs no session", GUARD, "or asked.is_public():", "or asked.is_public() or asked.is_step():", "guard -k every_address"),
    Hole(7, "answers without headers", GUARD, '"headers": [*kept, *HEADERS]}', '"headers": kept}', "guard -k every_answer"),
    Hole(7, "scripts from a page", GUARD, "script-src 'self';", "script-src 'self' 'unsafe-inline';", "guard -k policy"),
    Hole(7, "no trusted types", GUARD, "require-trusted-types-for 'script'; ", "", "guard -k policy"),
    Hole(7, "it can be framed", GUARD, "frame-ancestors 'none'; ", "", "guard -k policy"),
    Hole(7, "a bare answer of the server's", LINES, "for name, value in headers), b", "for name, value in ()), b", "connections -k no_http"),
    Hole(8, "our own forms have no origin", GUARD, '(b"referrer-policy", b"same-origin")', '(b"referrer-policy", b"no-referrer")', "guard -k policy"),
    Hole(9, "a handler in a page", "web/templates/layout.html", "<header class=\"bar\">", '<header class="bar" onclick="x()">', "every_page -k nothing_to_show"),
    Hole(9, "a style in a page", "web/templates/layout.html", "<header class=\"bar\">", '<header class="bar" style="color:red">', "every_page -k nothing_to_show"),
    Hole(9, "a script from elsewhere", "web/templates/layout.html", '<script type="module" src="{{ static }}/main.js">', '<script type="module" src="https://cdn.example/main.js">', "every_page -k nothing_to_show"),
    Hole(10, "words are markup", "web/rendering.py", "autoescape=True", "autoescape=False", "every_page -k their_words_are_text"),
    Hole(10, "escapes of a terminal", "web/rendering.py", '"line": lambda value: cleaning.one_line(str(value))', '"line": lambda value: str(value)', "every_page -k their_words_are_text"),
    Hole(11, "a file that is not in the list", "web/access.py", "if name not in files():", "if False:", "guard -k every_address"),
    Hole(11, "a way back to elsewhere", LOGIN, 'not path.startswith(("//", "/\\\\"))', "True", "guard -k our_own_pages"),
    Hole(11, "a session in any folder", REGISTRY, "if path not in known.repositories or os.path.realpath(path) != path:", "if not known.roots:", "own_sessions -k hostile_path"),
    Hole(11, "a git folder elsewhere", "git/workspaces/make.py", "if self.place.git_dir != ", "if False and self.place.git_dir != ", "own_sessions -k hostile_path"),
    Hole(12, "bodies without end", GUARD, "int(length) > MAX_BODY):", "False):", "attacks -k too_long"),
    Hole(12, "bodies in pieces", GUARD, 'if asked.all(b"transfer-encoding"):', "if False:", "attacks -k too_long"),
    Hole(12, "a body that never comes", GUARD, "asyncio.timeout_at(None if is_whole else end)", "asyncio.timeout_at(None)", "api -k body_that_does_not_come"),
    Hole(12, "a head that never comes", LINES, "{h11.IDLE: HEAD_SECONDS, ", "{", "connections -k trickles"),
    Hole(12, "a body that nobody reads", LINES, "h11.SEND_BODY: REST_SECONDS}", "}", "connections -k trickles"),
    Hole(12, "each byte begins its time anew", LINES, " is self._phase and self._end is not None:", " is None:", "connections -k trickles"),
    Hole(12, "an answer that nobody takes", LINES, "self._is_full = self.loop.call_later(TAKE_SECONDS, self.transport.abort)", "pass", "connections -k takes_nothing"),
    Hole(12, "connections without end", LINES, "if len(self.connections) > MAX_CONNECTIONS and", "if False and", "connections -k one_connection"),
    Hole(12, "no room for a person", LINES, "        oldest.transport.abort()\n        return True\n", "        return False\n", "connections -k one_connection"),
    Hole(12, "a socket that says nothing", LIVE, "asyncio.wait_for(socket.receive_text(), HELLO_SECONDS)", "socket.receive_text()", "connections -k says_hello"),
    Hole(12, "sockets without end", LIVE, "for stream in streams.values()) >= MAX_SOCKETS:", "for stream in streams.values()) < 0:", "connections -k says_hello"),
    Hole(12, "topics without end", LIVE, "len(topics) > MAX_TOPICS or", "", "socket -k garbage"),
    Hole(12, "garbage ends the stream of all", "web/live.py", "if _OUTPUT.fullmatch(topic)}", "if topic[:2] in ('s:', 't:')}", "attacks -k hurts_no_other"),
    Hole(13, "one click stops everything", DO, "if typed != command.danger:", "if False:", "test_pages -k stopping_everything"),
    Hole(13, "no code without a sandbox", DO, "if not takes_code(app):", "if True:", "test_pages -k stopping_everything"),
    Hole(13, "any code confirms", DO, "confirms=True):", "confirms=False):", "test_pages -k stopping_everything"),
    Hole(13, "wrong codes keep from stopping", DO, "if not site.state.use_code(", "if len(site.failed) >= 10 or not site.state.use_code(", "test_pages -k stopping_everything"),
    Hole(13, "nobody knows who did it", DO, "who.name, session, ", 'who.name, "", ', "server_process -k loopback_alone"),
    Hole(14, "any name in the network", SERVER, "*([outside] if outside else [])]", '*([outside, "shop.example"] if outside else [])]', "server_process -k others_in_the_network"),
    Hole(14, "its cookie goes in the clear", LOGIN, "secure=site.is_secure, httponly=True,\n", "httponly=True,\n", "server_process -k others_in_the_network"),
    Hole(14, "a cookie that another host sets", "web/access.py", 'f"__Host-nb_{self.port}" if self.is_secure else ', "", "server_process -k others_in_the_network"),
    Hole(14, "https takes what http said", "web/access.py", 'return "https" if self.is_secure else "http"', 'return "http"', "server_process -k others_in_the_network"),
    Hole(15, "a link where names are shared", "web/access.py", 'return "shared"', 'return "here"', "preview_reach -k other_servers_share"),
    Hole(15, "a link wherever it runs", "web/templates/preview_parts.html", '"running" and reach == "here"', '"running"', "preview_reach -k other_servers_share"),
    Hole(15, "the connection itself", "host/proxy.py", 'send_fds(channel, [b"."], [theirs.fileno()])', 'send_fds(channel, [b"."], [client.fileno()])', "preview_reach -k never_the_connection"),
    Hole(16, "a page chooses the code host", "config/sections.py", '"review.code_host", "notify', '"notify', "settings_page -k becomes_a_program"),
)  # fmt: skip
QUICK = {"another origin", "any code confirms"}
"""Those of every push."""
assert {hole.name for hole in HOLES} > QUICK and len({hole.name for hole in HOLES}) == len(HOLES)


def in_turn(hole: Hole) -> Any:
    """CI plants one in 24 of the holes, `python3 tests/gates --night` all of them."""
    marks = [] if hole.name in QUICK else [dosed(hole.name)]
    return pytest.param(hole, id=f"R{hole.rule}-{hole.name.replace(' ', '-')}", marks=marks)


@pytest.mark.parametrize("hole", [in_turn(hole) for hole in HOLES])
def test_a_test_of_the_pages_finds(hole: Hole, tmp_path: Path) -> None:
    place = planted(hole.bug(), tmp_path)
    for name in ("conftest.py", "support", "integration/web"):
        there = place / "tests" / name
        there.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (TESTS / name).is_dir() else shutil.copy)(TESTS / name, there)
    shutil.copy(ROOT / "pyproject.toml", place)
    suite, _, only = hole.found_by.partition(" -k ")
    path = f"tests/integration/web/{suite if suite.startswith('test_') else 'test_' + suite}.py"
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", "120", "-k", only, path)
    said = found.stdout[-3000:] + found.stderr[-2000:]
    assert found.returncode == 1 and "FAILED tests/" in found.stdout, said


@pytest.mark.parametrize("hole", [pytest.param(hole, id=hole.name) for hole in HOLES])
def test_each_hole_has_its_line(hole: Hole) -> None:
    assert (PACKAGE / hole.file).read_text().count(hole.line) == 1


def test_every_rule_has_a_hole_and_the_table_of_the_docs_names_its_tests() -> None:
    text = (ROOT / "docs" / "security.md").read_text().partition("## The pages in a browser")[2].partition("\n## ")[0]
    rows = {int(number): row for number, row in re.findall(r"^\| R(\d+) \|(.*)$", text, re.M)}
    assert set(rows) == {hole.rule for hole in HOLES} == set(range(1, 17))
    for hole in HOLES:
        suite = hole.found_by.partition(" ")[0].removeprefix("test_")
        assert f"test_{suite}.py" in rows[hole.rule], (hole.rule, suite)
        is_twice = (
            PACKAGE.parent / hole.file.partition("/")[0]
        ).is_dir()  # `config` is a folder beside the package, too
        assert f"`{'nobrakes/' * is_twice}{hole.file}`" in rows[hole.rule], (hole.rule, hole.file)
