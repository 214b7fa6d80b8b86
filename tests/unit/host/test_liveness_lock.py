"""Whether a daemon lives is what the kernel says of its lock, at once, however it died."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from nobrakes.host.locks import LivenessLock, is_alive, sweep

HOLD = """
import subprocess, sys, time
from nobrakes.host.locks import LivenessLock
one = LivenessLock(sys.argv[1])
child = subprocess.Popen(["sleep", "60"])
print(one.name, child.pid, flush=True)
time.sleep(60)
"""


def test_it_lives_until_it_is_closed(tmp_path: Path) -> None:
    folder = str(tmp_path / "daemons")
    one = LivenessLock(folder)
    assert is_alive(folder, one.name) and is_alive(folder, one.name) and one.is_seen()
    sweep(folder)
    assert is_alive(folder, one.name), "who lives is not swept away"
    one.close()
    assert not is_alive(folder, one.name) and os.listdir(folder) == []


def test_who_is_killed_is_dead_at_once_though_its_children_live(tmp_path: Path) -> None:
    folder = str(tmp_path / "daemons")
    process = subprocess.Popen([sys.executable, "-c", HOLD, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    name, child = process.stdout.readline().split()
    try:
        assert is_alive(folder, name)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not is_alive(folder, name)
        sweep(folder)
        assert os.listdir(folder) == []
    finally:
        os.kill(int(child), signal.SIGKILL)
        process.stdout.close()


def test_whose_file_was_taken_away_sees_it(tmp_path: Path) -> None:
    one = LivenessLock(str(tmp_path / "daemons"))
    os.unlink(one.path)
    assert not one.is_seen()
    one.close()
