"""`nobrakes project continue`: what is unfinished goes on, after the machine was started again."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Argument

from ..core.public.values import plain
from ..wording.text import one_line
from .output import Output
from .screen import Screen, table

if TYPE_CHECKING:
    from ..operations.projects.projects import ProjectView


class Went(NamedTuple):
    """One project: whether its daemon works now, and why not, or what it goes on with."""

    project: str
    daemon: int | None
    text: str


def go_on(
    name: Annotated[str, Argument(metavar="[NAME]", help="One project alone, also where you stopped its daemon.")] = "",
) -> Output:
    """Let every unfinished project go on: those whose sprints you said yes to, and those that begin sprints at a time.

    Its daemon is started where none works; it takes up what was cut off, and the documents follow. One that you stopped
    or paused stays so, unless you name it. For the start of a session or of the machine; `nobrakes daemon install` in a
    project does the same for its daemon.
    """
    from ..operations.projects import projects, workspace

    opened = workspace.opened()
    names = [projects.existing(opened, name)] if name else projects.active(opened)
    found = [projects.one(opened, one) for one in names]
    went = [_one(one, bool(name)) for one in found if one.is_repository]

    def text(screen: Screen) -> str:
        rows = [(one.project, "works" if one.daemon else "rests", one_line(one.text)) for one in went]
        return table(("PROJECT", "DAEMON", "WHY"), rows, screen) or "no project"

    return Output(plain([one._asdict() for one in went]), text)


def _one(found: "ProjectView", is_named: bool) -> Went:
    from ..app import hindrances, open_app
    from ..core.errors import NobrakesError
    from ..operations import control, daemons
    from ..operations.projects import running

    try:
        with open_app(found.path) as app:
            why = running.unfinished(app.store)
            pid = daemons.running(app.paths)
            if pid is not None or not why:
                return Went(found.name, pid, why or "nothing of it is unfinished")
            if not is_named and not daemons.is_wanted(app.store):
                hint = f"you stopped its daemon, or never started one: `nobrakes project continue {found.name}`"
                return Went(found.name, None, f"{why}; {hint}")
            if app.store.setting(control.PAUSED) is not None:
                return Went(found.name, None, f"{why}; it is paused: `nobrakes resume` in {found.path}")
            hindrances(app).require(app.store.now())
            return Went(found.name, daemons.start(app.paths, app.store), why)
    except NobrakesError as error:  # the others go on
        return Went(found.name, None, f"{error} {error.hint}".strip())
