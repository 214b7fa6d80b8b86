"""Previews: the project's server, started in a bead's workspace, for people who try the work before they approve it.

1. It runs confined as checks are, on a port of its own, and dies with its workspace (host.proxy).
2. It needs no daemon: the folder of its run says what was started, and the kernel whether that lives.
3. Its address has the host `localhost`. Our pages have another name, so browsers send it no session of theirs.
"""

import contextlib
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any, Literal

from ...beads.model import Run, RunKind
from ...events.kinds import Event, Kind
from ...files import read_tail, write_private
from ...host import proctable
from ...host.locks import locked
from ...host.port import Processes
from ...host.proxy import ANSWERED
from ...host.runs import wrapper
from ...paths import Paths
from ...records import frozen

if TYPE_CHECKING:
    from ...store import Store

STOP_SECONDS = 3.0
LOG_BYTES = 20_000
PAUSE = 0.05
FACTS, OUTPUT, ERRORS = "preview.json", "preview.out", "preview.err"
LOCK = "previews"
_KINDS = {"run": str, "pid": int, "born": str, "port": int, "at": float, "by": str, "apart": bool}
_MAX_VALUES = {"pid": 2**31 - 1, "port": 65_535, "at": 2**37}


@frozen
class Preview:
    """A preview that was started. `url`: where it answers once it runs. `log`: the end of its output, untrusted."""

    bead: str
    state: Literal["starting", "running", "ended"]
    url: str
    started_at: float
    by: str
    log: str


def stop(processes: Processes, store: "Store", paths: Paths, bead: str, actor: str) -> bool:
    """Whether one ran. What an ended one left is ended too."""
    if _facts(paths, bead) is None:
        return False
    with locked(paths.request_lock, LOCK):
        ran = is_alive(paths, bead)
        end(processes, paths, bead, STOP_SECONDS if ran else 0.0)
        if ran:
            store.record(Event(Kind.PREVIEW_STOPPED, bead, actor=actor))
    return ran


def end(processes: Processes, paths: Paths, bead: str, seconds: float = 0.0) -> None:
    """End the bead's preview and what it left: after so long, by force."""
    if (facts := _facts(paths, bead)) is None:
        return
    run = Run(facts["run"], 0, RunKind.AGENT, facts["at"], pid=facts["pid"] or None, born=facts["born"])
    if seconds:
        processes.terminate(run)
    last = time.monotonic() + seconds
    while is_alive(paths, bead) and time.monotonic() < last:
        time.sleep(PAUSE)
    processes.kill(run)


def shown(paths: Paths, bead: str) -> Preview | None:
    """The last preview of this bead."""
    if (facts := _facts(paths, bead)) is None:
        return None
    alive = is_alive(paths, bead)
    state: Literal["starting", "running", "ended"] = "ended"
    if alive:
        state = "running" if _answers(preview_folder(paths, bead), facts["port"], facts["apart"]) else "starting"
    words = [read_tail(os.path.join(preview_folder(paths, bead), name), LOG_BYTES) for name in (OUTPUT, ERRORS)]
    log = b"".join(words).decode("utf-8", "replace")
    return Preview(bead, state, f"http://localhost:{facts['port']}/", facts["at"], facts["by"], log)


def all_of(paths: Paths) -> list[Preview]:
    names = sorted(os.listdir(paths.previews)) if os.path.isdir(paths.previews) else []
    return [one for one in (shown(paths, name) for name in names) if one is not None]


def preview_folder(paths: Paths, bead: str) -> str:
    return os.path.join(paths.previews, bead)


def _facts(paths: Paths, bead: str) -> dict[str, Any] | None:
    """None: none was started, or what an agent without a sandbox left there says nothing."""
    try:
        found = json.loads(read_tail(os.path.join(preview_folder(paths, bead), FACTS), 4096))
        facts = {name: kind(found[name]) for name, kind in _KINDS.items()}
        return facts if all(0 <= facts[name] <= largest for name, largest in _MAX_VALUES.items()) else None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def is_alive(paths: Paths, bead: str) -> bool:
    """Whether its run goes on; an ended one that this process started is collected."""
    if (facts := _facts(paths, bead)) is None:
        return False
    if not facts["pid"]:
        return False
    with contextlib.suppress(OSError):
        os.waitpid(facts["pid"], os.WNOHANG)  # where this process started it
    process = proctable.look(facts["pid"])
    lives = process is not None and process.running and process.mark == facts["born"]
    return lives and not wrapper.is_over(preview_folder(paths, bead))


def _answers(folder: str, port: int, is_apart: bool) -> bool:
    """Whether the server listens; once it did, it is not asked again. In a network of its own host.proxy notes that."""
    seen = os.path.join(folder, ANSWERED)
    if os.path.lexists(seen):
        return True
    for host in ("127.0.0.1", "::1"):
        with contextlib.suppress(OSError), socket.create_connection((host, port), 0.2):
            if not is_apart:
                write_private(seen, b"")
    return os.path.lexists(seen)
