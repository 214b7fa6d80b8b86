"""Whether somebody answers: TLS with a certificate that is trusted, through a proxy too, and never longer than allowed."""

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nobrakes.host.versions import reach

Serve = Callable[[socket.socket], object]


@contextmanager
def listening(serve: Serve) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(line,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    more = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert]
    subprocess.run(["openssl", *words.split(), *more], check=True, capture_output=True)
    return cert, key


def tls(cert: str, key: str, heard: list[bytes]) -> Serve:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    def serve(line: socket.socket) -> None:
        try:
            with context.wrap_socket(line, server_side=True) as secure:
                heard.append(secure.recv(1000))
        except OSError:
            line.close()

    return serve


def test_a_handshake_is_enough_and_not_a_word_is_said(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = certificate
    heard: list[bytes] = []
    with listening(tls(cert, key, heard)) as port:
        url = f"https://127.0.0.1:{port}"
        assert "certificate" in reach([url])[url], "a certificate that nobody trusts is no answer"
        monkeypatch.setenv("SSL_CERT_FILE", cert)
        assert reach([url, f"https://localhost:{port}/v1"]) == {url: "", f"https://localhost:{port}/v1": ""}
    assert set(heard) <= {b""}


def test_nobody_there_and_no_address_are_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{free.getsockname()[1]}"
        found = reach([url, "ftp://x", "https://name.invalid"], 10)
    assert "refused" in found[url] and found["https://name.invalid"]
    assert found["ftp://x"] == "the address is wrong: an address has to begin with https:// or http://"


def test_whoever_hangs_costs_no_more_than_the_time(certificate: tuple[str, str]) -> None:
    stays: list[socket.socket] = []
    with listening(stays.append) as port:
        urls = [f"https://127.0.0.1:{port}/{number}" for number in range(5)]
        begun = time.monotonic()
        found = reach(urls, 0.5)
        assert time.monotonic() - begun < 5 and all(found[url] for url in urls)


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def proxy(line: socket.socket) -> None:
        asked.append(line.recv(2000).decode())
        line.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        line.close()

    with listening(proxy) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://you:secret@127.0.0.1:{port}")
        monkeypatch.setenv("https_proxy", f"http://you:secret@127.0.0.1:{port}")
        monkeypatch.setenv("NO_PROXY", "")
        found = reach(["https://provider.invalid"])["https://provider.invalid"]
    assert "502" in found and "secret" not in found
    assert asked[0].startswith("CONNECT provider.invalid:443") and "Proxy-Authorization: Basic" in asked[0]
