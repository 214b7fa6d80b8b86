"""One daemon a repository: its lock, its start in the background, its stop."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nobrakes.errors import DaemonNotRunning, DaemonRunning, NobrakesError
from nobrakes.host import proctable
from nobrakes.host.locks import DaemonLock, holder, start_daemon, stop_daemon

HOLD = """
import subprocess, sys, time
from nobrakes.host.locks import DaemonLock
lock = DaemonLock(sys.argv[1])
lock.acquire()
child = subprocess.Popen(["sleep", "1000"], close_fds=False)
print(child.pid, flush=True)
time.sleep(1000)
"""

DAEMON = """
import os, signal, sys, time
from nobrakes.host.locks import report_ready
from nobrakes.host.locks import DaemonLock
with DaemonLock(sys.argv[1]):
    print("working in", os.getcwd(), flush=True)
    report_ready()
    signal.sigwait([signal.SIGTERM])
"""


def until(condition: object) -> None:
    deadline = time.monotonic() + 15
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.005)


def start(tmp_path: Path, text: str, **more: float) -> int:
    return start_daemon(
        [sys.executable, "-c", text, str(tmp_path / "daemon.lock")],
        log=str(tmp_path / "daemon.log"),
        lock=str(tmp_path / "daemon.lock"),
        cwd=str(tmp_path),
        env=dict(os.environ),
        **more,
    )


def test_the_lock_is_held_once_and_names_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "deep" / "daemon.lock")
    assert holder(path) is None
    with DaemonLock(path):
        assert holder(path) == os.getpid()
        with pytest.raises(DaemonRunning, match=str(os.getpid())):
            DaemonLock(path).acquire()
        assert holder(path) == os.getpid()
    assert holder(path) is None
    with DaemonLock(path):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_kill_9_frees_the_lock_though_a_child_lives_on(tmp_path: Path) -> None:
    path = str(tmp_path / "daemon.lock")
    first = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    child = int(first.stdout.readline())
    try:
        assert holder(path) == first.pid
        first.kill()
        first.wait()
        assert holder(path) is None
        with DaemonLock(path):
            assert holder(path) == os.getpid()
    finally:
        os.kill(child, signal.SIGKILL)
        first.stdout.close()


def test_a_pid_that_was_given_away_again_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "daemon.lock"
    path.write_text(f"{os.getpid()} {proctable.boot()}:1\n")
    assert holder(str(path)) is None
    path.write_text("rubbish")
    assert holder(str(path)) is None


def test_a_daemon_starts_detached_and_stops_in_order(tmp_path: Path) -> None:
    pid = start(tmp_path, DAEMON)
    assert holder(str(tmp_path / "daemon.lock")) == pid
    assert os.getsid(pid) == pid
    assert (tmp_path / "daemon.log").read_text() == f"working in {tmp_path}\n"
    assert stat.S_IMODE((tmp_path / "daemon.log").stat().st_mode) == 0o600
    with pytest.raises(DaemonRunning, match=str(pid)):
        start(tmp_path, DAEMON)
    assert stop_daemon(str(tmp_path / "daemon.lock")) == (pid, "")
    assert holder(str(tmp_path / "daemon.lock")) is None
    with pytest.raises(DaemonNotRunning):
        stop_daemon(str(tmp_path / "daemon.lock"))


def test_a_daemon_that_dies_at_its_start_leaves_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "daemon.log").write_text("words of an earlier one\n")
    with pytest.raises(DaemonNotRunning, match="the config is broken") as caught:
        start(tmp_path, "import sys; sys.exit('the config is broken')")
    assert "exit code 1" in str(caught.value)
    assert "earlier" not in str(caught.value)


def test_a_daemon_that_says_nothing_is_told(tmp_path: Path) -> None:
    mute = DAEMON.replace("report_ready()\n", "pass\n")
    with pytest.raises(NobrakesError, match="did not report"):
        start(tmp_path, mute, timeout=0.2)
    lock = str(tmp_path / "daemon.lock")
    until(lambda: holder(lock) is not None)
    stop_daemon(lock)


def test_a_daemon_that_does_not_stop_is_told_and_not_killed(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); report_ready()"
    stubborn = DAEMON.replace("report_ready()\n", deaf + "\n").replace("[signal.SIGTERM]", "[signal.SIGUSR1]")
    pid = start(tmp_path, stubborn)
    lock = str(tmp_path / "daemon.lock")
    try:
        with pytest.raises(NobrakesError, match="has not stopped"):
            stop_daemon(lock, timeout=0.1)
        assert holder(lock) == pid
    finally:
        os.kill(pid, signal.SIGKILL)
    until(lambda: holder(lock) is None)
