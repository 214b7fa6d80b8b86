"""`nobrakes events --public` and `--export`: the events that other programs read."""

import os
import time
from typing import TYPE_CHECKING

from ..wording.text import count
from .output import Output, said, write

if TYPE_CHECKING:
    from ..app import App
    from ..ports.store import Store

POLL_SECONDS = 0.25


def show(store: "Store", after: int, bead: str | None, follow: bool) -> Output:
    """Print each as a line of JSON; with `follow` go on until Ctrl-C."""
    from ..operations.public.export import line
    from ..operations.public.facts import public_events

    shown = 0
    while True:
        for last, page in public_events(store, after, bead):
            if page:
                write("".join(map(line, page)))
            after, shown = last, shown + len(page)
        if not follow:
            return said({"shown": shown, "last": after}, "")
        time.sleep(POLL_SECONDS)


def export(app: "App", path: str, follow: bool) -> Output:
    """Bring the file up to date; with `follow` go on until Ctrl-C."""
    from ..operations.public.export import wait_and_keep_up

    whole, written = os.path.abspath(path), 0
    while True:
        done = wait_and_keep_up(app.store, app.paths.root, whole)
        written += done.written
        if not follow:
            break
        time.sleep(POLL_SECONDS)
    text = f"{count(written, 'event')} written to {path}"
    return said({"path": whole, "written": written, "last": done.upto}, text)
