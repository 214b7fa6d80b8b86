"""What every page tells beside its own content: whose repository, whether its daemon works, and what waits."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.events import Kind
from ...core.board import Limits
from ...host.locks import holder
from ...paths import Paths
from .. import control

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...ports.store import Store

SILENT_SECONDS = 20.0
"""A daemon that leaves a word to it lying for so long does not turn."""


@dataclass(frozen=True, slots=True)
class BarView:
    """`daemon` is its pid. `silent` are the seconds for which it left a word to it unread, None: it turns.

    `seq` and `at` are those of the last event: how old what a page shows is at most.
    """

    name: str
    main: str
    daemon: int | None
    silent: float | None
    paused: bool
    stopping: bool
    frozen: bool
    taken: int
    slots: int
    needs: int
    seq: int
    at: float | None
    now: float


def bar(store: "Store", paths: Paths, config: "Config") -> BarView:
    """As it is now."""
    limits = control.limits(store, config)
    now = store.now()
    taken = sum(1 for _ in store.board(Limits(), 1).agents)
    last = next(iter(store.latest_events(Kind, None, 1)), None)
    daemon = holder(paths.lock)
    return BarView(
        os.path.basename(paths.root),
        config.main,
        daemon,
        unread(paths) if daemon is not None else None,
        bool(store.setting(control.PAUSED)),
        bool(store.setting(control.STOPPING)),
        bool(store.setting(control.FROZEN)),
        taken,
        limits.doers,
        len(store.escalations()),
        last.seq if last else 0,
        last.at if last else None,
        now,
    )


def last_seq(store: "Store") -> int:
    """The number of the last event; 0: nothing happened yet."""
    return next((event.seq for event in store.latest_events(Kind, None, 1)), 0)


def unread(paths: Paths) -> float | None:
    """For how long a word to the daemon has been lying unread; None: not for long."""
    import time

    try:
        times = [entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(paths.wake) if entry.is_file()]
    except OSError:
        return None
    waited = time.time() - min(times) if times else 0.0
    return waited if waited > SILENT_SECONDS else None
