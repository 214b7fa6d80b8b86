"""What guards every page, file, socket and error: who may ask, who is logged in, and every answer's headers.

1. A foreign, repeated or missing host, or forwarding headers: 421. So DNS rebinding fails.
2. Changes and sockets need our own origin with port and scheme. A script without an origin may use a token in the
   Authorization header, never in an address.
3. Reads from other sites are refused, except a person's navigation to a page (a link in a notice).
4. Only the login page and nobrakes' static files are answered without a session.
5. Every answer has HEADERS; none lets another origin read it.
6. A body is bounded, has a length, and arrives within BODY_SECONDS.
7. `Site`: where a server is reached, by which names, and who is logged in.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import logging.handlers
import os
import re
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, wraps
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..doctor.health import Looks
from ..errors import UsageError
from ..machine.web_state import SESSION_SECONDS, WebState
from ..records import frozen
from ..serving import BODY_SECONDS
from ..text.cleaning import one_line
from .rendering import STATIC, error_page, render, version

FAILURES = 10
LOG = logging.getLogger("nobrakes.web")


def hashed(token: str) -> bytes:
    """Empty: no token."""
    return hashlib.sha256(token.encode()).digest() if token else b""


@dataclass(slots=True)
class Site:
    """`names`: accepted hosts, `host:port` in lower case; `token`: the hash of a script's; `editor`: the person's."""

    state: "WebState"
    port: int
    names: frozenset[str]
    is_secure: bool = False
    token: bytes = b""
    editor: str = "none"
    failed: deque[float] = field(default_factory=deque)
    looks: Looks = field(default_factory=Looks)

    @property
    def scheme(self) -> str:
        return "https" if self.is_secure else "http"

    @property
    def cookie(self) -> str:
        """Includes the port, so that servers on one host do not share it."""
        return f"__Host-nb_{self.port}" if self.is_secure else f"nb_{self.port}"

    def is_flooded(self, said: str) -> bool:
        """Record and log a wrong code; True: too many within a minute to log."""
        now = time.monotonic()
        while self.failed and now - self.failed[0] > 60:
            self.failed.popleft()
        if len(self.failed) >= FAILURES:
            return True
        self.failed.append(now)
        LOG.warning(said)
        return False


# Names of the site's own files are looked up in a list; no path comes from outside.
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".webmanifest": "application/json"}
_YEAR = "public, max-age=31536000, immutable"


@cache
def files() -> dict[str, bytes]:
    found = {}
    for name in os.listdir(STATIC):
        if os.path.splitext(name)[1] in KINDS:
            with open(os.path.join(STATIC, name), "rb") as file:
                found[name] = file.read()
    return found


@cache
def _packed(name: str) -> bytes:
    import gzip

    return gzip.compress(files()[name], mtime=0)


async def static(request: Request) -> Response:
    """Cached forever: the address has the version of all files."""
    name = request.path_params["name"]
    if name not in files():
        return Response("the file does not exist\n", 404, media_type="text/plain")
    # a page of an older version asks by its old address, and is told not to keep what it gets
    keep = _YEAR if request.path_params["version"] == version() else "no-cache"
    headers = {"cache-control": keep, "vary": "accept-encoding"}
    kind = KINDS[os.path.splitext(name)[1]]
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(_packed(name), headers={**headers, "content-encoding": "gzip"}, media_type=kind)
    return Response(files()[name], headers=headers, media_type=kind)


# A thread that takes too long is left: it goes on to its end and is heard no more. MAX_THREADS bounds how many there
# are, so a disk that hangs makes pages say so and nothing else. A command is waited for: nobody would know what it did.
TIMEOUT_SECONDS = 15.0
MAX_THREADS = 40
Look = Callable[[Request], Response]


class Threads:
    """The threads of one server."""

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._free = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], Response]) -> Response:
        """Run `work` in its own thread; TimeoutError after TIMEOUT_SECONDS, with the wait for a free one."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self._free.acquire()
            answer: asyncio.Future[Response] = loop.create_future()

            def end(made: Response | None, error: BaseException | None) -> None:
                self._free.release()
                if answer.done():
                    return  # it was left
                if made is not None:
                    answer.set_result(made)
                else:
                    answer.set_exception(error or RuntimeError("nothing was made"))

            def go() -> None:
                made, error = None, None
                try:
                    made = work()
                except BaseException as caught:
                    error = caught
                with suppress(RuntimeError):  # the server has ended meanwhile
                    loop.call_soon_threadsafe(end, made, error)

            try:
                threading.Thread(target=go, daemon=True, name="page").start()
            except RuntimeError:
                self._free.release()
                raise
            return await answer


