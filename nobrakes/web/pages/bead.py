"""Bead: the whole life of one on one page, with what can be done to it; and what its work changes."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import NobrakesError
from ...operations.views import bead_page, diff
from ..opening import opened
from ..patches import read
from ..rendering import render


def bead(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        id = request.path_params["id"]
        view = bead_page.bead_page(app.store, app.git, id)
        return render(
            request,
            "bead.html",
            view=view,
            spent=bead_page.spent(view),
            wrong="",
            topics=(f"b:{view.history.bead.id}",),
        )


def changes(request: Request) -> Response:
    """What its branch or its merge changes: `?sides=2` beside each other."""
    with opened(request) as app:
        id = request.path_params["id"]
        found = app.store.bead(id)
        is_split = request.query_params.get("sides") == "2"
        try:
            view = diff.diff(app.store, app.git, id)
        except NobrakesError as error:
            return render(request, "difference.html", bead=found, view=None, error=error, is_split=is_split)
        return render(
            request, "difference.html", bead=found, view=view, patch=read(view.patch), is_split=is_split, error=None
        )


ROUTES = (
    Route("/r/{repo}/bead/{id}", bead, methods=["GET"]),
    Route("/r/{repo}/bead/{id}/diff", changes, methods=["GET"]),
)
