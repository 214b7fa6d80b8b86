"""A word's lock excludes other threads and other processes, and is its holder's until it ends."""

import subprocess
import sys
import threading
from pathlib import Path

from nobrakes.host import key_lock

ASKS = """
import fcntl, sys
from nobrakes.host import key_lock
own = fcntl.lockf
fcntl.lockf = lambda file, how, *more: own(file, how | (fcntl.LOCK_NB if how == fcntl.LOCK_EX else 0), *more)
try:
    with key_lock.locked(sys.argv[1], sys.argv[2]):
        print("free")
except OSError:
    print("held")
"""


def another_process_finds(path: Path, word: str) -> str:
    """How the word is to it."""
    done = subprocess.run([sys.executable, "-c", ASKS, str(path), word], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_of_two_threads_with_one_word_one_waits_for_the_other(tmp_path: Path) -> None:
    path, inside, seen = str(tmp_path / "lock"), [0], []

    def work() -> None:
        with key_lock.locked(path, "word"):
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
    with key_lock.locked(str(path), "held"):
        with key_lock.locked(str(path), "other"):
            assert another_process_finds(path, "other") == "held"
        assert another_process_finds(path, "other") == "free"
        assert another_process_finds(path, "held") == "held"
    assert another_process_finds(path, "held") == "free"
    assert not key_lock._files and not key_lock._words
