"""Every address of the site, and what answers it. The one list that the guard's test walks."""

import asyncio
import inspect
import os
import re
import secrets
import signal
import socket
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from .. import errors
from ..errors import NotAllowed, UsageError
from ..host.command import open_page
from ..machine.registry import own_settings
from ..machine.web_state import Serving, WebState, web_state
from ..records import frozen
from . import access, api, commands, openapi, pages
from . import live as sockets
from .access import HEADERS, LOG, App, Guard, Site, Threads, hashed, in_time, static
from .rendering import NoSuchRepository, error_page


def routes() -> list[BaseRoute]:
    own: list[BaseRoute] = [
        Route("/login", access.login, methods=["GET"]),
        Route("/login", access.exchange, methods=["POST"]),
        Route("/logout", access.logout, methods=["POST"]),
        Route("/static/{version}/{name}", static, methods=["GET"]),
        Route("/r/{repo}/do/{command}", commands.do, methods=["POST"]),
        WebSocketRoute("/r/{repo}/socket", sockets.live),
    ]
    return [_patient(route) for route in (*own, *api.ROUTES, *openapi.ROUTES, *pages.ROUTES)]


def _patient(route: BaseRoute) -> BaseRoute:
    """Readers get a timeout."""
    if not isinstance(route, Route) or inspect.iscoroutinefunction(route.endpoint) or "POST" in (route.methods or ()):
        return route
    return Route(route.path, in_time(route.endpoint), methods=["GET"])


# What makes a page has a limited time and is then left (web.access). A NobrakesError is a page with its message and its
# hint; anything else a bug, whose text goes to the log alone.
_STATUS: tuple[tuple[type[errors.NobrakesError], int], ...] = (
    (NoSuchRepository, 404),
    (errors.NoSuchBead, 404),
    (errors.NoSuchEscalation, 404),
    (errors.NoSuchSession, 404),
    (errors.NoSuchFeature, 404),
    (errors.NoProject, 404),
    (errors.UsageError, 422),
    (errors.BadBead, 422),
    (errors.PlanError, 422),
    (errors.ConfigError, 422),
    (errors.StoreBusy, 503),
    (errors.NoAnswer, 503),
    (errors.MachineShort, 503),
    (errors.StoreBroken, 500),
)
"""Any other one is what the present state does not allow."""


def status_of(error: errors.NobrakesError) -> int:
    return next((number for kind, number in _STATUS if isinstance(error, kind)), 409)


def failure(
    request: Request, status: int, message: str, hint: str = "", code: int | None = None, alike: Sequence[str] = ()
) -> Response:
    """JSON for programs, a page for people."""
    if "/api/" in request.url.path or "application/json" in request.headers.get("accept", ""):
        error = {"code": status if code is None else code, "message": message, "hint": hint}
        return JSONResponse({"ok": False, "error": error}, status)
    asked = request if request.scope.get("nobrakes.session") else None
    return HTMLResponse(error_page(status, message, hint, asked, alike), status)


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.NobrakesError)
    alike = error.alike if isinstance(error, NoSuchRepository) else ()
    return failure(request, status_of(error), str(error), error.hint, error.code, alike)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "There is no such page.", 405: "This address does not support the HTTP method."}
    return failure(request, error.status_code, said.get(error.status_code, str(error.detail)))


async def _late(request: Request, error: Exception) -> Response:
    hint = "Usually the disk hangs, or another program locks the database. Try again."
    return failure(request, 503, "The repository did not answer in time.", hint)


async def _half(request: Request, error: Exception) -> Response:
    return failure(request, 408, "The request's body is incomplete.", "The request was too long or too slow.")


async def _number(request: Request, error: Exception) -> Response:
    LOG.info("too large a number at %s", request.url.path[:200])
    return failure(request, 404, "No item has such a large number.")


async def _bug(request: Request, error: Exception) -> Response:
    LOG.error("bug at %s %s", request.method, request.url.path, exc_info=error)
    return failure(
        request, 500, "nobrakes itself failed.", "A bug in nobrakes. The log of `nobrakes web` has the traceback."
    )


def application(site: Site) -> "App":
    """The full site."""
    made = Starlette(
        routes=routes(),
        exception_handlers={
            errors.NobrakesError: _known,
            HTTPException: _http,
            TimeoutError: _late,
            ClientDisconnect: _half,
            OverflowError: _number,
            Exception: _bug,
        },
    )
    made.state.site = site
    made.state.streams = {}
    made.state.threads = Threads()
    made.state.paths = frozenset(route.path for route in made.routes if isinstance(route, Route))
    return Guard(made, site)


