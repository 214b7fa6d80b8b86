"""The one way out of a sandbox whose network is its provider's: what goes through it, what does not, and how it ends."""

import http.server
import os
import resource
import socket
import subprocess
import sys
import threading

import pytest

from nobrakes.host import proxy
from nobrakes.sandbox.closure import Closure, wrap
from nobrakes.sandbox.system_paths import machine
from tests.support.sandboxes import needs_sandbox


class Answers(http.server.BaseHTTPRequestHandler):
    """Says what it was asked for."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"{self.path} {self.headers.get('Connection')} {self.headers.get('Proxy-Authorization')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """The port of a server on the loopback."""
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield serving.server_port
    serving.shutdown()
    serving.server_close()


@pytest.fixture
def talk(tmp_path, server, monkeypatch):
    """A function: send these bytes to a proxy that allows the server; all that comes back."""
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    log = tmp_path / "refused"
    hosts = [f"127.0.0.1:{server}", f"localhost:{server}", "nowhere.invalid:443", f"rebound.example:{server}"]
    serving = proxy.Proxy(str(log), hosts)
    listener = socket.create_server(("127.0.0.1", 0))
    here, there = socket.socketpair()
    socket.send_fds(there, [b"."], [listener.fileno()])
    threading.Thread(target=serving.serve, args=(here,), daemon=True).start()

    def ask(said):
        with socket.create_connection(listener.getsockname()[:2]) as client:
            client.settimeout(30)
            client.sendall(said)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: client.recv(65536), b"")).decode()

    ask.log, ask.hosts = log, hosts
    yield ask
    there.close()
    listener.close()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_an_allowed_host_is_reached_through_a_tunnel_and_by_a_whole_address(talk, server, name):
    tunnel = f"CONNECT {name}:{server} HTTP/1.1\r\nHost: x\r\n\r\nGET /in HTTP/1.1\r\nHost: x\r\n\r\n"
    assert talk(tunnel.encode()).startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    whole = f"GET http://{name}:{server}/a?b=c HTTP/1.1\r\nHost: x\r\nProxy-Authorization: s\r\nConnection: k\r\n\r\n"
    assert talk(whole.encode()).endswith("/a?b=c close None") and not talk.log.exists()


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("CONNECT elsewhere.example:443", "elsewhere.example:443"),
        ("CONNECT 127.0.0.1:1", "127.0.0.1:1"),
        ("CONNECT 127.1:PORT", "127.1:PORT"),
        ("CONNECT 2130706433:PORT", "2130706433:PORT"),
        ("CONNECT [::1]:PORT", "[::1]:PORT"),
        ("CONNECT [::ffff:127.0.0.1]:PORT", "[::ffff:127.0.0.1]:PORT"),
        ("CONNECT localhost.:PORT", "localhost.:PORT"),
        ("CONNECT x.localhost:PORT", "x.localhost:PORT"),
        ("GET http://elsewhere.example/x", "elsewhere.example:80"),
        ("GET http://127.0.0.1/x", "127.0.0.1:80"),
    ],
)
def test_any_other_is_refused_clearly_and_noted_once(talk, server, target, place):
    said = f"{target} HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\n\r\n".replace("PORT", str(server)).encode()
    answers = {talk(said) for _ in range(2)}
    place = place.replace("PORT", str(server))
    assert all(answer.startswith("HTTP/1.1 403 Forbidden") and place in answer for answer in answers)
    assert "sandbox.hosts" in answers.pop() and talk.log.read_text() == f"{place}\n"
    assert talk.log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "said",
    [
        b"GET /relative HTTP/1.1\r\n\r\n",
        b"GET https://127.0.0.1/ HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1@elsewhere.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
        b"CONNECT a b:443 HTTP/1.1\r\n\r\n",
        b"CONNECT evil\x1b[31m:443 HTTP/1.1\r\n\r\n",
        b"CONNECT x:99999 HTTP/1.1\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
        b"x" * 70_000,
        b"CONNECT x:443",
    ],
)
def test_what_is_no_request_is_told_so(talk, said):
    assert talk(said).startswith("HTTP/1.1 400") and not talk.log.exists()


def test_a_host_that_cannot_be_reached_is_told(talk):
    assert talk(b"CONNECT nowhere.invalid:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "::1", "::", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1",
        "169.254.169.254", "fe80::1", "fe80::1%1", "fd00::1", "fec0::1", "ff02::1", "224.0.0.1", "255.255.255.255",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::7f00:1", "2002:7f00:1::1", "2001:0:7f00:1::", "192.0.0.8", "198.18.0.1", "240.0.0.1", "no address",
    ],
)  # fmt: skip
def test_a_name_that_leads_inside_is_refused(address, monkeypatch):
    """Also when it is only one of several addresses: whoever answers chooses the order."""
    rows = [(2, 1, 6, "", ("8.8.8.8", 443)), (10, 1, 6, "", (address, 443, 0, 0))]
    monkeypatch.setattr(proxy.socket, "getaddrinfo", lambda *_, **__: rows)
    assert not proxy.is_public(address)
    with pytest.raises(proxy.Refused, match="403"):
        proxy.addresses("ours.example", 443, ["ours.example:443"])
    if address != "no address":
        named = [f"{address}:443", f"[{address}]:443"]
        assert proxy.addresses("ours.example", 443, named) == ["8.8.8.8", address]
        assert proxy.addresses("ours.example", 80, ["8.8.8.8:80", f"{address}:80"]), "as a person says it"


def test_a_name_on_the_loopback_is_looked_up_once_and_refused(talk, server, monkeypatch):
    asked = []

    def looked_up(host, port, *_, **__):
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", server))]

    real = socket.getaddrinfo
    monkeypatch.setattr(
        proxy.socket, "getaddrinfo", lambda h, *a, **k: looked_up(h, *a) if h == "rebound.example" else real(h, *a, **k)
    )
    said = f"CONNECT rebound.example:{server} HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    assert "HTTP/1.1 200 OK" in talk(said), "a person allowed the name and the address"
    talk.hosts.remove(f"127.0.0.1:{server}")
    answer = talk(said)
    assert answer.startswith("HTTP/1.1 403 Forbidden") and "127.0.0.1" in answer and asked == ["rebound.example"] * 2


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_public(address):
    assert proxy.is_public(address)


def test_an_address_of_this_machine_is_refused_though_it_is_public(monkeypatch):
    rows = [(2, 1, 6, "", ("8.8.8.8", 443))]
    monkeypatch.setattr(proxy.socket, "getaddrinfo", lambda *_, **__: rows)
    monkeypatch.setattr(proxy, "_own_addresses", set)
    with pytest.raises(proxy.Refused):
        proxy.addresses("ours.example", 443, [])


def test_it_goes_through_the_proxy_of_the_machine(talk, server, monkeypatch):
    asked = []

    def further(listener):
        client, _ = listener.accept()
        with client:
            asked.append(client.recv(65536).decode())
            client.sendall(b"HTTP/1.1 200 fine\r\n\r\nfrom afar")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=further, args=(listener,), daemon=True).start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:b%40d@127.0.0.1:{listener.getsockname()[1]}")
        assert talk(b"CONNECT nowhere.invalid:443 HTTP/1.1\r\n\r\n").endswith("established\r\n\r\nfrom afar")
    assert asked[0].startswith("CONNECT nowhere.invalid:443 ") and "Basic YWRhOmJAZA==" in asked[0]


INSIDE = """
import os, socket, sys, urllib.request
def get(url):
    try:
        return urllib.request.urlopen(url, timeout=20).read().decode()
    except OSError as error:
        return str(error)
