"""Graph: focus, epics or all in lanes, drawn on a canvas; the same as a list; and what a change would do.

Places come from the server (`graph` and `what-if` of nobrakes.web.api); the script draws them. Without scripts the
list is the page.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.views.graph.looks import MOST
from ...operations.views.graph.view import MODES
from ...wording import graph as words
from ..api import graph_of
from ..opening import opened
from ..rendering import render

MOST_WORDS = 200


def graph(request: Request) -> Response:
    """The page with its list."""
    asked = request.query_params
    values = {name: asked.get(name, "")[:MOST_WORDS] for name in ("mode", "epic", "q")}
    with opened(request) as app:
        view = graph_of(app, {**values, "open": asked.get("open") == "1"})
        return render(
            request,
            "graph.html",
            view=view,
            modes=MODES,
            chosen=asked.get("bead", "")[:MOST_WORDS],
            asked=str(request.url.query),
            too_many=words.too_many(view.too_many, MOST) if view.too_many else "",
            circles=[(words.circle(one.members, one.cut, one.stuck), one.cut) for one in view.cycles],
            topics=("graph",),
        )


ROUTES = (Route("/r/{repo}/graph", graph, methods=["GET"]),)
