"""Now: does anything need me, is anything broken, what runs, what was merged, when is it done."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.views import now as views
from ..opening import opened
from ..rendering import render


def now(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        config = app.config
        view = views.now(app.store, app.paths, config, app.misconfigured)
        return render(request, "now.html", view=view, topics=("now",))


ROUTES = (Route("/r/{repo}/", now, methods=["GET"]),)