def in_time(look: Look) -> Callable[[Request], Awaitable[Response]]:
    @wraps(look)
    async def answer(request: Request) -> Response:
        threads: Threads = request.app.state.threads
        return await threads.run(lambda: look(request))

    return answer


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 256 * 1024
MAX_HEAD = 32 * 1024
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types nb"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer our own forms would say `Origin: null`
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_FORWARDED = (b"forwarded", b"x-real-ip", b"x-original-url", b"x-rewrite-url", b"via")
_SAFE = ("GET", "HEAD")


@frozen
class Refusal:
    """Why a request is refused; `location`: a redirect instead."""

    status: int
    text: str
    location: str = ""


class Asked:
    """A request's headers."""

    def __init__(self, scope: Scope) -> None:
        self.is_socket = scope["type"] == "websocket"
        self.method: str = "GET" if self.is_socket else scope["method"]
        self.path: str = scope["path"]
        self.raw: bytes = scope.get("raw_path") or self.path.encode()
        self.query: bytes = scope.get("query_string", b"")
        self._headers: dict[bytes, list[bytes]] = {}
        self.size = len(self.raw) + len(self.query) + sum(len(name) + len(value) for name, value in scope["headers"])
        for name, value in scope["headers"]:
            self._headers.setdefault(name.lower(), []).append(value)

    def all(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for value in self._headers.get(name, ())]

    def one(self, name: bytes) -> str:
        """Empty: none, or several."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    def is_forwarded(self) -> bool:
        return any(name in _FORWARDED or name.startswith(b"x-forwarded") for name in self._headers)

    def is_step(self) -> bool:
        """Whether a person navigates here: a full page in a tab, not a frame, script or picture."""
        return (
            not self.is_socket
            and self.method in _SAFE
            and self.one(b"sec-fetch-mode") == "navigate"
            and self.one(b"sec-fetch-dest") == "document"
        )

    def is_public(self) -> bool:
        return self.path == "/login" or (self.path.startswith("/static/") and self.method in _SAFE)

    def secret(self, cookie: str) -> str:
        try:
            found = SimpleCookie("; ".join(self.all(b"cookie"))).get(cookie)
        except CookieError:
            return ""
        return found.value if found is not None and re.fullmatch(r"[\w-]{20,100}", found.value) else ""

    def token(self) -> str:
        kind, _, value = self.one(b"authorization").partition(" ")
        return value.strip() if kind.lower() == "bearer" else ""


def judge(asked: Asked, site: Site) -> Refusal | None:
    return _host_refusal(asked, site) or _origin_refusal(asked, site) or _body_refusal(asked)


def _host_refusal(asked: Asked, site: Site) -> Refusal | None:
    hosts = asked.all(b"host")
    if len(hosts) != 1 or hosts[0].lower() not in site.names or not asked.raw.startswith(b"/"):
        return Refusal(421, "This server does not accept requests for that host name.")
    if asked.is_forwarded():
        return Refusal(421, "This server does not accept requests through a proxy.")
    return None


def _origin_refusal(asked: Asked, site: Site) -> Refusal | None:
    origins = asked.all(b"origin")
    if len(origins) > 1:
        return Refusal(421, "The request has more than one Origin header.")
    if asked.method not in (*_SAFE, "POST"):
        return Refusal(405, "This server accepts only GET and POST.")
    changes = asked.is_socket or asked.method not in _SAFE
    own = f"{site.scheme}://{asked.one(b'host').lower()}"
    if origins and origins[0].lower() != own:
        return Refusal(403, "This request came from another site, so it was refused.")
    if changes and not origins and not asked.token():
        return Refusal(403, "The request needs an Origin header, because it changes something.")
    came = asked.all(b"sec-fetch-site")
    if not came or came == ["same-origin"] or (came == ["none"] and not changes):
        return None
    if not changes and asked.is_step():
        return None
    return Refusal(403, "This request came from another site, so it was refused.")


def _body_refusal(asked: Asked) -> Refusal | None:
    if asked.size > MAX_HEAD:
        return Refusal(431, f"The address and the headers together can have at most {MAX_HEAD // 1024} kB.")
    if asked.all(b"transfer-encoding"):
        return Refusal(411, "Send a Content-Length header.")
    length = asked.one(b"content-length")
    if asked.method == "POST" and not length:
        return Refusal(411, "Send a Content-Length header.")
    if length and not (length.isascii() and length.isdigit()):
        return Refusal(400, "The Content-Length header has to be a number.")
    if length and (len(length) > 12 or int(length) > MAX_BODY):
        return Refusal(413, f"The body can have at most {MAX_BODY // 1024} kB.")
    return None


class Guard:
    """The outermost layer of the site."""

    def __init__(self, app: App, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = Asked(scope)
        answer = self._dressed(send)
        refusal = judge(asked, self._site) or self._session_refusal(asked, scope)
        if refusal is not None:
            LOG.info("refused %s %s: %s %s", asked.method, asked.path[:200], refusal.status, refusal.text)
            await refuse(asked, refusal, receive, answer)
            return
        await self._app(scope, _bounded(receive) if scope["type"] == "http" else receive, answer)

    def _session_refusal(self, asked: Asked, scope: Scope) -> Refusal | None:
        token = asked.token()
        if token:
            # a wrong one is not a reason to look at the cookie: rule 2 let it in for the token's sake
            if not self._site.token or not hmac.compare_digest(hashed(token), self._site.token):
                return Refusal(401, "Wrong token. `nobrakes web --token-file` writes a valid token.")
            scope["nobrakes.session"] = "token"
            return None
        secret = asked.secret(self._site.cookie)
        found = self._site.state.session(secret) if secret else None
        scope["nobrakes.session"] = found
        scope["nobrakes.secret"] = secret
        if found is not None or asked.is_public():
            return None
        if asked.method in _SAFE and not asked.is_socket and "/api/" not in asked.path:
            there = asked.path + (f"?{asked.query.decode('latin-1')}" if asked.query else "")
            return Refusal(303, "Log in first.", f"/login?next={quote(there, safe='/')}")
        return Refusal(401, "Log in first.")

    def _dressed(self, send: Send) -> Send:
        async def dressed(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                ours = {name for name, _ in HEADERS}
                kept = [
                    (name, value)
                    for name, value in message.get("headers", ())
                    if name.lower() not in ours and not name.lower().startswith(b"access-control-")
                ]
                if not any(name.lower() == b"cache-control" for name, _ in kept):
                    kept.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        return dressed


def _bounded(receive: Receive) -> Receive:
    """Limits a body to its declared size and BODY_SECONDS; else its sender is gone."""
    read, is_whole = 0, False
    end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def bounded() -> Message:
        nonlocal read, is_whole
        try:
            async with asyncio.timeout_at(None if is_whole else end):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_whole = is_whole or not message.get("more_body", False)
        read += len(message.get("body", b""))
        return message if read <= MAX_BODY else {"type": "http.disconnect"}

    return bounded


async def refuse(asked: Asked, refusal: Refusal, receive: Receive, send: Send) -> None:
    """Refuse, as a page or JSON."""
    if asked.is_socket:
        await receive()
        await send({"type": "websocket.http.response.start", "status": 403, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b""})
        return
    headers = []
    if refusal.location:
        headers.append((b"location", refusal.location.encode()))
    if asked.method == "HEAD" or refusal.location:
        kind, body = b"text/plain; charset=utf-8", b""
    elif "/api/" in asked.path or "application/json" in asked.one(b"accept"):
        kind = b"application/json"
        body = json.dumps({"ok": False, "error": {"code": refusal.status, "message": refusal.text}}).encode()
    else:
        kind, body = b"text/html; charset=utf-8", error_page(refusal.status, refusal.text, "").encode()
    headers += [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# Logging in. The code stands in the fragment of a link, which no log and no other site sees; a script posts it. A right
# code is always taken, once: any program of this machine may send wrong ones, and must not keep the person from "Stop
# everything". Guessing is hopeless without a lock: a code is one of 2**50 and good for two minutes. After ten wrong
# ones within a minute the answer is 429, and no more lines of the log are written for them.
WRONG = "The login code is wrong, was used before, or is older than two minutes."


def site_of(request: Request) -> Site:
    found = request.app.state.site
    assert isinstance(found, Site)
    return found


def reach(request: Request) -> Literal["here", "shared", "far"]:
    """Whether the browser is on this machine, under a name that other servers do not know, or share; or elsewhere."""
    name = (request.url.hostname or "").lower()
    if name in ("127.0.0.1", "localhost", "nobrakes.localhost"):
        return "shared"
    return "here" if name.endswith(".localhost") else "far"


_EDITORS = {name: f"{name}://file" for name in ("vscode", "vscodium", "cursor", "windsurf", "zed")}
_EDITORS["idea"] = "idea://open?file="


def in_editor(request: Request, folder: str) -> str:
    """The link that opens the folder in the person's editor; empty: there is none, or the browser is elsewhere."""
    scheme = _EDITORS.get(site_of(request).editor, "")
    return scheme + quote(folder) if scheme and folder and reach(request) != "far" else ""


