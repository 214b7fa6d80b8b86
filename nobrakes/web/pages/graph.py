"""Graph: focus, epics or all in lanes, drawn on a canvas; the same as a list; and what a change would do.

1. Places come from the server; the script draws them and asks what-if. Without scripts the list is the page.
2. The picture's data has an ETag of structure and columns: what did not change is not sent again.
"""

import hashlib
import json
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...core.errors import UsageError
from ...core.public.values import plain
from ...operations.views.graph.looks import MOST, graph_view
from ...operations.views.graph.view import MODES, GraphView
from ...operations.views.graph.what_if import what_if
from ...wording import graph as words
from ..opening import opened
from ..rendering import render

if TYPE_CHECKING:
    from ...app import App

MOST_WORDS = 200


def _looked(request: Request, app: "App") -> GraphView:
    asked = request.query_params
    return graph_view(
        app.store,
        asked.get("mode", "focus"),
        epic=asked.get("epic", "")[:MOST_WORDS],
        match=asked.get("q", "")[:MOST_WORDS],
        is_live_only=asked.get("open") == "1",
    )


def graph(request: Request) -> Response:
    """The page with its list."""
    with opened(request) as app:
        view = _looked(request, app)
        chosen = request.query_params.get("bead", "")[:MOST_WORDS]
        return render(
            request,
            "graph.html",
            view=view,
            modes=MODES,
            chosen=chosen,
            asked=str(request.url.query),
            too_many=words.too_many(view.too_many, MOST) if view.too_many else "",
            circles=[(words.circle(one.members, one.cut, one.stuck), one.cut) for one in view.cycles],
            topics=("graph",),
        )


def data(request: Request) -> Response:
    """The picture: boxes, edges, lanes."""
    with opened(request) as app:
        view = _looked(request, app)
    found = plain(view)
    found["structure"] = view.structure
    body = json.dumps(found, separators=(",", ":")).encode()
    mark = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def change(request: Request) -> Response:
    """What an end, an answer or a delay of one bead would change, in words and ids."""
    asked = request.query_params
    hours = asked.get("hours", "0")
    if not (hours.isascii() and len(hours) < 9 and hours.replace(".", "", 1).isdigit()):
        raise UsageError(f"hours: '{hours[:40]}' is no number")
    with opened(request) as app:
        found = what_if(app.store, request.path_params["id"], asked.get("change") or None, float(hours))
    lines = words.answered(found.change, found.then, found.titles, found.column not in ("done", "cancelled"))
    return JSONResponse(
        {
            "asked": words.asked(found.bead, found.title, found.change, found.hours),
            "lines": lines,
            "needs": list(found.then.needs),
            "frees": list(found.then.frees),
        }
    )


ROUTES = (
    Route("/r/{repo}/graph", graph, methods=["GET"]),
    Route("/r/{repo}/api/graph", data, methods=["GET"]),
    Route("/r/{repo}/api/what-if/{id}", change, methods=["GET"]),
)
