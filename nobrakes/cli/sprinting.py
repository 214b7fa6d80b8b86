"""Sprints of a project from the command line: `nobrakes project run`."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Option, confirm

from ..core.errors import NotAllowed
from ..wording.text import count, cut, lines, one_line
from .output import Output, plain, said
from .projects import Name
from .repository import actor

if TYPE_CHECKING:
    from ..operations.projects.running import Offer


def run(
    name: Name,
    sprints: Annotated[int, Option("--sprints", "-n", help="How many sprints the yes is for.")] = 1,
    tests: Annotated[
        bool, Option("--tests/--no-tests", help="Whether a Test Writer writes each sprint's tests first.")
    ] = True,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask: what would be shown is what you want.")] = False,
    later: Annotated[bool, Option("--later", help="Start no daemon: the next one goes on with it.")] = False,
) -> Output:
    """Say yes to some sprints of a project: each is planned, built, reviewed and written down, then the next.

    What the yes is for is shown before: the brief, the checks, the caps. When one of them changes, you are asked again.
    It ends when every success criterion is met and `nobrakes project whats-next` is silent, or after these sprints.

    Example: nobrakes project run my-app --sprints 3
    """
    from ..app import hindrances, open_app
    from ..operations import daemons
    from ..operations.projects import projects, running, workspace

    found = projects.one(workspace.opened(), name.strip())
    if not found.is_repository:
        raise NotAllowed(f"{found.path} is no git repository", "`git init` there, and a first commit.")
    with open_app(found.path) as app:
        offer = running.offer(app.store, app.git, app.config, sprints, tests)
        shown = "\n".join(_offered(found.name, offer))
        if not yes:
            if not (sys.stdin.isatty() and sys.stdout.isatty()):
                again = f"If you mean it: `nobrakes project run {found.name} --sprints {sprints} --yes`."
                raise NotAllowed(f"{shown}\nNobody said yes to this, and nothing was begun", again)
            print(shown)
            if not confirm(f"Yes to {count(sprints, 'sprint')}?"):
                return said({"run": None}, "nothing was begun")
        pid = daemons.running(app.paths)
        if pid is None and not later:
            hindrances(app).require(app.store.now())
        made = running.accept(app.store, app.paths, offer, actor())
        if pid is None and not later:
            pid = daemons.start(app.paths)
    works = f"a daemon works at it (process {pid})" if pid else "no daemon works there: the next one goes on with it"
    text = f"{count(sprints, 'sprint')} of {found.name}: {works}\n`nobrakes project status` says how far it is"
    return said({"run": plain(made), "offer": plain(offer), "daemon": pid}, text if not yes else f"{shown}\n{text}")


def _offered(name: str, offer: "Offer") -> list[str]:
    out = [f"{one_line(name)}: {count(offer.sprints, 'sprint')}"]
    out += [f"objective {line}" if not i else f"          {line}" for i, line in enumerate(lines(offer.objective))]
    out += [f"  [{'x' if box.is_checked else ' '}] {cut(one_line(box.text), 100)}" for box in offer.criteria]
    out += [f"check     {cut(one_line(one), 110)}" for one in offer.checks]
    out += [f"cap       {one_line(one)}" for one in offer.caps]
    out += [f"agents    {one_line(one)}" for one in offer.agents]
    out.append(f"tests     {'first, by a Test Writer' if offer.needs_tests else 'by whoever does the work'}")
    out += [f"before    {cut(one_line(offer.replaces), 200)}"] if offer.replaces else []
    return out
