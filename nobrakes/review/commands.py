"""Commands on previews and pull requests, for the command line and for pages alike."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from ..beads.service.bead_commands import known
from ..command_table import Field
from ..daemon.service.control import running
from ..errors import ConfigError
from ..requests import service as requests
from ..requests.model import IssueReport
from ..text.cleaning import count, first_of, one_line
from .service import previews
from .service.previews import Preview
from .worker import preview_start

if TYPE_CHECKING:
    from ..app import App

Id = Annotated[str, Field("The bead's id.", metavar="BEAD")]
Wait = Annotated[float, Field("Seconds to wait until the server answers.", ("--wait",), least=0)]


def start(app: "App", by: str, bead: Id, wait: Wait = preview_start.START_SECONDS) -> tuple[Preview, str]:
    """Start the project's server (preview.command) in the bead's workspace, on its own port and with the restrictions
    of checks. The server runs until you stop it or nobrakes removes the workspace."""
    from ..app import ports_of

    known(app.store, bead)
    found = preview_start.start(ports_of(app, app.notifier), bead, by, wait)
    then = f"  nobrakes preview show {bead}   # the server's output\n  nobrakes preview stop {bead}"
    does = "is running" if found.state == "running" else "is starting"
    return found, f"{bead} {does} at {found.url}\n{then}"


def stop(app: "App", by: str, bead: Id) -> tuple[dict[str, Any], str]:
    """Stop the bead's preview and all its processes."""
    known(app.store, bead)
    ran = previews.stop(app.processes, app.store, app.paths, bead, by)
    return {"bead": bead, "stopped": ran}, f"the preview of {bead} {'has stopped' if ran else 'was not running'}"


def view(app: "App", by: str, bead: Id) -> tuple[dict[str, str], str]:
    """Allow nobrakes to push a bead's work and open its pull request, if nobrakes is waiting for that. Otherwise show
    the address of the pull request."""
    app.store.bead(bead)
    if requests.may_open(app.store, app.config, app.paths, bead, by):
        return {"bead": bead, "url": ""}, f"nobrakes will push {bead} and open its pull request {_when(app)}"
    address = requests.address(app.store, bead)
    return {"bead": bead, "url": address}, one_line(address)


def sync(app: "App", by: str) -> tuple[dict[str, int], str]:
    """Check all open pull requests now."""
    found = requests.sync(app.store, app.config, app.paths)
    return {"waiting": found}, f"nobrakes will check {count(found, 'pull request')} {_when(app)}"


Label = Annotated[str, Field("Only issues with this label (default: issues.label).", ("--label",))]
Repository = Annotated[
    str, Field("The repository at GitHub (default: issues.repository).", ("--repository",), "OWNER/NAME")
]


def sync_github(app: "App", by: str, label: Label = "", repository: Repository = "") -> tuple[IssueReport, str]:
    """Make drafts of the open GitHub issues with a label, and comment on issues whose beads have a pull request or are
    merged. nobrakes writes only to the repositories that the setting issues.post names."""
    from ..requests.worker import issues

    settings, tracker, own = app.config.issues, app.issues(repository), ""
    with suppress(ConfigError):  # of a repository without a remote all issues are elsewhere
        own = app.issues().repository
    label = label or settings.label
    found = issues.sync(app.store, settings, tracker, label, own, by, app.paths.request_lock)
    did = {"new": found.new, "changed": found.changed, "proposed": found.proposed, "comments for": found.posted}
    parts = [f"{len(beads)} {word} ({first_of(beads, 10)})" for word, beads in did.items() if beads]
    lines = [f"issues of {found.repository} with the label {label}: {', '.join(parts) or 'nothing changed'}"]
    lines += [*found.told, *found.problems][:30]
    then = ["  nobrakes approve   # what waits for your approval"] if found.new else []
    return found, "\n".join([*map(one_line, lines), *then])


def _when(app: "App") -> str:
    return "now" if running(app.paths) is not None else "at the next `nobrakes run`"
