"""The real daemon ends in its time while git hangs below it, says what it left, and the next one goes on."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from nobrakes.host.locks import holder
from tests.support.scripted import Scripted, until

pytestmark = pytest.mark.slow

SHIM = """#!/bin/sh
if [ -n "$IN_DAEMON" ] && [ -e {signs}/armed ]; then
    case " $* " in *' rev-parse '*|*' init '*|*' config '*|*' clone '*|*' update-ref '*)
        echo $$ >>{signs}/hung
        kill -STOP $$
    esac
fi
exec {real}/git "$@"
"""


def test_a_stop_ends_within_30_seconds_while_git_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Scripted(tmp_path / "project")
    signs = tmp_path / "signs"
    (signs / "bin").mkdir(parents=True)
    real = next(p for p in os.environ["PATH"].split(os.pathsep) if os.access(f"{p}/git", os.X_OK))
    shim = signs / "bin" / "git"
    shim.write_text(SHIM.format(signs=signs, real=real))
    shim.chmod(0o755)
    with monkeypatch.context() as inside:
        inside.setenv("PATH", str(signs / "bin"), prepend=os.pathsep)
        inside.setenv("IN_DAEMON", "1")
        project.nobrakes("daemon", "start")
    daemon = holder(str(project.folder / ".nobrakes" / "daemon.lock"))
    assert daemon is not None
    hung: list[int] = []
    try:
        (signs / "armed").touch()
        project.plan([{"id": "one", "title": "One", "needs_tests": False}])
        until(lambda: (signs / "hung").exists())
        hung = [int(pid) for pid in (signs / "hung").read_text().split()]
        began = time.monotonic()
        done = project.nobrakes("daemon", "stop")
        took = time.monotonic() - began
    finally:
        (signs / "armed").unlink(missing_ok=True)
        for pid in hung:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(daemon, signal.SIGKILL)
    assert took < 30
    assert "left running: " in done.stdout
    assert "git" in done.stdout
    project.nobrakes("run")
    assert list(project.landed().values()) == ["one"]
