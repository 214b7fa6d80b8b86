"""The daemon in the background: start, stop, status, restart, and the process itself."""

from dataclasses import replace
from typing import Annotated

from typer import Option

from ..core.hindrances import Kind
from ..core.public.values import plain
from .hindered import lines
from .output import Output, said
from .repository import UserPlace, opened, opened_or_home

OVER = (Kind.DAEMON_DEAD, Kind.RUN_CUT_OFF, Kind.RETRY)
"""What is over, or goes on by itself, once a daemon works."""
Wait = Annotated[float, Option("--wait", min=0, help="Seconds to wait for it.")]


def start(wait: Wait = 20.0, user: UserPlace = False) -> Output:
    """Work in the background. What it says goes to .nobrakes/daemon.log.

    Looked at first, as by `nobrakes run`: where nothing could start it is refused (62), with what mends it.
    """
    from ..app import hindrances
    from ..operations import daemons
    from ..operations.hindrances.look import NOTHING

    with opened_or_home(user) as app:
        now = app.store.now()
        stands = NOTHING if user or daemons.running(app.paths) else hindrances(app)
        stands.require(now)
        pid = daemons.start(app.paths, app.store, wait)
    data = {"pid": pid, "log": app.paths.daemon_log, "hindrances": plain(stands)}
    first = f"the daemon works (process {pid}); it logs to {app.paths.daemon_log}"
    waits = replace(stands, found=tuple(one for one in stands.found if one.kind not in OVER))
    return Output(data, lambda screen: "\n".join([first, *lines(waits, now, screen)]))


def stop(wait: Wait = 60.0, user: UserPlace = False) -> Output:
    """End the daemon in order: its agents are stopped, their work is kept."""
    from ..operations import daemons

    with opened_or_home(user) as app:
        pid, left = daemons.stop(app.paths, app.store, wait)
    text = f"the daemon has ended (it was process {pid})"
    return said({"pid": pid, "left": left}, f"{text}\n{left}" if left else text)


def status(user: UserPlace = False) -> Output:
    """Whether a daemon works here. The exit code is 24 where none does."""
    from ..core.errors import DaemonNotRunning
    from ..operations import daemons

    with opened_or_home(user, is_reading=True) as app:
        pid = daemons.running(app.paths)
    text = f"a daemon works (process {pid})" if pid else "no daemon works here"
    error = None if pid else DaemonNotRunning("no daemon works here")
    return Output({"running": pid is not None, "pid": pid}, lambda screen: text, error)


def restart(wait: Wait = 60.0, user: UserPlace = False) -> Output:
    """Start a new daemon in the old one's place. Agents go on meanwhile."""
    from ..operations import daemons

    with opened_or_home(user) as app:
        pid = daemons.restart(app.paths, app.store, wait)
    return said({"pid": pid}, f"the daemon works (process {pid})")


def run() -> Output:
    """The daemon itself. `nobrakes daemon start` runs this in the background."""
    from ..app import open_daemon
    from ..daemon import service
    from ..host.daemonise import report_ready
    from .live import Plain

    with opened() as app:
        service.serve(
            lambda: open_daemon(app), Plain(app.store, 0.0), until_idle=False, ready=report_ready, is_background=True
        )
    return said({"ended": True}, "the daemon has ended")
