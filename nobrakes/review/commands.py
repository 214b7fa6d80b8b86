"""Commands on previews and pull requests, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated, Any

from ..beads.service.bead_commands import known
from ..command_table import Field
from ..daemon.service.control import running
from ..requests import service as requests
from ..text.cleaning import count, one_line
from .service import previews
from .service.previews import Preview
from .worker import preview_start

if TYPE_CHECKING:
    from ..app import App

Id = Annotated[str, Field("The bead's id.", metavar="BEAD")]
Wait = Annotated[float, Field("Seconds to wait for its first answer.", ("--wait",), least=0)]


def start(app: "App", by: str, bead: Id, wait: Wait = preview_start.START_SECONDS) -> tuple[Preview, str]:
    """Start the project's server (preview.command) in the bead's workspace, confined as checks are, on a port of its
    own. It runs until you stop it, or its workspace is removed."""
    from ..app import ports_of

    known(app.store, bead)
    found = preview_start.start(ports_of(app, app.notifier), bead, by, wait)
    then = f"  nobrakes preview show {bead}   # its output\n  nobrakes preview stop {bead}"
    does = "runs" if found.state == "running" else "is starting, and will answer"
    return found, f"{bead} {does} at {found.url}\n{then}"


def stop(app: "App", by: str, bead: Id) -> tuple[dict[str, Any], str]:
    """End the bead's preview, with all of its processes."""
    known(app.store, bead)
    ran = previews.stop(app.processes, app.store, app.paths, bead, by)
    return {"bead": bead, "stopped": ran}, f"the preview of {bead} {'is stopped' if ran else 'did not run'}"


def view(app: "App", by: str, bead: Id) -> tuple[dict[str, str], str]:
    """Allow nobrakes to push a bead's work and to open its pull request, if that waits for you. Else it tells the
    address of the request."""
    app.store.bead(bead)
    if requests.may_open(app.store, app.config, app.paths, bead, by):
        return {"bead": bead, "url": ""}, f"{bead} is pushed, and its pull request opened, {_when(app)}"
    address = requests.address(app.store, bead)
    return {"bead": bead, "url": address}, one_line(address)


def sync(app: "App", by: str) -> tuple[dict[str, int], str]:
    """Check all open pull requests now."""
    found = requests.sync(app.store, app.config, app.paths)
    return {"waiting": found}, f"{count(found, 'pull request')} will be checked {_when(app)}"


def _when(app: "App") -> str:
    return "now" if running(app.paths) is not None else "by the next `nobrakes run`"
