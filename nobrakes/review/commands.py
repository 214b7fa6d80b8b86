"""Commands on previews, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated, Any

from ..beads.service.bead_commands import known
from ..command_table import Field
from .service import previews
from .service.previews import Preview
from .worker import preview_start

if TYPE_CHECKING:
    from ..app import App

Id = Annotated[str, Field("The bead's id.", metavar="BEAD")]
Wait = Annotated[float, Field("Seconds to wait for its first answer.", ("--wait",), least=0)]


def start(app: "App", by: str, bead: Id, wait: Wait = preview_start.START_SECONDS) -> tuple[Preview, str]:
    """Start the project's server (preview.command) in the bead's workspace, in the sandbox, on a port of its own. It
    runs until you stop it, or its workspace is removed."""
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
