"""A code host of the tests' own: an interface on loopback over TLS, on a real bare repository.

People act on it through methods, the real command line through HTTP. Calls are counted; a call can be refused, and
somebody can be told of each before it is answered (`before`) and after it took effect (`after`).
"""

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOKEN = "dummy-token-of-tests"
Answer = tuple[int, Any, Mapping[str, str]]


def _certificate(folder: Path) -> tuple[Path, Path]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    about = ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*made, *about, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return cert, key


class HostServer:
    """The server, and its repository. What it answers is said by those that are of a kind."""

    def __init__(self, folder: Path, bare: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.bare = bare
        self.cert, key = _certificate(folder)
        self.calls: list[str] = []
        self.not_modified = 0
        self.token = TOKEN
        self.refuse: Callable[[str, str], Answer | None] = lambda method, path: None
        self.before: Callable[[str], None] = lambda call: None
        self.after: Callable[[str], None] = lambda call: None
        self.ids = iter(range(1, 100_000))
        self.lock = threading.RLock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"localhost:{self.server.server_port}"

    def close_down(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def git(self, *arguments: str, stdin: str = "") -> str:
        me = ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"]
        done = subprocess.run(["git", *me, *arguments], cwd=self.bare, capture_output=True, text=True, input=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def is_there(self, branch: str) -> bool:
        return bool(self.git("for-each-ref", f"refs/heads/{branch}"))

    def merges_cleanly(self, base: str, branch: str) -> bool:
        tried = subprocess.run(["git", "merge-tree", "--write-tree", base, branch], cwd=self.bare, capture_output=True)
        return tried.returncode == 0

    def merged(self, into: str, head: str, how: str, words: str) -> str:
        """The base with it: a commit with two parents, one with all of it, or its commits anew."""
        base = made = self.git("rev-parse", f"refs/heads/{into}")
        ones = self.git("rev-list", "--reverse", head, f"^{base}").split() if how == "rebase" else [head]
        for one in ones:
            tree = self.git("merge-tree", "--write-tree", base, one)
            text = self.git("log", "-1", "--format=%B", one) if how == "rebase" else words
            more = ["-p", head] if how == "merge" else []
            made = self.git("commit-tree", tree, "-p", made, *more, "-m", text)
        self.git("update-ref", f"refs/heads/{into}", made, base)
        return made

    def push(self, files: Mapping[str, str], onto: str = "main") -> str:
        """Somebody else's commit on a branch; its id."""
        with self.lock:
            base = self.git("rev-parse", f"refs/heads/{onto}")
            rows = self.git("ls-tree", base).splitlines()
            for path, text in files.items():
                blob = self.git("hash-object", "-w", "--stdin", stdin=text)
                rows = [*(row for row in rows if not row.endswith(f"\t{path}")), f"100644 blob {blob}\t{path}"]
            tree = self.git("mktree", stdin="\n".join(rows) + "\n")
            made = self.git("commit-tree", tree, "-p", base, "-m", "theirs")
            self.git("update-ref", f"refs/heads/{onto}", made, base)
            return made

    def is_let_in(self, headers: Mapping[str, str]) -> bool:
        raise NotImplementedError

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> Answer:
        raise NotImplementedError


def _handler(hub: HostServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

        def _body(self) -> dict[str, Any]:
            if self.headers.get("transfer-encoding", "").lower() == "chunked":
                whole = b""
                while size := int(self.rfile.readline(), 16):
                    whole += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                whole = self.rfile.read(int(self.headers.get("content-length") or 0))
            found: dict[str, Any] = json.loads(whole or b"{}")
            return found

        def _do(self) -> None:
            body, call = self._body(), f"{self.command} {self.path}"
            with hub.lock:
                hub.calls.append(call)
            hub.before(call)
            with hub.lock:
                if not hub.is_let_in(self.headers):  # type: ignore[arg-type]
                    status, said, headers = 401, {"message": "Bad credentials"}, {}
                else:
                    status, said, headers = hub.answer(self.command, self.path, body)  # type: ignore[assignment]
            hub.after(call)
            text = said if isinstance(said, str) else json.dumps(said)
            tag = f'"{sha256(text.encode()).hexdigest()[:16]}"'
            is_known = self.command == "GET" and status == 200 and self.headers.get("if-none-match") == tag
            data = b"" if is_known else text.encode()
            if is_known:
                hub.not_modified += 1
            self.send_response(304 if is_known else status)
            for name, value in {"ETag": tag, **headers}.items():
                self.send_header(name, value)
            if not is_known:
                self.send_header("Content-Type", "text/plain" if isinstance(said, str) else "application/json")
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do

    return Handler
