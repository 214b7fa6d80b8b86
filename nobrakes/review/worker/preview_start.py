"""Starts the project's server in a bead's workspace, confined as checks are (review.service.previews)."""

import json
import os
import socket
import time

from ...errors import NotAllowed, ServerEnded, UsageError
from ...events.kinds import Event, Kind
from ...files import private_folder, write_atomic, write_private
from ...host.confine import Confinement
from ...host.locks import locked
from ...host.port import Command, Step
from ...host.runs.recording import recorded
from ...ports import Ports
from ...sandbox.system_paths import MADE
from ...text.cleaning import one_line
from ...trash import Trash
from ..service.previews import (
    ERRORS,
    FACTS,
    LOCK,
    OUTPUT,
    PAUSE,
    Preview,
    all_of,
    end,
    is_alive,
    preview_folder,
    shown,
)

AT_ONCE = 4
START_SECONDS = 8.0
STEP = "server"
SCRIPT = (
    'exec 2>&1; sh -c "$1" || { code=$?; echo "preview.setup ended with exit code $code"; exit "$code"; }; '
    'exec sh -c "$2"'
)


def start(ports: Ports, bead: str, actor: str, seconds: float) -> Preview:
    """Start it, or find it, and wait so long for its first answer. Raises UsageError, NotAllowed, and ServerEnded."""
    settings = ports.config().preview
    if not settings.command:
        hint = "Set it in a terminal, for example: nobrakes config set preview.command 'npm run dev -- --port $PORT'"
        raise UsageError("the setting preview.command, which starts the project's server, is empty", hint)
    if not ports.git.has_workspace(bead):
        hint = "A bead has a workspace from its first attempt until its merge. After the merge, try main itself."
        raise NotAllowed(f"bead {bead} has no workspace, so there is nothing to preview", hint)
    private_folder(ports.paths.previews)
    with locked(ports.paths.request_lock, LOCK):
        if not is_alive(ports.paths, bead):
            going = [one.bead for one in all_of(ports.paths) if one.state != "ended"]
            if len(going) >= AT_ONCE:
                hint = f"Stop a preview: nobrakes preview stop {going[0]}"
                raise NotAllowed(f"{AT_ONCE} previews are already running: {', '.join(going)}", hint)
            _begin(ports, bead, actor)
            ports.store.record(Event(Kind.PREVIEW_STARTED, bead, actor=actor))
    last = time.monotonic() + seconds
    while (found := shown(ports.paths, bead)) and found.state == "starting" and time.monotonic() < last:
        time.sleep(PAUSE)
    assert found is not None
    if found.state == "ended":
        words = one_line(found.log.strip().rpartition("\n")[2])[:300]
        raise ServerEnded(f"the server of {bead} ended: {words}", f"The whole output: nobrakes preview show {bead}")
    return found


def _begin(ports: Ports, bead: str, actor: str) -> None:
    paths, settings = ports.paths, ports.config().preview
    workspace, folder = os.path.join(paths.workspaces, bead), preview_folder(paths, bead)
    end(ports.processes, paths, bead)
    Trash(paths.trash).take(paths.previews, folder)
    port = _free_port()
    confinement = Confinement(ports)
    words = ("sh", "-c", SCRIPT, "sh", settings.setup or ":", settings.command)
    confined = confinement.check(workspace, folder)
    argv = confined.serving(words, port, workspace)
    out, errors = os.path.join(folder, OUTPUT), os.path.join(folder, ERRORS)
    own = {"PORT": str(port), "HOST": "127.0.0.1", "BROWSER": "none"}
    run, at = f"preview-{bead}", ports.store.now()
    facts = {"run": run, "pid": 0, "born": "", "port": port, "at": at, "by": actor, "apart": confined.is_apart}
    private_folder(folder)
    write_private(os.path.join(folder, FACTS), json.dumps(facts).encode())  # after a crash it is found by its name
    born = ports.processes.start(
        run,
        Command(
            folder=folder,
            cwd=workspace,
            env={**confinement.environment(folder), **own},
            steps=(Step(STEP, recorded(argv, out, errors), join_output=True),),
            files={MADE: b""} if confinement.home(folder) else {},
        ),
    )
    facts |= {"pid": born.pid, "born": born.mark}
    write_atomic(os.path.join(folder, FACTS), json.dumps(facts).encode())


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
