"""The site as an ASGI application: guard, then routes, then what answers.

1. What makes a page has a limited time and is then left: the page says so instead of hanging (nobrakes.web.patience).
2. A NobrakesError is a page with its message and its hint; anything else a bug, whose text goes to the log alone.
"""

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ..core import errors
from .guard import Guard
from .opening import NoSuchRepository
from .patience import Threads
from .rendering import error_page
from .routes import routes
from .site import LOG, Site

if TYPE_CHECKING:
    from .guard import App

_STATUS: tuple[tuple[type[errors.NobrakesError], int], ...] = (
    (NoSuchRepository, 404),
    (errors.NoSuchBead, 404),
    (errors.NoSuchEscalation, 404),
    (errors.NoSuchSession, 404),
    (errors.NoSuchFeature, 404),
    (errors.NotAllowed, 409),
    (errors.Stale, 409),
    (errors.Deadlock, 409),
    (errors.DaemonRunning, 409),
    (errors.DaemonNotRunning, 409),
    (errors.NothingToUndo, 409),
    (errors.NotProven, 409),
    (errors.UsageError, 422),
    (errors.BadBead, 422),
    (errors.PlanError, 422),
    (errors.ConfigError, 422),
    (errors.StoreBusy, 503),
    (errors.NoAnswer, 503),
    (errors.MachineShort, 503),
)
"""What a browser is told by number; the rest is 500."""


def status_of(error: errors.NobrakesError) -> int:
    """The number of an error."""
    return next((number for kind, number in _STATUS if isinstance(error, kind)), 500)


def failure(request: Request, status: int, message: str, hint: str = "", code: int | None = None) -> Response:
    """What went wrong, as JSON for programs and as a page for people."""
    if "/api/" in request.url.path or "application/json" in request.headers.get("accept", ""):
        error = {"code": status if code is None else code, "message": message, "hint": hint}
        return JSONResponse({"ok": False, "error": error}, status)
    return HTMLResponse(error_page(status, message, hint), status)


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.NobrakesError)
    return failure(request, status_of(error), str(error), error.hint, error.code)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "There is no such page.", 405: "This address is not asked in that way."}
    return failure(request, error.status_code, said.get(error.status_code, str(error.detail)))


async def _late(request: Request, error: Exception) -> Response:
    hint = "A disk that hangs or a database that another program keeps locked is the usual cause. Try again."
    return failure(request, 503, "The repository does not answer in time.", hint)


async def _half(request: Request, error: Exception) -> Response:
    return failure(request, 408, "Not all of the body came.", "It was cut off, longer than it said, or too slow.")


async def _number(request: Request, error: Exception) -> Response:
    LOG.info("too large a number at %s", request.url.path[:200])
    return failure(request, 404, "Nothing has a number as large as that.")


async def _bug(request: Request, error: Exception) -> Response:
    LOG.error("bug at %s %s", request.method, request.url.path, exc_info=error)
    return failure(
        request, 500, "nobrakes itself failed.", "This is a bug; the log of `nobrakes web` has the whole of it."
    )


def application(site: Site) -> "App":
    """The whole site."""
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
