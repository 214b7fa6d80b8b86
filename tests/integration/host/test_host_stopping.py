"""A stop ends in its time, whatever hangs, and says what it left."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.errors import StopCut
from nobrakes.host import command
from nobrakes.host.command import StopLimit

HANGS = """
import os, signal, subprocess, sys, threading, time
from nobrakes.host import command as stopping
stopping.STOP_SECONDS = stopping.URGENT_SECONDS = 0.5
stopping.PENDING_SECONDS = 0.05
def stuck():
    ready = lambda: print("ready", flush=True)
    {stuck}
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
with stopping.StopLimit() as limit:
    {before}
    stuck()
"""
HEARS = "signal.signal(signal.SIGTERM, lambda *_: limit.asked(at_once=False))"
STUCK = {
    "a child that never ends": ("ready(); child.wait()", HEARS),
    "a thread beside the loop": (
        "thread = threading.Thread(target=child.wait, name='aside'); thread.start(); ready(); thread.join()",
        HEARS,
    ),
    # as if it were deep in the system: it cannot take the signal, and nobody else does
    "a main thread that hears nothing": (
        "ready(); child.wait()",
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])",
    ),
    "last words into a full pipe": (
        "os.set_blocking(2, False)\n    try:\n        while os.write(2, b'x' * 4096): pass\n"
        "    except BlockingIOError: os.set_blocking(2, True)\n    ready(); child.wait()",
        HEARS,
    ),
}


@pytest.fixture
def killed() -> Iterator[list[int]]:
    pids: list[int] = []
    yield pids
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("what", STUCK)
def test_a_stop_is_cut_and_says_what_it_left(what: str, killed: list[int]) -> None:
    stuck, before = STUCK[what]
    code = HANGS.format(stuck=stuck, before=before)
    if "hears nothing" in what:  # the thread was born before, and would take the signal: it is blocked from the start
        code = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n" + code
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    killed.append(int(process.stdout.readline()))
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    ended = process.wait(20)
    assert time.monotonic() - began < 10
    os.kill(killed[0], signal.SIGKILL)  # it holds the pipes open
    said = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    if what == "last words into a full pipe":
        assert ended == -signal.SIGALRM
        return
    assert ended == StopCut.code
    assert f"left running: sleep (process {killed[0]})" in said
    assert "its next start continues the work" in said
    assert ("'Thread" in said or "'aside' in the background" in said) == ("beside" in what)


def test_a_stop_that_ends_in_its_time_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "STOP_SECONDS", 600.0)
    monkeypatch.setattr(command, "_cut", lambda part: pytest.fail(f"cut at {part}"))
    before = threading.active_count()
    with StopLimit() as limit:
        limit.asked(at_once=False)
    assert threading.active_count() == before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_second_signal_shortens_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = threading.Event()
    monkeypatch.setattr(command, "STOP_SECONDS", 600.0)
    monkeypatch.setattr(command, "URGENT_SECONDS", 0.0)

    def cutting(part: str) -> None:
        cut.set()
        raise SystemExit

    monkeypatch.setattr(command, "_cut", cutting)
    with StopLimit() as limit:
        limit.asked(at_once=False)
        limit.asked(at_once=True)
        assert cut.wait(20)


CLOSES = """
import functools, os, sys, time, types
from nobrakes.daemon.worker import service
from nobrakes.host import command as stopping
from nobrakes.host.command import ThreadBackground
from nobrakes.host.channel import FolderChannelServer
from nobrakes.files import poke
from nobrakes.host.watching import Waker
from nobrakes.trash import Trash

folder = sys.argv[1]
service.SERVANT_SECONDS = service.JOBS_SECONDS = 0.5
if sys.argv[2] == "asked":
    service.SERVANT_SECONDS = service.JOBS_SECONDS = 600.0
    stopping.STOP_SECONDS = 0.5
began = []
def hangs(*_):
    began.append(1)
    time.sleep(600)

aside, waker = ThreadBackground(), Waker(folder + "/wake")
keeper = FolderChannelServer(folder + "/doors", Trash(folder + "/trash"), hangs)
keeper.start()
aside.begin("what is over", lambda: None)
while not aside.over("what is over"):
    time.sleep(0.001)
{hang}
while not began:
    time.sleep(0.001)
with stopping.StopLimit() as limit:
    if sys.argv[2] == "asked":
        limit.asked(at_once=False)
    machine = types.SimpleNamespace(close=lambda: None)
    service.close(types.SimpleNamespace(channel=keeper, background=aside, machine=machine), waker, limit)
"""
PARTS = {
    "the channel": 'door = keeper.begin("1-1"); open(door + "/in/1-1-1.json", "wb").close()',
    "'taking in 1-1' in the background": 'aside.begin("taking in 1-1", hangs)',
    "'asking a remote' in the background": 'aside.begin("asking a remote", hangs, far=True)',
    "the observer": 'waker.set = hangs; poke(folder + "/wake", "one")',
}


@pytest.mark.parametrize("asked", ["asked", "by itself"])
@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_end_has_its_time_and_is_named(part: str, asked: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLOSES.replace("{hang}", PARTS[part]), str(tmp_path), asked],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == StopCut.code, done.stderr
    assert part in done.stderr
    assert [other for other in PARTS if other in done.stderr] == [part]
    assert "idle" not in done.stderr
