"""The daemon sleeps until there is something to do, and misses nothing."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.files import is_readable, poke
from nobrakes.host.watching import Waker


@pytest.fixture
def waker(tmp_path: Path) -> Iterator[Waker]:
    with Waker(str(tmp_path / "wake")) as made:
        yield made


def test_nothing_happens_and_the_time_goes_by(waker: Waker) -> None:
    begun = time.monotonic()
    assert waker.wait(0.05) is False
    assert time.monotonic() - begun >= 0.05
    assert waker.wait(0) is False


def test_a_touch_while_it_sleeps_wakes_it(waker: Waker) -> None:
    later = threading.Timer(0.05, poke, (waker.folder, "1-1"))
    begun = time.monotonic()
    later.start()
    assert waker.wait(20) is True
    assert time.monotonic() - begun < 15, "it only looked when the time was over"
    later.join()
    assert os.listdir(waker.folder) == []


def test_it_can_be_woken_from_a_sleep_of_years(waker: Waker) -> None:
    """As where a bead is deferred to 2030, and nothing else is left to do."""
    later = threading.Timer(0.05, poke, (waker.folder, "1-1"))
    later.start()
    assert waker.wait(4e8) is True
    later.join()


def test_a_touch_before_it_sleeps_is_not_lost(waker: Waker) -> None:
    poke(waker.folder, "1-1")
    assert waker.wait(20) is True


def test_a_touch_before_it_was_made_is_not_lost(tmp_path: Path) -> None:
    folder = tmp_path / "wake"
    folder.mkdir()
    poke(str(folder), "1-1")
    with Waker(str(folder)) as waker:
        assert waker.wait(0) is True


def test_it_tells_once_which_files_were_written(waker: Waker) -> None:
    assert waker.taken() is None, "nobody knows what was written before"
    poke(waker.folder, "1-1")
    assert waker.wait(20) is True
    poke(waker.folder, "2-1")
    assert waker.taken() == {"1-1", "2-1"}, "the second needs no wait"
    assert waker.wait(0) is False
    assert waker.taken() == set()


def test_with_its_folder_nobody_knows_what_was_written(waker: Waker) -> None:
    assert waker.taken() is None
    poke(waker.folder, "1-1")
    shutil.rmtree(waker.folder)
    assert waker.wait(20) is True
    assert waker.taken() is None
    assert waker.taken() == set()


def test_a_second_touch_of_the_same_file_wakes_again(waker: Waker) -> None:
    for _ in range(3):
        poke(waker.folder, "same")
        assert waker.wait(20) is True


def test_of_many_touches_by_many_processes_none_is_lost(waker: Waker) -> None:
    """Each process waits until its file was taken; were a touch lost, it would wait for ever."""
    text = (
        "import os, sys, time\n"
        "from nobrakes.files import poke\n"
        "for n in range(100):\n"
        "    poke(sys.argv[1], sys.argv[2])\n"
        "    end = time.monotonic() + 20\n"
        "    while os.path.exists(os.path.join(*sys.argv[1:])):\n"
        "        assert time.monotonic() < end\n"
    )
    pokers = [subprocess.Popen([sys.executable, "-c", text, waker.folder, name]) for name in ("a", "b")]
    while any(poker.poll() is None for poker in pokers):
        waker.wait(0.5)
    assert [poker.wait() for poker in pokers] == [0, 0]


def test_a_signal_handler_may_wake_it(waker: Waker) -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: waker.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert waker.wait(20) is True
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_storm_of_wake_ups_never_blocks_and_is_one(waker: Waker) -> None:
    for _ in range(100_000):
        waker.set()
    assert waker.wait(0) is True
    assert waker.wait(0) is False


def test_a_removed_folder_is_made_again_and_watched(waker: Waker) -> None:
    os.rmdir(waker.folder)
    assert waker.wait(0.1) is True
    later = threading.Timer(0.05, poke, (waker.folder, "1-1"))
    begun = time.monotonic()
    later.start()
    assert waker.wait(20) is True
    assert time.monotonic() - begun < 15, "it only looked when the time was over"
    later.join()


def test_a_folder_in_the_folder_wakes_nobody(waker: Waker) -> None:
    os.mkdir(os.path.join(waker.folder, "folder"))
    assert waker.wait(0.05) is False


@pytest.mark.parametrize("step", ["__init__", "schedule", "start"])
def test_where_watching_is_impossible_it_polls_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    from watchdog.observers import Observer

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(Observer, step, refuse)
    monkeypatch.setattr("nobrakes.host.watching.POLL", 0.02)
    with Waker(str(tmp_path / "wake")) as waker:
        assert waker.polling
        assert "inotify watch limit reached" in capsys.readouterr().err
        later = threading.Timer(0.05, poke, (waker.folder, "1-1"))
        later.start()
        assert waker.wait(20) is True
        assert waker.wait(0.05) is False
        later.join()


def test_waking_a_daemon_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    poke(str(tmp_path / "missing"), "1-1")


def test_sleeping_costs_nothing(waker: Waker) -> None:
    before = time.process_time()
    waker.wait(2)
    assert time.process_time() - before < 0.02


TO_A_THREAD = """
import signal, sys, threading, time
from nobrakes.daemon.worker.service import _Signals
from nobrakes.host.watching import Waker
from nobrakes.host.command import StopLimit
with Waker(sys.argv[1]) as waker, StopLimit() as limit, _Signals(waker, limit) as signals:
    def other():
        time.sleep(0.3)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        time.sleep(60)
    threading.Thread(target=other, daemon=True).start()
    begun = time.monotonic()
    print(waker.wait(20), signals.asked, time.monotonic() - begun < 15, flush=True)
"""


def test_a_signal_that_the_system_gives_to_another_thread_wakes_the_sleeper(tmp_path):
    argv = [sys.executable, "-c", TO_A_THREAD, str(tmp_path / "wake")]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "True 1 True\n", ran.stderr


def test_descriptors_of_any_number_are_waited_for(tmp_path: Path) -> None:
    """As where a process has so many files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this account may not have so many files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    reading, writing = os.pipe()
    far = fcntl.fcntl(reading, fcntl.F_DUPFD, 2000)
    try:
        assert not is_readable(far, 0.0)
        os.write(writing, b".")
        assert is_readable(far, None)
    finally:
        for descriptor in (reading, writing, far):
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
