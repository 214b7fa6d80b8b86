"""Every address of the site, and what answers it. The one list that the guard's test walks."""

import inspect

from starlette.routing import BaseRoute, Route, WebSocketRoute

from . import api, commanding, login, openapi
from . import live as sockets
from .pages import (
    bead,
    board,
    breaker,
    desk,
    features,
    graph,
    health,
    live,
    merges,
    now,
    plan,
    projects,
    repositories,
    requests,
    sessions,
)
from .patience import in_time
from .static import static

PAGES = (
    repositories, projects, now, board, bead, desk, graph, live, plan, features, merges, requests, breaker, health,
    sessions,
)  # fmt: skip
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
    own += [*api.ROUTES, *openapi.ROUTES]
    return [_patient(route) for route in (*own, *(route for page in PAGES for route in page.ROUTES))]


def _patient(route: BaseRoute) -> BaseRoute:
    """The route; what only looks is made in time, or left."""
    if not isinstance(route, Route) or inspect.iscoroutinefunction(route.endpoint) or "POST" in (route.methods or ()):
        return route
    return Route(route.path, in_time(route.endpoint), methods=["GET"])
