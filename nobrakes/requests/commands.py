"""Commands on pull requests, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated

from ..command_table import Field
from ..daemon.service.control import running
from ..text.cleaning import count, one_line
from . import service

if TYPE_CHECKING:
    from ..app import App

Id = Annotated[str, Field("The bead's id.", metavar="BEAD")]


def view(app: "App", by: str, bead: Id) -> tuple[dict[str, str], str]:
    """Allow nobrakes to push a bead's work and to open its pull request, if that waits for you. Else it tells the
    address of the request."""
    app.store.bead(bead)
    if service.may_open(app.store, app.config, app.paths, bead, by):
        return {"bead": bead, "url": ""}, f"{bead} is pushed, and its pull request opened, {_when(app)}"
    address = service.address(app.store, bead)
    return {"bead": bead, "url": address}, one_line(address)


def sync(app: "App", by: str) -> tuple[dict[str, int], str]:
    """Check all open pull requests now."""
    found = service.sync(app.store, app.config, app.paths)
    return {"waiting": found}, f"{count(found, 'pull request')} will be checked {_when(app)}"


def _when(app: "App") -> str:
    return "now" if running(app.paths) is not None else "by the next `nobrakes run`"
