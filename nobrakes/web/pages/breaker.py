"""Breaker box: pause, stop, limits, providers, caps, the daemon."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.views import breaker as views
from ..commanding import takes_code
from ..opening import opened
from ..rendering import render


def breaker(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        view = views.breaker(app.store, app.paths, app.config, app.misconfigured)
        return render(request, "breaker.html", view=view, takes_code=takes_code(app), topics=("breaker",))


ROUTES = (Route("/r/{repo}/breaker", breaker, methods=["GET"]),)
