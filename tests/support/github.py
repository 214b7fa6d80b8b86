"""A GitHub of the tests' own: its REST interface on loopback over TLS, on a real bare repository.

People act on it through methods (`merge`, `review`, `close`), the real `gh` through HTTP. Calls are counted; a call can
be refused, and somebody can be told of each before it is answered (`before`) and after it took effect (`after`).
"""

import json
import re
import ssl
import subprocess
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "dummy-token-of-tests"
Answer = tuple[int, Any, Mapping[str, str]]
AT = "/api/v3/repos/team/thing"


def _certificate(folder: Path) -> tuple[Path, Path]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    about = ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*made, *about, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return cert, key


class GitHub:
    """The server, and what people do there."""

    def __init__(self, folder: Path, bare: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.bare = bare
        self.cert, key = _certificate(folder)
        self.pulls: list[dict[str, Any]] = []
        self.reviews: dict[int, list[dict[str, Any]]] = {}
        self.lines: dict[int, list[dict[str, Any]]] = {}
        self.checks: dict[str, list[dict[str, Any]]] = {}
        self.logs: dict[int, str] = {}
        self.writers = {"ann": "write", "bob": "admin", "eve": "read"}
        self.calls: list[str] = []
        self.not_modified = 0
        self.token = TOKEN
        self.refuse: Callable[[str, str], Answer | None] = lambda method, path: None
        self.before: Callable[[str], None] = lambda call: None
        self.after: Callable[[str], None] = lambda call: None
        self._ids = iter(range(1, 10_000))
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

    # --- what people do --------------------------------------------------------------------------

    def pull(self, number: int) -> dict[str, Any]:
        return self.pulls[number - 1]

    def open_ones(self) -> list[dict[str, Any]]:
        return [pull for pull in self.pulls if pull["state"] == "open"]

    def head(self, number: int) -> str:
        pull = self.pull(number)
        if pull["merged"]:
            return str(pull["head_sha"])
        return self.git("rev-parse", pull["head"]["ref"])

    def merge(self, number: int, how: str = "squash", words: str = "") -> str:
        """As the buttons of the page do it; the merge commit."""
        with self.lock:
            pull = self.pull(number)
            into = f"refs/heads/{pull['base']['ref']}"
            head, base = self.head(number), self.git("rev-parse", into)
            tree = self.git("merge-tree", "--write-tree", base, head)
            text = words or f"{pull['title']} (#{number})"
            if how == "merge":
                made = self.git("commit-tree", tree, "-p", base, "-p", head, "-m", text)
            elif how == "squash":
                made = self.git("commit-tree", tree, "-p", base, "-m", text)
            else:
                made = self.git("commit-tree", tree, "-p", base, "-m", self.git("log", "-1", "--format=%B", head))
            self.git("update-ref", into, made, base)
            pull.update(state="closed", merged=True, merge_commit_sha=made, head_sha=head)
            return made

    def close(self, number: int) -> None:
        self.pull(number)["state"] = "closed"

    def review(self, number: int, by: str, text: str, state: str = "CHANGES_REQUESTED", kind: str = "User") -> None:
        row = {"id": next(self._ids), "user": {"login": by, "type": kind}, "body": text, "state": state}
        self.reviews.setdefault(number, []).append(row)

    def comment(
        self, number: int, by: str, text: str, path: str, line: int, kind: str = "User", answers: int | None = None
    ) -> int:
        """A remark on a line, perhaps one that answers another; its id."""
        row = {"id": next(self._ids), "user": {"login": by, "type": kind}, "body": text, "path": path, "line": line}
        self.lines.setdefault(number, []).append({**row, "in_reply_to_id": answers} if answers else row)
        return int(row["id"])  # type: ignore[call-overload]

    def check(self, commit: str, name: str, conclusion: str | None, log: str = "") -> None:
        """A check run; conclusion None: it goes on."""
        key = next(self._ids)
        status = "completed" if conclusion else "in_progress"
        row = {"id": key, "name": name, "status": status, "conclusion": conclusion, "html_url": "", "output": {}}
        rows = [one for one in self.checks.get(commit, []) if one["name"] != name]
        self.checks[commit] = [*rows, row]
        self.logs[key] = log

    # --- what gh asks ----------------------------------------------------------------------------

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> Answer:
        url = urlsplit(path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        refused = self.refuse(method, url.path)
        if refused is not None:
            return refused
        if url.path in ("/api/v3/", "/api/graphql"):
            return 200, {"data": {"viewer": {"login": "robot"}}}, {"x-oauth-scopes": "repo, read:org"}
        found = _ROUTES.match(f"{method} {url.path}")
        if found is None:
            return 404, {"message": "Not Found"}, {}
        name, rest = found.lastgroup or "", found
        handled: Answer = getattr(self, f"_{name}")(rest, body, asked)
        return handled

    def _list(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        head = asked["head"].partition(":")[2]
        rows = [self._row(one) for one in self.pulls if one["head"]["ref"] == head]
        return 200, rows[::-1] if asked.get("page", "1") == "1" else [], {}

    def _open(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        assert set(body) <= {"title", "head", "base", "body", "draft"}, body
        if not self._is_there(body["base"]):
            return 422, {"message": "Validation Failed", "errors": [{"field": "base", "code": "invalid"}]}, {}
        if any((one["head"]["ref"], one["base"]["ref"]) == (body["head"], body["base"]) for one in self.open_ones()):
            return 422, {"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]}, {}
        number = len(self.pulls) + 1
        url = f"https://{self.host}/team/thing/pull/{number}"
        self.pulls.append(
            {
                "number": number,
                "html_url": url,
                "state": "open",
                "merged": False,
                "merge_commit_sha": None,
                "title": body["title"],
                "body": body["body"],
                "draft": body["draft"],
                "labels": [],
                "reviewers": [],
                "head": {"ref": body["head"]},
                "base": {"ref": body["base"]},
                "mergeable": None,
            }
        )
        return 201, self._row(self.pulls[-1]), {}

    def _one(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self._row(self.pull(int(found["n1"]))), {}

    def _change(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        pull = self.pull(int(found["n2"]))
        assert set(body) <= {"title", "body", "base"} or body == {"state": "closed"}, body
        if "base" in body and (pull["state"] != "open" or not self._is_there(body["base"])):
            return 422, {"message": "Validation Failed", "errors": [{"field": "base", "code": "invalid"}]}, {}
        pull.update({**body, **({"base": {"ref": body["base"]}} if "base" in body else {})})
        return 200, self._row(pull), {}

    def _is_there(self, branch: str) -> bool:
        return bool(self.git("for-each-ref", f"refs/heads/{branch}"))

    def _reviews(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self.reviews.get(int(found["n3"]), []) if asked["page"] == "1" else [], {}

    def _comments(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self.lines.get(int(found["n4"]), []) if asked["page"] == "1" else [], {}

    def _runs(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, {"check_runs": self.checks.get(found["c1"], [])}, {}

    def _status(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, {"state": "pending", "statuses": []}, {}

    def _log(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self.logs.get(int(found["n5"]), ""), {}

    def _labels(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        self.pull(int(found["n6"]))["labels"] = body["labels"]
        return 200, [], {}

    def _asked(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        self.pull(int(found["n7"]))["reviewers"] = body["reviewers"]
        return 201, {}, {}

    def _may(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        known = self.writers.get(found["who"])
        return (200, {"permission": known}, {}) if known else (404, {"message": "Not Found"}, {})

    def _row(self, pull: Mapping[str, Any]) -> dict[str, Any]:
        row = {key: value for key, value in pull.items() if key != "head_sha"}
        if pull["state"] == "open":
            merged = subprocess.run(
                ["git", "merge-tree", "--write-tree", pull["base"]["ref"], pull["head"]["ref"]],
                cwd=self.bare,
                capture_output=True,
            )
            row["mergeable"] = merged.returncode == 0
        head = self.head(pull["number"]) if pull["state"] == "open" or pull["merged"] else ""
        return {**row, "head": {**pull["head"], "sha": head}}


_ROUTES = re.compile(
    "|".join(
        f"(?P<{name}>{text}\\Z)"
        for name, text in {
            "list": f"GET {AT}/pulls",
            "open": f"POST {AT}/pulls",
            "one": rf"GET {AT}/pulls/(?P<n1>\d+)",
            "change": rf"PATCH {AT}/pulls/(?P<n2>\d+)",
            "reviews": rf"GET {AT}/pulls/(?P<n3>\d+)/reviews",
            "comments": rf"GET {AT}/pulls/(?P<n4>\d+)/comments",
            "runs": rf"GET {AT}/commits/(?P<c1>[0-9a-f]+)/check-runs",
            "status": rf"GET {AT}/commits/[0-9a-f]+/status",
            "log": rf"GET {AT}/actions/jobs/(?P<n5>\d+)/logs",
            "labels": rf"POST {AT}/issues/(?P<n6>\d+)/labels",
            "asked": rf"POST {AT}/pulls/(?P<n7>\d+)/requested_reviewers",
            "may": rf"GET {AT}/collaborators/(?P<who>[^/]+)/permission",
        }.items()
    )
)


def _handler(hub: GitHub) -> type[BaseHTTPRequestHandler]:
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
                if self.headers.get("authorization") != f"token {hub.token}":
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
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do

    return Handler
