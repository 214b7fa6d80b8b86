"""Every address of the site, and what answers it. The one list that the guard's test walks."""

from starlette.routing import BaseRoute, Route, WebSocketRoute

from . import commanding, login
from . import live as sockets
from .pages import bead, board, breaker, desk, graph, health, live, merges, now, plan, repositories, sessions
from .static import static

PAGES = (repositories, now, board, bead, desk, graph, live, plan, merges, breaker, health, sessions)
"""The modules of pages; each has its ROUTES."""


def routes() -> list[BaseRoute]:
    """In the order in which they are tried."""
    own: list[BaseRoute] = [
        Route("/login", login.login, methods=["GET"]),
        Route("/login", login.exchange, methods=["POST"]),
        Route("/logout", login.logout, methods=["POST"]),
        Route("/static/{version}/{name}", static, methods=["GET"]),
        Route("/r/{repo}/do/{command}", commanding.do, methods=["POST"]),
        WebSocketRoute("/r/{repo}/socket", sockets.live),
    ]
    return [*own, *(route for page in PAGES for route in page.ROUTES)]