def local(path: str) -> str:
    """`path` if it is one of our pages; else the first page."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if is_ours and not path.startswith("/login") else "/"


def login(request: Request) -> Response:
    if request.scope.get("nobrakes.session"):
        return RedirectResponse(local(request.query_params.get("next", "/")), 303)
    return _form(request, local(request.query_params.get("next", "/")))


def _form(request: Request, then: str, wrong: str = "", status: int = 200) -> Response:
    return render(request, "login.html", status=status, then=then, wrong=wrong, is_shared=reach(request) == "shared")


async def exchange(request: Request) -> Response:
    """A session for a code."""
    site = site_of(request)
    form = await request.form(max_files=0, max_fields=4, max_part_size=4096)
    then, code = local(str(form.get("next", "/"))), str(form.get("code", ""))
    if not site.state.use_code(code):
        if site.is_flooded("login refused: the code is wrong, used or too old"):
            return _form(request, then, f"{WRONG} Many wrong codes are arriving. A correct code still works.", 429)
        return _form(request, then, WRONG, 401)
    answer = RedirectResponse(then, 303)
    secret = site.state.new_session()
    # Lax: a link in a notice leads to its page. No domain: no other host is sent it.
    answer.set_cookie(
        site.cookie, secret, max_age=int(SESSION_SECONDS), path="/", secure=site.is_secure, httponly=True,
        samesite="lax",
    )  # fmt: skip
    LOG.info("login: session %s began", site.state.session(secret))
    return answer


def logout(request: Request) -> Response:
    """End this session."""
    site = site_of(request)
    secret = request.scope.get("nobrakes.secret")
    if secret:
        site.state.end_session(secret)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(site.cookie, path="/", secure=site.is_secure, httponly=True, samesite="lax")
    return answer


# The log of the server is rotated, and holds no body, token or code: what is said of requests are methods, paths and
# numbers.
BYTES = 2_000_000
KEPT = 3
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def begin(folder: str, level: str) -> None:
    """Log to `web.log` in the folder."""
    if level not in LOG_LEVELS:
        raise UsageError(f"'{level[:20]}' is not a log level", f"Use one of: {', '.join(LOG_LEVELS)}.")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handler = _Private(os.path.join(folder, "web.log"), maxBytes=BYTES, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    for name in ("nobrakes.web", "nobrakes.serving", "uvicorn.error"):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.setLevel(level if name.startswith("nobrakes.") else max(logging.WARNING, logging.getLevelName(level)))
        log.propagate = False


class _OneLine(logging.Formatter):
    """A browser's text cannot begin a line or control a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = one_line(record.message)
        return super().formatMessage(record)


class _Private(logging.handlers.RotatingFileHandler):
    """Only readable by this account."""

    def _open(self):  # type: ignore[no-untyped-def]
        return open(
            os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600),
            "a",
            encoding="utf-8",
        )
