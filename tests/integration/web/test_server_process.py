"""`nobrakes web` as a process: where it listens, what it tells whom, and what nobody finds of its codes and tokens."""

import json
import os
import re
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from nobrakes.machine.web_state import WebState, web_state
from nobrakes.web import server
from tests.support.warm import NOBRAKES
from tests.support.web import process

OTHERS = ("127.0.0.2", "::1")


def listens(address: str, port: int) -> bool:
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(kind, socket.SOCK_STREAM) as line:
        line.settimeout(5)
        return line.connect_ex((address, port)) == 0


def ask(served, method: str, path: str, host: str = "", **more) -> httpx.Response:
    own = host or served.host
    headers = {"host": own, "origin": f"{served.scheme}://{own}", **more.pop("headers", {})}
    url = f"{served.scheme}://127.0.0.1:{served.port}{path}"
    return httpx.request(method, url, headers=headers, verify=False, timeout=20, **more)


def everything_kept(*folders: Path) -> dict[str, bytes]:
    """Every file below the folders."""
    return {str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_it_listens_on_the_loopback_alone_and_its_codes_and_tokens_are_nowhere(
    repository, tmp_path, monkeypatch
) -> None:
    logs, token_file = tmp_path / "logs", tmp_path / "token.txt"
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$0 $*" >>{seen}\ncat "${{1#file://}}" >>{seen}\n')
    browser.chmod(0o755)
    environment = {"NOBRAKES_LOG_DIR": str(logs), "NOBRAKES_DEBUG": "1", "BROWSER": f"{browser} %s"}
    with process("--open", "--token-file", str(token_file), **environment) as served:
        assert listens("127.0.0.1", served.port) and not any(listens(one, served.port) for one in OTHERS)
        token = token_file.read_text().strip()
        assert token_file.stat().st_mode & 0o777 == 0o600
        wrong = "WRONG-WRONG"
        assert ask(served, "POST", "/login", data={"code": wrong}).status_code == 401
        done = ask(served, "POST", "/login", data={"code": served.code})
        assert done.status_code == 303
        cookie = f"{done.headers['set-cookie']}".partition(";")[0]
        secret = cookie.partition("=")[2]
        mine = {"cookie": cookie}
        assert ask(served, "POST", "/r/shop/do/pause", headers=mine).status_code == 303
        assert ask(served, "POST", "/r/shop/do/resume", headers={"authorization": f"Bearer {token}"}).status_code == 303
        assert ask(served, "GET", f"/login?next=/&code={wrong}&token={token}", headers=mine).status_code == 303
        assert ask(served, "GET", "/a%0a2026-01-01 00:00:00 INFO forged%1b[31m", host="evil.example").status_code == 421
        argv = Path(f"/proc/{served.pid}/cmdline").read_bytes()
        fresh = subprocess.run([NOBRAKES, "web", "--code"], capture_output=True, text=True, check=True).stdout
        other = re.search(r"#code=(\S+)", fresh)[1]
        assert other != served.code and f"http://{served.host}/login" in fresh
        again = subprocess.run([NOBRAKES, "web"], capture_output=True, text=True, check=True).stdout
        assert "is already running" in again and served.host in again
        opened = seen.read_text()
        [in_page] = re.findall(r"#code=([A-Z0-9-]+)", opened)
        assert in_page not in opened.partition("\n")[0], "on the command line of a browser"
        state = web_state()
        assert not state.use_code(in_page, confirms=True), "what is written out confirms nothing"
        events = subprocess.run([NOBRAKES, "events", "--json"], capture_output=True, text=True, check=True).stdout
        assert "paused" in events and json.dumps("ada (web)") in events
        home = Path(state.folder)
        kept = everything_kept(repository, logs, home.parent, home.parent.parent / "config")
        assert any(path.endswith("web.log") for path in kept)
        for name, value in {
            "code": served.code,
            "new code": other,
            "session": secret,
            "token": token,
            "wrong": wrong,
        }.items():
            plain = value.replace("-", "") if name != "session" else value
            hits = [path for path, text in kept.items() if value.encode() in text or plain.encode() in text]
            assert hits == [] and value.encode() not in argv, (name, hits)
            assert value not in events
        assert in_page.encode() in kept[str(home / "open.html")], "the proof that a code would be found"
        for path in [home, *home.rglob("*"), logs / "web.log"]:
            assert path.stat().st_mode & 0o077 == 0, path
        log = (logs / "web.log").read_text()
        assert all(re.match(r"\d{4}-\d\d-\d\d \S+ [A-Z]+ ", line) for line in log.splitlines())
        assert re.search(r"command: pause by ada \(web\) in session [0-9a-f]{12}$", log, re.M)
        assert "\x1b" not in log and sum("forged" in line for line in log.splitlines()) == 1
        assert served.end() == 130
    assert not token_file.exists() and not (home / "open.html").exists()
    assert token not in served.said and secret not in served.said


@pytest.fixture
def certificate(tmp_path) -> tuple[str, str]:
    """A certificate that nobody signed, and its key."""
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.2", "-keyout", key, "-out", cert], check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


def test_others_in_the_network_reach_it_when_asked_for_by_its_address_alone_and_it_is_said(
    repository, certificate
) -> None:
    cert, key = certificate
    with process("--lan", "--host", "127.0.0.2") as served:
        assert listens("127.0.0.2", served.port) and not listens("127.0.0.3", served.port)
        assert "everyone in your network can reach the login page at 127.0.0.2" in served.said
        assert "without TLS the network can read your session" in served.said and "Tailscale" in served.said
        assert ask(served, "GET", "/login", host=f"127.0.0.2:{served.port}").status_code == 200
        assert ask(served, "GET", "/r/shop/", host=f"127.0.0.2:{served.port}").status_code == 303
        for host in ("127.0.0.3", "shop.example", "0.0.0.0"):
            assert ask(served, "GET", "/login", host=f"{host}:{served.port}").status_code == 421
    with process("--lan", "--host", "127.0.0.2", "--tls-cert", cert, "--tls-key", key) as served:
        assert served.scheme == "https" and "without TLS" not in served.said
        for host in (served.host, f"127.0.0.2:{served.port}"):
            code = web_state().new_code()
            done = ask(served, "POST", "/login", data={"code": code}, host=host)
            assert done.status_code == 303
            told = done.headers["set-cookie"]
            assert told.startswith(f"__Host-nb_{served.port}=") and "Secure" in told and "Domain" not in told
        plain = {"origin": f"http://{served.host}"}
        assert ask(served, "POST", "/login", data={"code": "x"}, headers=plain).status_code == 403
        with (
            socket.create_connection(("127.0.0.1", served.port)) as line,
            pytest.raises((ssl.SSLError, OSError, AssertionError)),
        ):
            line.sendall(f"GET /login HTTP/1.1\r\nHost: {served.host}\r\n\r\n".encode())
            assert b"200" in line.recv(100), "https is not spoken in the clear"


WRONG = [
    (["--host", "192.0.2.7"], {}, "--lan"),
    ([], {"NOBRAKES_HOST": "192.0.2.7"}, "--lan"),
    ([], {"NOBRAKES_PORT": "http"}, "NOBRAKES_PORT"),
    ([], {"NOBRAKES_PORT": "70000"}, "NOBRAKES_PORT"),
    (["--tls-cert", "there"], {}, "must be given together"),
    (["--tls-cert", "no.pem", "--tls-key", "no.pem"], {}, "no.pem"),
    (["--token-file", "there"], {}, "already exists"),
    (["--code"], {}, "`nobrakes web` is not running"),
    ([], {"NOBRAKES_RUN": "1"}, "an agent or a check"),
    ([], {"NOBRAKES_TOKEN": "1.x"}, "agents cannot use `nobrakes web`"),
]


def test_a_token_file_that_a_killed_server_left_is_no_obstacle(repository, tmp_path) -> None:
    token_file = tmp_path / "token"
    with process("--token-file", str(token_file)) as served:
        before = token_file.read_text()
        served.running.kill()
        served.running.wait(20)
    assert token_file.read_text() == before
    with process("--token-file", str(token_file)) as served:
        assert token_file.read_text() != before and token_file.stat().st_mode & 0o777 == 0o600
    assert not token_file.exists()


def test_what_cannot_be_served_is_said_and_nothing_is_handed_out(repository) -> None:
    (repository / "there").write_text("mine\n")
    for options, environment, said in WRONG:
        done = subprocess.run(
            [NOBRAKES, "web", *options], env={**os.environ, **environment}, capture_output=True, text=True, timeout=20
        )
        assert done.returncode not in (0, 1) and said in done.stderr, done
        assert "#code=" not in done.stdout and (repository / "there").read_text() == "mine\n"


def test_an_option_goes_before_a_variable_and_that_before_the_persons_settings(
    repository, tmp_path, monkeypatch
) -> None:
    place = Path(os.environ["NOBRAKES_USER_HOME"], "config")
    place.mkdir(mode=0o700, exist_ok=True)
    logs = tmp_path / "of-settings"
    text = f'[web]\nport = 7201\nhost = "mine.localhost"\nlog_dir = "{logs}"\nlog_level = "DEBUG"\n'
    (place / "config.toml").write_text(text)

    def found(*options: object, **environment: str) -> tuple[object, ...]:
        for name in ("PORT", "HOST", "LOG_DIR", "DEBUG"):
            monkeypatch.delenv(f"NOBRAKES_{name}", raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(f"NOBRAKES_{name}", value)
        one = server.as_set(server.Options(*options))
        return one.port, one.host, one.log_dir, one.level

    assert found() == (7201, "mine.localhost", str(logs), "DEBUG")
    assert found(7203, PORT="7202", DEBUG="0") == (7203, "mine.localhost", str(logs), "INFO")
    assert found(None, "other.localhost", PORT="7202", HOST="no.localhost", LOG_DIR="x", DEBUG="1") == (
        7202, "other.localhost", "x", "DEBUG",
    )  # fmt: skip
    free = text.replace("7201", str(unused()))
    (place / "config.toml").write_text(free)
    monkeypatch.delenv("NOBRAKES_PORT")
    monkeypatch.delenv("NOBRAKES_HOST")
    monkeypatch.delenv("NOBRAKES_LOG_DIR")
    token_file = tmp_path / "token"
    with process("--token-file", str(token_file)) as served:
        assert f"port = {served.port}\n" in free and served.name == "mine.localhost"
        assert ask(served, "GET", "/login").status_code == 200 and (logs / "web.log").exists()
        served.running.terminate()
        assert served.running.wait(20) == 128 + signal.SIGTERM and not token_file.exists()
        assert web_state().serving() is None
    (place / "config.toml").write_text("[web]\nport = 0\n")
    done = subprocess.run([NOBRAKES, "web"], capture_output=True, text=True, timeout=20)
    assert done.returncode not in (0, 1) and "web.port" in done.stderr and "#code=" not in done.stdout
    (place / "config.toml").write_text(f"[web]\nport = {served.port}\n")
    with socket.create_server(("127.0.0.1", served.port)):
        done = subprocess.run([NOBRAKES, "web"], capture_output=True, text=True, timeout=20)
    assert "cannot listen on" in done.stderr and str(served.port) in done.stderr


def unused() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


def test_a_code_lasts_two_minutes_a_session_twelve_hours_and_both_are_kept_as_hashes(tmp_path) -> None:
    now = [1000.0]
    state = WebState(str(tmp_path / "web"), lambda: now[0])
    late, early, secret = state.new_code(), state.new_code(), state.new_session()
    assert len(re.findall(r"[A-Z2-9]", late)) == 10
    now[0] += 119
    assert state.use_code(early) and not state.use_code(early)
    now[0] += 2
    assert not state.use_code(late)
    now[0] = 1000.0 + 12 * 3600 - 1
    assert state.session(secret)
    now[0] += 2
    assert state.session(secret) is None
    names = " ".join(str(path) for path in (tmp_path / "web").rglob("*"))
    assert not any(word in names for word in (late, late.replace("-", ""), secret))
