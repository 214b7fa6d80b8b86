"""Merges: the Reviewer's queue, and what landed or was sent back."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations import control
from ...operations.views import merges as views
from ..commanding import takes_code
from ..opening import opened
from ..rendering import render


def merges(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        view = views.merges(app.store, app.store.setting(control.FROZEN))
        return render(request, "merges.html", view=view, takes_code=takes_code(app), topics=("merges",))


ROUTES = (Route("/r/{repo}/merges", merges, methods=["GET"]),)