# One server a person: another `nobrakes web` finds it, and hands out its address and a new code. It listens first and
# loads the rest afterwards. It listens on 127.0.0.1; with `--lan` on this machine's address in the network too, and it
# says what that means. Nothing but the terminal ever sees a code or a token; no log has them.
PORT = 7117
LOOPBACK = "127.0.0.1"
_LEFT = re.compile(rb"([A-Za-z0-9_-]{43}\n)?")
"""A scripts' token, or the empty file of a killed server."""
Say = Callable[[str], None]


@frozen
class Options:
    """Options. `port` None: PORT, or a free one. `host`: in the address. `path` finds the first page, which is slower
    than listening."""

    port: int | None = None
    host: str = ""
    lan: bool = False
    opens: bool = False
    code: bool = False
    cert: str = ""
    key: str = ""
    token_file: str = ""
    log_dir: str = ""
    level: str = "INFO"
    editor: str = "none"
    path: Callable[[], str] = lambda: "/"


def serve(options: Options, say: Say, show_code: Callable[[str], None]) -> None:
    """Serve until a signal, or print a code for a running server."""
    _check(options)
    state = web_state()
    if options.code:
        found = state.serving()
        if found is None:
            raise NotAllowed("`nobrakes web` is not running", "Start it: `nobrakes web`.")
        _hand_out(state, found, options, say, show_code)
        return
    if not state.begin():
        found = state.serving()
        if found is None:
            raise NotAllowed("another `nobrakes web` is starting", "Try again in a moment.")
        say(f"`nobrakes web` is already running (process {found.pid})")
        _hand_out(state, found, options, say, show_code)
        return
    try:
        _serve(state, options, say, show_code)
    finally:
        state.end()


def _check(options: Options) -> None:
    if bool(options.cert) != bool(options.key):
        raise UsageError("a TLS certificate and its key must be given together", "Give --tls-cert and --tls-key.")
    for path in filter(None, (options.cert, options.key)):
        if not os.path.isfile(path):
            raise UsageError(f"there is no file {path}")
    if options.host and not options.lan and not _is_loopback(options.host):
        raise UsageError(f"{options.host} can be reached from other machines", "Add --lan to allow other machines.")


def _is_loopback(host: str) -> bool:
    return host in (LOOPBACK, "localhost") or host.endswith(".localhost")


def _hand_out(state: WebState, found: Serving, options: Options, say: Say, show_code: Callable[[str], None]) -> None:
    code, then = state.new_code(), options.path()
    link = f"{found.address}/login?next={then}#code={code}"
    say(f"open  {link}")
    say(f"code  {code}   (works once, for two minutes; `nobrakes web --code` prints another one)")
    for other in found.others:
        say(f"also  {other}/login#code={code}")
    if options.code or options.lan:
        show_code(f"{found.others[-1] if options.lan and found.others else found.address}/login#code={code}")
    if options.opens:
        own = f"{found.address}/login?next={then}#code={state.new_code(confirms=False)}"
        if not open_page(state.opening_page(own)):
            say("no browser could be opened: open the link above")


def bound(host: str, port: int | None) -> tuple[socket.socket, bool]:
    """A listening socket, and whether on the wanted port. Raises UsageError."""
    from .. import serving

    hint = "Choose another port: nobrakes web --port 7200"
    try:
        return serving.bound(host, PORT if port is None else port, hint), True
    except UsageError:
        if port is not None:
            raise
        return serving.bound(host, 0, hint), False


