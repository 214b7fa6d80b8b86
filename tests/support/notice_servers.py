"""Servers on the loopback that notices are sent to: a webhook and a mail server, sound or in one of several troubles."""

import contextlib
import json
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Kept:
    """What came in, and where."""

    port: int = 0
    messages: list[Any] = field(default_factory=list)
    connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


@contextlib.contextmanager
def _serving(handler: type[socketserver.StreamRequestHandler], kept: Kept) -> Iterator[Kept]:
    with _Server(("127.0.0.1", 0), handler) as server:
        kept.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield kept
        finally:
            kept.over.set()
            server.shutdown()


def webhook(trouble: str = "") -> contextlib.AbstractContextManager[Kept]:
    """A server that keeps what is posted. `trouble`: hangs, dribbles, refuses, dies, redirects."""
    kept = Kept()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            kept.connections += 1
            with contextlib.suppress(OSError):
                self.answer()

        def answer(self) -> None:
            length = 0
            headers = []
            while (line := self.rfile.readline().strip()) != b"":
                headers.append(line.decode())
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = json.loads(self.rfile.read(length))
            if trouble == "hangs":
                kept.over.wait()
            elif trouble == "dribbles":
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000:
                    self.wfile.write(bytes([byte]))
                    if kept.over.wait(0.05):
                        return
            elif trouble == "dies":
                self.wfile.write(b"HTTP/1.1 20")
            elif trouble == "refuses":
                self.wfile.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
            elif trouble == "redirects":
                self.wfile.write(b"HTTP/1.1 307 Go\r\nLocation: http://hooks.invalid/\r\nContent-Length: 0\r\n\r\n")
            else:
                kept.messages.append(body | {"headers": headers, "at": time.monotonic()})
                self.wfile.write(b"HTTP/1.1 204 Yes\r\n\r\n")

    return _serving(Handler, kept)


def mail_server(trouble: str = "") -> contextlib.AbstractContextManager[Kept]:
    """A mail server. `trouble`: hangs, dribbles, refuses (the recipient), dies (in the message)."""
    kept = Kept()

    class Handler(socketserver.StreamRequestHandler):
        def say(self, line: str) -> None:
            if trouble == "dribbles":
                for byte in f"220-{'x' * 2000}".encode():
                    self.wfile.write(bytes([byte]))
                    if kept.over.wait(0.05):
                        return
            self.wfile.write(f"{line}\r\n".encode())

        def handle(self) -> None:
            kept.connections += 1
            with contextlib.suppress(OSError):
                self.converse()

        def converse(self) -> None:
            if trouble == "hangs":
                kept.over.wait()
                return
            self.say("220 here")
            while line := self.rfile.readline():
                verb = line[:4].upper()
                if verb == b"DATA":
                    self.say("354 go on")
                    lines = []
                    while (text := self.rfile.readline()) not in (b".\r\n", b""):
                        lines.append(text)
                        if trouble == "dies":
                            return
                    kept.messages.append(b"".join(lines).decode())
                    self.say("250 kept")
                elif verb == b"RCPT" and trouble == "refuses":
                    self.say("550 nobody of that name")
                elif verb == b"QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 yes")

    return _serving(Handler, kept)