port = sys.argv[1]
print(get(f"http://127.0.0.1:{port}/hello"))
print(get("http://elsewhere.example/"))
print(socket.create_connection(("127.0.0.1", int(port)), 5))
"""


@needs_sandbox
def test_a_sandbox_has_this_way_out_and_no_other(tmp_path, server):
    (tmp_path / "space").mkdir()
    hosts = (f"127.0.0.1:{server}",)
    closure = Closure(str(tmp_path / "space"), machine(os.environ), hidden=(), network="provider", hosts=hosts)
    command = wrap((sys.executable, "-c", INSIDE, str(server)), closure)
    argv = [sys.executable, "-I", "-S", proxy.__file__, str(tmp_path / "refused"), ",".join(hosts), "", "--", *command]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["/hello close None", "HTTP Error 403: Forbidden"]
    assert done.returncode == 1 and "ConnectionRefusedError" in done.stderr
    assert (tmp_path / "refused").read_text() == "elsewhere.example:80\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [(("true",), 0), (("sh", "-c", "exit 7"), 7), (("sh", "-c", "kill -9 $$"), 137), (("no-such",), 127)],
)
def test_it_ends_with_its_command_and_as_that(tmp_path, command, code):
    argv = [sys.executable, "-I", "-S", proxy.__file__, str(tmp_path / "refused"), "a:443", "", "--", *command]
    assert subprocess.run(argv, timeout=60, check=False).returncode == code


def test_a_process_with_many_open_files_tunnels_as_well(talk, server):
    """select() knows 1024 descriptors; whoever has more open is served all the same."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        said = f"CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\nHost: x\r\n\r\n"
        assert "HTTP/1.1 200 OK" in talk(said.encode())
    finally:
        for number in held:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
