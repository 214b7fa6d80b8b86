"""What most commands begin with: the repository opened, the bead found, the person named."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.errors import NoSuchBead, UsageError
from .asking import present

if TYPE_CHECKING:
    from ..app import App
    from ..core.beads.bead import Bead
    from ..ports.store import Store

BeadId = Annotated[str, Argument(metavar="BEAD", help="The bead's id.")]
FeatureId = Annotated[str, Argument(metavar="FEATURE", help="The feature's id.")]


@contextmanager
def looked_at() -> Iterator["App"]:
    """The repository, for a command that only shows: a config.toml that is wrong is told, and nothing more."""
    with opened(is_reading=True) as app:
        if app.paths.config_is_new():
            assert app.config, "what is wrong with it is told while it is read"
        yield app


@contextmanager
def opened(is_reading: bool = False) -> Iterator["App"]:
    """The repository around the current folder; NotInitialised, ConfigError, StoreBroken."""
    from ..app import open_app

    held = _SHARED.get()
    if held is not None:
        yield held
        return
    app = open_app(is_reading=is_reading)
    try:
        yield app
        if app.is_copy:
            folder = os.path.relpath(app.paths.folder)
            sys.stderr.write(f"note: {folder} cannot be written: this is what it held a moment ago\n")
    finally:
        app.close()


UserPlace = Annotated[
    bool, Option("--user", help="Your own, which belong to no repository; a daemon of your own runs them.")
]


@contextmanager
def opened_or_home(user: bool, is_reading: bool = False) -> Iterator["App"]:
    """The repository around the current folder, or with `user` the person's own; that is made when it is written to."""
    if not user:
        with looked_at() if is_reading else opened() as app:
            yield app
        return
    from ..app import App
    from ..operations.machine_wide import home

    found = home.paths() if is_reading else home.made()
    if found is None:
        raise UsageError("you have no session of your own yet", "`nobrakes session start --user TEXT` begins one.")
    with App(found, is_reading) as app:
        yield app


def see_to_a_daemon(app: "App", user: bool) -> str:
    """A daemon of the person's own runs from now on; what to say of it. A repository's is theirs to start."""
    if not user:
        return ""
    from ..operations.machine_wide import home

    pid, is_new = home.daemon(app.paths, app.store)
    return f"; your own daemon was started (process {pid})" if is_new else ""


_SHARED: "ContextVar[App | None]" = ContextVar("_SHARED", default=None)


@contextmanager
def shared() -> Iterator["App"]:
    """The repository, opened once for all that asks for it inside."""
    with opened() as app:
        before = _SHARED.set(app)
        try:
            yield app
        finally:
            _SHARED.reset(before)


def actor() -> str:
    """Who a change is written down for: the person at the keyboard, or who was named in their place."""
    return present().name


def near(wanted: str, ids: list[str]) -> str:
    """A hint that names ids like `wanted`, or how to see them all."""
    from difflib import get_close_matches

    like = get_close_matches(wanted[:64], ids, n=3, cutoff=0.5)
    return f"Did you mean {', '.join(like)}?" if like else NoSuchBead.hint


def known(store: "Store", bead: str) -> "Bead":
    """The bead; NoSuchBead that suggests ids like it."""
    try:
        return store.bead(bead)
    except NoSuchBead as error:
        from ..wording.text import cut, one_line

        found = near(bead, [node.id for node in store.nodes()])
        raise NoSuchBead(f"there is no bead '{cut(one_line(bead), 70)}'", found) from error


def text_or_stdin(text: str, what: str) -> str:
    """`text`, or all of stdin for '-'; UsageError when it is empty."""
    found = sys.stdin.read() if text == "-" else text
    if not found.strip():
        raise UsageError(f"the {what} is empty", f"Give the {what} as an argument, or '-' to read it from stdin.")
    return found
