"""Board: where every bead is, in six columns by who has to act. The filter stands in the address."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.views import columns
from ..opening import opened
from ..rendering import render

MOST_WORDS = 200


def board(request: Request) -> Response:
    """The page."""
    wanted = request.query_params.get("q", "")[:MOST_WORDS].strip()
    with opened(request) as app:
        view = columns.columns(app.store, wanted)
        topics = ("found" if wanted else "board",)
        return render(request, "board.html", view=view, names=tuple(columns.HEADINGS), topics=topics)


ROUTES = (Route("/r/{repo}/board", board, methods=["GET"]),)
