"""Plan: the drafts and proposed changes that wait for a yes, as a tree, columns or a timeline, and the yes itself."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.views import plan_page
from ..opening import opened
from ..rendering import render

WAYS = ("tree", "kanban", "timeline")


def plan(request: Request) -> Response:
    """The page; `as` in the address says which way."""
    way = request.query_params.get("as", "tree")
    with opened(request) as app:
        view = plan_page.plan_page(app.store)
        return render(request, "plan.html", view=view, way=way if way in WAYS else "tree", ways=WAYS, topics=("plan",))


ROUTES = (Route("/r/{repo}/plan", plan, methods=["GET"]),)
