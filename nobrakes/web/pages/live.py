"""Live: up to twenty agents at once, filtered or raw; one attempt with all its lines. Read only, but for stop."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.views import live as views
from ..opening import opened
from ..rendering import render


def live(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        found = views.live(app.store, app.paths, app.config)
        topics = ("live", *(f"s:{one.worker.attempt}" for one in found))
        return render(request, "live.html", view=found, topics=topics)


def attempt(request: Request) -> Response:
    """One attempt, a page of its lines."""
    before = request.query_params.get("before", "")
    with opened(request) as app:
        number = request.path_params["attempt"]
        at = int(before) if before.isascii() and before.isdigit() and len(before) < 9 else None
        view = views.attempt_page(app.store, app.paths, app.config, number, at)
        topics = (f"s:{number}",) if view.watched is not None and at is None else ()
        return render(request, "attempt.html", view=view, now=app.store.now(), topics=topics)


ROUTES = (
    Route("/r/{repo}/live", live, methods=["GET"]),
    Route("/r/{repo}/live/{attempt:int}", attempt, methods=["GET"]),
)
