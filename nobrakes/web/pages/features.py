"""Features: the list of them, and one with its plan, its questions, its talk and what is collected.

A feature's forms are the commands of the CLI (`nobrakes forge …`); everything that agents wrote is text.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...operations.forging import features as operations
from ...operations.forging import rollback, views
from ...operations.forging.plan_looks import At
from ..commanding import takes_code
from ..opening import opened
from ..rendering import render

WAYS = ("tree", "kanban", "timeline")
MOST_WORDS = 200


def features(request: Request) -> Response:
    """The list: `q` words, `state`, `sort` and `archived` stand in the address."""
    asked = request.query_params
    state, sort = asked.get("state", "all"), asked.get("sort", "activity")
    state, sort = state if state in views.STATES else "all", sort if sort in views.SORTS else "activity"
    with opened(request) as app:
        words = asked.get("q", "")[:MOST_WORDS].strip()
        view = views.listed(app.store, state, words, sort, asked.get("archived") == "1")
        usual = operations.usual_of(app.config, app.paths)
        return render(
            request,
            "features.html",
            view=view,
            usual=usual,
            archived=asked.get("archived") == "1",
            states=views.STATES,
            sorts=views.SORTS,
            topics=("beads",),
        )


def feature(request: Request) -> Response:
    """One of them; `as` says how its plan is shown."""
    way = request.query_params.get("as", "tree")
    with opened(request) as app:
        view = views.view(app.store, request.path_params["feature"])
        return render(
            request,
            "feature.html",
            view=view,
            way=way if way in WAYS else "tree",
            ways=WAYS,
            columns=tuple(at.value for at in At),
            rollback=rollback.counted(app.store, view.feature),
            takes_code=takes_code(app),
            topics=("beads", "sessions", "desk", "plan"),
        )


ROUTES = (
    Route("/r/{repo}/features", features, methods=["GET"]),
    Route("/r/{repo}/features/{feature}", feature, methods=["GET"]),
)
