"""The one place where real doors are chosen: a repository's .nobrakes, opened."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from .core.errors import ConfigError, NobrakesError, NotARepository, NotInitialised
from .places import Places, find, repository_root

if TYPE_CHECKING:
    from .config import Config
    from .core.board import Board, Limits
    from .daemon.loop import Daemon, View
    from .ports import Git, Notifier, Processes, Store

SEEN_BY_CHILDREN = (
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
)
"""What agents and checks see of the human's environment, beside LC_*; agents also get what the config names."""


class ConfigSource:
    """config.toml as it is now; while it is broken, the last good one, and the trouble is told once."""

    def __init__(self, path: str, first: "Config", tell: Callable[[str], None]) -> None:
        self._path = path
        self._config = first
        self._tell = tell
        self._seen = _stamp(path)

    def __call__(self) -> "Config":
        """The present settings."""
        from .config import load

        stamp = _stamp(self._path)
        if stamp != self._seen:
            self._seen = stamp
            try:
                self._config = load(self._path)
            except ConfigError as error:
                self._tell(f"{error} The settings of before stay in force.")
        return self._config


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class App:
    """A repository with nobrakes in it. Doors are opened when they are first used, and closed by `close`."""

    def __init__(self, places: Places) -> None:
        self.places = places

    @cached_property
    def config(self) -> "Config":
        """The settings; ConfigError."""
        from .config import load

        return load(self.places.config)

    @cached_property
    def store(self) -> "Store":
        """The database."""
        from .store.opening import open_store

        return open_store(self.places.database)

    @cached_property
    def git(self) -> "Git":
        """The repository."""
        from .git.repository import Repository

        return Repository(self.places, self.config.main)

    @cached_property
    def processes(self) -> "Processes":
        """Children."""
        from .host.processes import LocalProcesses

        return LocalProcesses(self.places.wake)

    @cached_property
    def notifier(self) -> "Notifier":
        """Who tells people."""
        from .notifiers.stdout import StdoutNotifier

        return StdoutNotifier()

    def limits(self) -> "Limits":
        """The limits, with what a person changed while it runs."""
        from .operations import control

        return control.limits(self.store, self.config)

    def environment(self) -> Mapping[str, str]:
        """What children see of this process's environment."""
        return {k: v for k, v in os.environ.items() if k in SEEN_BY_CHILDREN or k.startswith("LC_")}

    def close(self) -> None:
        """Close what was opened."""
        if "store" in self.__dict__:
            self.store.close()

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_app(start: str | None = None) -> App:
    """The app for the folder `start` (default: the current one); NotARepository, NotInitialised."""
    places = find(start)
    if places is None:
        here = start or os.getcwd()
        if repository_root(here) is None:
            raise NotARepository(f"{here} is not in a git repository")
        raise NotInitialised("nobrakes is not set up in this repository yet")
    return App(places)


def open_daemon(app: App, notifier: "Notifier | None" = None) -> "Daemon":
    """A daemon on the app's real doors. The caller holds the daemon's lock."""
    from .agents.adapter import guard_argv
    from .agents.registry import adapter
    from .daemon.doors import Doors
    from .daemon.loop import Daemon
    from .operations import control
    from .ports import Notice

    teller = notifier or app.notifier
    source = ConfigSource(app.places.config, app.config, lambda text: teller.tell(Notice(text, urgent=True)))
    for name in (app.config.agents.test_writer, app.config.agents.doer):
        adapter(name)
    install_command(app.places)
    return Daemon(
        Doors(
            store=app.store,
            git=app.git,
            processes=app.processes,
            notifier=teller,
            places=app.places,
            config=source,
            limits=lambda: control.limits(app.store, source()),
            adapter=adapter,
            environment=app.environment(),
            credentials=dict(os.environ),
            guard=guard_argv(),
        )
    )


def serve(app: App, view: "View", *, until_idle: bool, notifier: "Notifier | None" = None) -> "Board":
    """Work in this process: hold the lock, recover, and turn (daemon.service)."""
    from .daemon import service

    return service.serve(lambda: open_daemon(app, notifier), view, until_idle=until_idle)


def install_command(places: Places) -> None:
    """Put the `nobrakes` that runs now into .nobrakes/bin, so that agents find just this one."""
    folder = os.path.join(places.folder, "bin")
    os.makedirs(folder, exist_ok=True)
    link = os.path.join(folder, "nobrakes")
    beside = os.path.join(os.path.dirname(sys.executable), "nobrakes")
    command = beside if os.path.exists(beside) else shutil.which("nobrakes")
    if command is None:
        raise NobrakesError(
            "the command `nobrakes` was not found beside this Python",
            "Install nobrakes with pip or pipx, then start it by its command.",
        )
    if os.path.islink(link) and os.readlink(link) == command:
        return
    temporary = f"{link}.{os.getpid()}"
    os.symlink(command, temporary)
    os.replace(temporary, link)
