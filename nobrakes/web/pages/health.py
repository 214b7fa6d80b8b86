"""Health and Set-up: what is well, what is not with what mends it, and the steps of a new repository.

1. To look at the page starts no program. The doctor's whole look is asked for by a button, and shown with its age.
2. Nothing that a shell runs is edited from here: what to type is printed.
"""

from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...core.errors import NobrakesError
from ...operations.doctor.examine import examine, opened_store
from ...operations.views import health as views
from ..login import site_of
from ..opening import opened, repository
from ..rendering import render

Opened = TypeVar("Opened")


def health(request: Request) -> Response:
    """The page."""
    with opened(request) as app:
        view = views.health(app.store, app.paths, app.config, site_of(request).looks.last(app.paths.root))
        return render(request, "health.html", view=view, topics=("health",))


def set_up(request: Request) -> Response:
    """The checklist."""
    with opened(request) as app:
        config = app.config
        steps = views.set_up(app.store, app.paths, config, app.misconfigured)
        return render(request, "set_up.html", steps=steps, config=config, topics=("set-up",))


def _or_none(make: Callable[[], Opened]) -> Opened | None:
    """What could be opened; None is a finding of the doctor's."""
    try:
        return make()
    except NobrakesError:
        return None


async def look(request: Request) -> Response:
    """Look at everything, then show what was found."""
    word, looks = request.path_params["repo"], site_of(request).looks

    def run() -> None:
        with repository(word) as app:
            store, git = opened_store(app.paths, lambda: app.store), _or_none(lambda: app.git)
            config = app.config
            looks.look(
                app.paths.root,
                lambda: examine(
                    store,
                    None if isinstance(git, NobrakesError) else git,
                    app.paths,
                    config,
                    app.sandbox_trouble,
                    app.wall_trouble,
                    app.misconfigured,
                ),
            )

    await run_in_threadpool(run)
    return RedirectResponse(f"/r/{word}/health", 303)


ROUTES = (
    Route("/r/{repo}/health", health, methods=["GET"]),
    Route("/r/{repo}/health/look", look, methods=["POST"]),
    Route("/r/{repo}/set-up", set_up, methods=["GET"]),
)
