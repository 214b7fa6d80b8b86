"""Pull requests: those that wait for people, each with its checks and remarks, and the latest that are over."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations import pulls
from ..opening import opened
from ..rendering import render

MOST = 100


def requests(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        waiting = pulls.listed(app.store)
        ids = {one.bead for one in waiting}
        over = [one for one in pulls.listed(app.store, everything=True) if one.bead not in ids]
        return render(
            request,
            "requests.html",
            waiting=waiting,
            over=over[: -MOST - 1 : -1],
            lands=app.config.review.by_request,
            now=app.store.now(),
            topics=("requests",),
        )


ROUTES = (Route("/r/{repo}/requests", requests, methods=["GET"]),)
