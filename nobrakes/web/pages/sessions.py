"""Sessions: every conversation with an agent that there was, and one of them with all that was said in it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations import conversations
from ...operations.views import agent_sessions
from ..opening import opened
from ..rendering import render

MOST_WORDS = 200


def sessions(request: Request) -> Response:
    """The list: `q` words, `state`, `sort` and `page` stand in the address."""
    asked = request.query_params
    page = asked.get("page", "1")
    number = int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 6 else 1
    words = asked.get("q", "")[:MOST_WORDS].strip()
    with opened(request) as app:
        view = agent_sessions.agent_sessions(
            app.store, words, asked.get("state", "all"), asked.get("sort", "newest"), max(1, number)
        )
        return render(
            request,
            "sessions.html",
            view=view,
            states=agent_sessions.STATES,
            sorts=agent_sessions.SORTS,
            topics=("sessions",),
        )


def session(request: Request) -> Response:
    """One conversation."""
    with opened(request) as app:
        view = conversations.view(app.store, request.path_params["number"])
        return render(request, "session.html", view=view, now=app.store.now(), topics=("sessions",))


ROUTES = (
    Route("/r/{repo}/sessions", sessions, methods=["GET"]),
    Route("/r/{repo}/sessions/{number:int}", session, methods=["GET"]),
)
