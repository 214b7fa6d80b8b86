"""The workspace: its projects, and which of them each chat agent's session works on."""

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.projects import confirming, looking
from ..opening import words
from ..rendering import render


def projects(request: Request) -> Response:
    """Every project with its status, then the sessions of chat agents, the one that spoke last first."""
    found = looking.pages()
    named = words([one.project.path for one in found])
    return render(
        request, "projects.html", view=found, named=named, chats=confirming.chats(), events=confirming.chat_events(),
        now=time.time(),
    )  # fmt: skip


ROUTES = (Route("/projects", projects, methods=["GET"]),)
