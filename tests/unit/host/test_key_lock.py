"""A word's lock excludes other threads and other processes, and is its holder's until it ends."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nobrakes.host import locks, proctable

ASKS = """
import fcntl, sys
from nobrakes.host import locks as key_lock
fcntl.F_OFD_SETLKW = fcntl.F_OFD_SETLK
try:
    with key_lock.locked(sys.argv[1], sys.argv[2]):
        print("free")
except OSError:
    print("held")
"""
HOLDS = """
import sys
from nobrakes.host import locks as key_lock
with key_lock.locked(sys.argv[1], "theirs"):
    print("held", flush=True)
    with key_lock.locked(sys.argv[1], "ours"):
        print("both", flush=True)
"""


def another_process_finds(path: Path, word: str) -> str:
    """How the word is to it."""
    done = subprocess.run([sys.executable, "-c", ASKS, str(path), word], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("is_linux", [True, False])
def test_of_two_threads_with_one_word_one_waits_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_linux: bool
) -> None:
    monkeypatch.setattr(proctable, "LINUX", is_linux)
    path, inside, seen = str(tmp_path / "lock"), [0], []

    def work() -> None:
        with locks.locked(path, "word"):
            inside[0] += 1
            seen.append(inside[0])
            threading.Event().wait(0.05)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)
    assert seen == [1, 1, 1, 1]


def test_the_end_of_another_word_leaves_a_word_held(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locks.locked(str(path), "held"):
        with locks.locked(str(path), "other"):
            assert another_process_finds(path, "other") == "held"
        assert another_process_finds(path, "other") == "free"
        assert another_process_finds(path, "held") == "held"
    assert another_process_finds(path, "held") == "free"
    open_now = {os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")}
    assert str(path) not in open_now


def test_two_processes_whose_threads_wait_in_no_circle_both_go_on(tmp_path: Path) -> None:
    path, ended, errors = tmp_path / "lock", threading.Event(), list[BaseException]()

    def wants_theirs() -> None:
        try:
            with locks.locked(str(path), "theirs"):
                pass
        except BaseException as error:
            errors.append(error)
        ended.set()

    thread = threading.Thread(target=wants_theirs)
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        with locks.locked(str(path), "ours"):
            assert other.stdout.readline() == "held\n"
            thread.start()
            while waiting(path) < 2 and not errors and other.poll() is None:
                ended.wait(0.01)
            assert not errors
        assert other.stdout.read() == "both\n"
    assert ended.wait(20) and not errors and other.returncode == 0


def waiting(path: Path) -> int:
    """How many wait for a lock of the file, as the kernel lists them."""
    mark = f":{path.stat().st_ino} "
    return sum(" -> " in line and mark in line for line in Path("/proc/locks").read_text().splitlines())
