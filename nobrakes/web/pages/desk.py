"""Desk: what waits for a decision, costliest first; one escalation with its choices as forms and what it rests on."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.beads import forms
from ...operations.decisions import page
from ..opening import opened
from ..rendering import render


def desk(request: Request) -> Response:
    """The list, with the first of it open beside it where there is room."""
    is_all = request.query_params.get("all") == "1"
    with opened(request) as app:
        found = page.listed(app.store, is_all)
        return render(
            request,
            "desk.html",
            listed=found,
            view=None,
            form=None,
            is_all=is_all,
            now=app.store.now(),
            topics=("desk",),
        )


def one(request: Request) -> Response:
    """One escalation. Its page is made with one read of git at most."""
    number = request.path_params["number"]
    is_whole = request.query_params.get("whole") == "1"
    with opened(request) as app:
        view = page.decision(app.store, app.paths, lambda: app.git, lambda: app.config, number, is_whole)
        form = None if view.form is None else forms.form(view.form)
        return render(
            request,
            "desk.html",
            listed=page.listed(app.store),
            view=view,
            form=form,
            is_all=False,
            now=app.store.now(),
            topics=("desk",),
        )


ROUTES = (
    Route("/r/{repo}/desk", desk, methods=["GET"]),
    Route("/r/{repo}/desk/{number:int}", one, methods=["GET"]),
)