def lan_address() -> str:
    """This machine's network address; sends no packet. Raises UsageError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found = str(probe.getsockname()[0])
        except OSError:
            found = LOOPBACK
    if found.startswith("127.") or found == "0.0.0.0":
        raise UsageError("this machine has no network address", "Name an address: nobrakes web --lan --host ADDRESS")
    return found


def _terminated(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one would cut off what this one begins
    raise SystemExit(128 + number)  # what is to be removed at the end is removed


def _serve(state: WebState, options: Options, say: Say, show_code: Callable[[str], None]) -> None:
    signal.signal(signal.SIGTERM, _terminated)
    first, is_meant = bound(LOOPBACK, options.port)
    sockets, token = [first], ""
    port = int(first.getsockname()[1])
    try:
        if not is_meant:
            say(f"port {PORT} is in use; using port {port}")
        outside = ""
        if options.lan:
            outside = options.host if options.host and not _is_loopback(options.host) else lan_address()
            sockets.append(bound(outside, port)[0])
            _warn(options, outside, say)
        token = _token(options.token_file) if options.token_file else ""
        site, serving = site_of(state, options, port, outside, token)
        state.tell(serving)
        _hand_out(state, serving, options, say, show_code)
        _run(site, options, sockets)
    finally:
        for one in sockets:
            one.close()
        if token:
            with suppress(OSError):
                os.unlink(options.token_file)


def _warn(options: Options, outside: str, say: Say) -> None:
    say(f"everyone in your network can reach the login page at {outside}")
    if not options.cert:
        say("without TLS the network can read your session: use Tailscale, `ssh -L`, or --tls-cert and --tls-key")


def site_of(state: WebState, options: Options, port: int, outside: str, token: str) -> "tuple[Site, Serving]":
    """The server's data, and what others see of it. `token`: for scripts, if any."""
    own = options.host if options.host and _is_loopback(options.host) else f"{state.name()}.localhost"
    hosts = [own, "nobrakes.localhost", "localhost", LOOPBACK, *([outside] if outside else [])]
    shown = [f"[{host}]" if ":" in host else host for host in hosts]
    names = frozenset(f"{host}:{port}".lower() for host in shown)
    site = Site(state, port, names, is_secure=bool(options.cert), token=hashed(token), editor=options.editor)
    others = (f"{site.scheme}://{LOOPBACK}:{port}", *([f"{site.scheme}://{shown[-1]}:{port}"] if outside else []))
    return site, Serving(os.getpid(), f"{site.scheme}://{shown[0]}:{port}", others)


def _token(path: str) -> str:
    """A scripts' token in a private file. Only a killed server's is replaced."""
    if _is_left(path):
        os.unlink(path)
    made = secrets.token_urlsafe(32)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} already exists", "Name a file that does not exist yet.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(made + "\n")
    return made


def _is_left(path: str) -> bool:
    """Whether a killed server left its token there: we are the only server now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with open(descriptor, "rb") as file:
        there = os.fstat(descriptor)
        is_own = stat.S_ISREG(there.st_mode) and there.st_uid == os.geteuid() and there.st_mode & 0o777 == 0o600
        return is_own and _LEFT.fullmatch(file.read(100)) is not None


def _run(site: "Site", options: Options, sockets: list[socket.socket]) -> None:
    from .. import serving

    access.begin(options.log_dir or os.path.join(site.state.folder, "log"), options.level)
    config = uvicorn.Config(application(site), **settings(options))
    asyncio.run(serving.Server(config).serve(sockets=sockets))


def settings(options: Options) -> dict[str, Any]:
    """uvicorn's settings."""
    from .. import serving

    class Connection(serving.Connection):
        bare_headers = HEADERS

    made: dict[str, Any] = {
        **serving.settings(),
        "http": Connection,
        "ws": serving.Socket,
        "ws_max_size": 64 * 1024,
        "ws_ping_interval": 25.0,
        "ws_ping_timeout": 30.0,
    }
    if options.cert:
        made |= {"ssl_certfile": options.cert, "ssl_keyfile": options.key}
    return made


def as_set(options: Options) -> Options:
    """Unset options come from NOBRAKES_PORT, _HOST, _LOG_DIR and _DEBUG, or `[web]` in the person's own settings.
    Raises UsageError, ConfigError."""
    found, said = own_settings().web, os.environ.get
    debug = said("NOBRAKES_DEBUG", "")
    return replace(
        options,
        port=options.port or _port(said("NOBRAKES_PORT", "")) or found.port,
        host=options.host or said("NOBRAKES_HOST", "") or found.host,
        log_dir=options.log_dir or said("NOBRAKES_LOG_DIR", "") or os.path.expanduser(found.log_dir),
        level=("INFO" if debug == "0" else "DEBUG") if debug else found.log_level,
        editor=found.editor,
    )


def _port(word: str) -> int | None:
    if word and not (word.isascii() and word.isdigit() and len(word) < 6 and 0 < int(word) < 65536):
        raise UsageError(f"NOBRAKES_PORT: '{word[:20]}' is not a port", "A port is a number from 1 to 65535.")
    return int(word) if word else None
