"""Files, the terminal, orphans, and the process table where there is no /proc."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nobrakes.errors import DiskFull, NoAgent, StoreReadOnly
from nobrakes.files import keep_private, private_folder, read_tail, storage_errors, write_atomic, write_private
from nobrakes.host import proctable
from nobrakes.host.locks import run_interactive
from nobrakes.host.proctable import Reaper, become_subreaper
from nobrakes.paths import own_program


def test_an_atomic_write_replaces_the_whole_file_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a longer text than the new one")
    write_atomic(str(path), b"new", 0o640)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_of_the_repository_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(str(tmp_path / "file"), b"new", None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_an_atomic_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="file"):
        write_atomic(str(path), b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_told() -> None:
    with pytest.raises(DiskFull):
        write_private("/dev/full", b"x" * 100)


@pytest.mark.parametrize("number", [1, 13, 30])
def test_a_disk_that_cannot_be_written_is_told(number: int) -> None:
    with pytest.raises(StoreReadOnly, match="there"), storage_errors("there"):
        raise OSError(number, os.strerror(number))


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(IsADirectoryError), storage_errors("there"):
        raise IsADirectoryError(21, "is a folder")


def test_folders_are_private_and_said_to_be_new_once(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert private_folder(str(path)) is True
    assert private_folder(str(path)) is False
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_the_tail_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_tail(str(tmp_path / "file"), 3) == b"789"
    assert read_tail(str(tmp_path / "file"), 100) == b"0123456789"
    assert read_tail(str(tmp_path / "missing"), 3) == b""


def test_a_program_at_the_terminal_gives_its_exit_code(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "CODE": "3"}
    assert run_interactive(["sh", "-c", 'test "$PWD" = "$0" && exit $CODE', str(tmp_path)], env, str(tmp_path)) == 3
    assert run_interactive(["sh", "-c", "kill -TERM $$"], env, str(tmp_path)) == 143
    with pytest.raises(NoAgent, match="no-such-program"):
        run_interactive(["no-such-program"], env, str(tmp_path))


def test_a_program_is_found_where_a_shell_would_find_it(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    assert own_program("mine", "/", str(tmp_path)) is None  # it cannot be run
    (tmp_path / "mine").chmod(0o755)
    assert own_program("mine", "/", f"/nowhere{os.pathsep}{tmp_path}") == str(tmp_path / "mine")
    assert own_program(str(tmp_path / "mine"), "/", "") == str(tmp_path / "mine")


def test_ctrl_c_is_the_program_s_and_not_ours(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    script = f"trap 'exit 5' INT; kill -INT {os.getpid()}; kill -INT $$; exit 6"
    assert run_interactive(["sh", "-c", script], {"PATH": os.environ["PATH"]}, str(tmp_path)) == 5
    assert signal.getsignal(signal.SIGINT) is before


ORPHANS = """
import os, subprocess, sys, time
from nobrakes.host import proctable
from nobrakes.host.proctable import Reaper, become_subreaper
assert become_subreaper()
# a session of its own, whose leader leaves an orphan that ends later
script = ["sh", "-c", "sleep 0.2 & echo $!"]
leader = subprocess.Popen(script, stdout=subprocess.PIPE, text=True, start_new_session=True)
orphan = int(leader.stdout.readline())
leader.wait()
mine = subprocess.Popen(["sh", "-c", "exit 7"], start_new_session=True)
reaper = Reaper()
def zombie(pid):
    found = proctable.look(pid)
    return found is not None and not found.running
while not (zombie(orphan) and zombie(mine.pid)):
    time.sleep(0.01)
assert proctable.look(orphan).parent == os.getpid()
reaper.collect({leader.pid, mine.pid}, {mine.pid})
assert proctable.look(orphan) is None, "the orphan was not collected"
assert mine.wait() == 7, "a child with a waiter was stolen"
stranger = subprocess.Popen(["sh", "-c", "exit 8"], start_new_session=True)
while not zombie(stranger.pid):
    time.sleep(0.01)
reaper.collect(set(), set())
assert stranger.wait() == 8, "a child of an unknown session was stolen at once"
"""


@pytest.mark.skipif(not proctable.LINUX, reason="subreapers are Linux's")
def test_orphans_are_collected_and_nobody_s_child_is_stolen() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


LEFT = """
import os, sys, time
from nobrakes.beads.model import Run, RunKind
from nobrakes.host.runs.processes import LocalProcesses
from nobrakes.host.proctable import become_subreaper
from nobrakes.host import proctable
from nobrakes.host.port import Command, Step
place = sys.argv[1]
assert become_subreaper()
processes = LocalProcesses(place + "/wake")
def zombies():
    found = (proctable.look(pid) for pid in proctable.children(os.getpid()))
    return [one for one in found if one is not None and not one.running]
began = time.monotonic()
for number in range(8):
    leaves = ("sh", "-c", "sleep 0.05 </dev/null >/dev/null 2>&1 & exit 0")
    command = Command(f"{place}/runs/{number}-1", place, {"PATH": os.environ["PATH"]}, (Step("step", leaves),))
    born = processes.start(f"{number}-1", command)
    run = Run(f"{number}-1", 1, RunKind.AGENT, 0.0, pid=born.pid, born=born.mark)
    while processes.alive(run):
        time.sleep(0.005)
while zombies():
    assert time.monotonic() - began < 20, zombies()
    processes.alive(run)
    time.sleep(0.05)
print("none", os.getpid() in proctable.everything())
"""


@pytest.mark.skipif(not proctable.LINUX, reason="subreapers are Linux's")
def test_what_dies_a_moment_after_its_run_is_collected_at_once(tmp_path: Path) -> None:
    (tmp_path / "wake").mkdir()
    done = subprocess.run([sys.executable, "-c", LEFT, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout == "none True\n", done.stderr


@pytest.mark.skipif(not proctable.LINUX, reason="zombies are read from /proc")
def test_an_old_zombie_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nobrakes.host.proctable.TIMEOUT", -1.0)
    child = subprocess.Popen(["true"], start_new_session=True)
    deadline = time.monotonic() + 15
    while (found := proctable.look(child.pid)) is None or found.running:
        assert time.monotonic() < deadline
    Reaper().collect(set(), set())
    assert proctable.look(child.pid) is None
    child.wait()


def test_psutil_tells_the_same_story_as_proc() -> None:
    me = proctable.portable_look(os.getpid())
    assert me is not None
    assert (me.pid, me.parent, me.session, me.running) == (os.getpid(), os.getppid(), os.getsid(0), True)
    assert abs(me.started / proctable.HUNDREDTHS - time.time()) < 3600 * 24
    assert proctable.portable_everything()[os.getpid()].started == me.started
    assert proctable.portable_look(2**22 + 1) is None


def test_where_there_are_no_subreapers_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proctable, "LINUX", False)
    assert become_subreaper() is False


def test_a_folder_of_ours_that_was_closed_is_opened_again_and_a_link_is_left(tmp_path):
    state, other = tmp_path / "state", tmp_path / "other"
    (state / "runs" / "1-agent").mkdir(parents=True)
    other.mkdir(mode=0o755)
    (state / "link").symlink_to(other)
    (state / "runs" / "1-agent").chmod(0)
    (state / "runs").chmod(0)
    keep_private(str(state), depth=2)
    for folder in (state, state / "runs", state / "runs" / "1-agent"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(other.stat().st_mode) == 0o755
