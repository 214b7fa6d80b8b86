"""The first page: all repositories of the person, with their state, their age and what waits in each."""

import time
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.machine_wide import registry
from ..opening import words
from ..rendering import render


@dataclass(frozen=True, slots=True)
class Line:
    """A repository as the list shows it; `word` is empty where it is gone."""

    word: str
    name: str
    path: str
    state: str
    escalations: int | None
    seen_at: float


def repositories(request: Request) -> Response:
    """What waits for the person first."""
    found = registry.repositories()
    named = words([one.path for one in found])
    lines = [
        Line(
            named[one.path] if one.state != registry.GONE else "",
            one.name, one.path, one.state, one.escalations, one.seen_at,
        )
        for one in found
    ]  # fmt: skip
    lines.sort(key=lambda one: (-(one.escalations or 0), one.state != registry.AT_WORK, -one.seen_at))
    return render(request, "repositories.html", view=lines, now=time.time())


ROUTES = (Route("/", repositories, methods=["GET"]),)
