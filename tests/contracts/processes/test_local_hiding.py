"""Whatever a program does to get away, its processes are found and ended: with its wrapper, after it, and without it."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nobrakes.beads.model import Run
from nobrakes.host import proctable
from nobrakes.host.port import Remains
from nobrakes.host.runs.processes import LocalProcesses
from tests.contracts.processes.process_worlds import LocalWorld, until
from tests.support.dose import everyday

pytestmark = pytest.mark.skipif(not proctable.LINUX, reason="looks into /proc")

NOTES = 'sh -c \'echo $$ >"$1.new"; mv "$1.new" "$1"; exec sleep 1000\' sh "$1"'
QUIET = "</dev/null >/dev/null 2>&1"
WAYS = {
    "nohup": f"nohup {NOTES} {QUIET} &",
    "setsid": f"setsid {NOTES} {QUIET} &",
    "double-fork": f"(setsid {NOTES} {QUIET} &)",
    "no-environment": f'env -i PATH="$PATH" {NOTES} {QUIET} &',
    "closed-output": f"{NOTES} <&- >&- 2>&- &",
    "no-session-no-environment": f'setsid env -i PATH="$PATH" {NOTES} {QUIET} &',
    "no-session-no-parent-no-environment": f'(cd / && setsid env -i PATH="$PATH" {NOTES} {QUIET} &)',
}
EVERYDAY = ("double-fork", "no-session-no-parent-no-environment")
EACH = everyday(*EVERYDAY, ci=[way for way in WAYS if way not in EVERYDAY])
LEAVES_NOTHING_TO_SEE = {"no-session-no-environment", "no-session-no-parent-no-environment"}


def pid_of(note: Path) -> int:
    until(note.exists)
    return int(note.read_text())


def lives(pid: int) -> bool:
    process = proctable.look(pid)
    return process is not None and process.running


def hides(local: LocalWorld, way: str, then: str) -> tuple[Run, int]:
    """A run whose program starts something in this way, waits for that, and then does `then`."""
    note = local.place / "note"
    script = f'{WAYS[way]}\nuntil [ -e "$1" ]; do sleep 0.01; done\n{then}'
    run = local.start(local.command("1-1", ("step", ("sh", "-c", script, "sh", str(note)))))
    return run, pid_of(note)


@pytest.fixture(params=["its own daemon", "a later one"])
def door(request: pytest.FixtureRequest, local: LocalWorld) -> Callable[[], LocalProcesses]:
    """The processes as the daemon sees them that started them, or one that came later."""
    return lambda: local.processes if request.param == "its own daemon" else LocalProcesses(str(local.wake))


@pytest.mark.parametrize("way", EACH)
def test_it_is_ended_with_its_run(local: LocalWorld, door: Callable[[], LocalProcesses], way: str) -> None:
    run, hidden = hides(local, way, "sleep 1000")
    door().kill(run)
    assert not lives(hidden)


@pytest.mark.parametrize("way", EACH)
def test_it_is_the_rest_of_a_run_that_ended(local: LocalWorld, door: Callable[[], LocalProcesses], way: str) -> None:
    run, hidden = hides(local, way, "exit 0")
    until(lambda: local.code(run) == 0)
    processes = door()
    until(lambda: processes.remains(run, local.folder(run.id), ["step"]) is Remains.REST)
    processes.terminate(run)
    until(lambda: not lives(hidden))
    until(lambda: not processes.alive(run))
    until(lambda: not lives(run.pid or 0))


@pytest.mark.parametrize("way", EACH)
def test_it_is_ended_also_when_the_wrapper_was_killed(
    local: LocalWorld, door: Callable[[], LocalProcesses], way: str
) -> None:
    run, hidden = hides(local, way, "sleep 1000")
    processes = door()
    if way in LEAVES_NOTHING_TO_SEE:
        processes.activity(run, local.folder(run.id), str(local.place))  # the daemon looks now and then
    os.kill(run.pid or 0, signal.SIGKILL)
    until(lambda: processes.remains(run, local.folder(run.id), ["step"]) is Remains.STEP)
    processes.kill(run)
    assert not lives(hidden)


def test_an_agent_that_begins_a_session_of_its_own_is_followed_to_its_end(local: LocalWorld) -> None:
    script = 'exec >&- 2>&-; exec setsid sh -c \'until [ -e "$1" ]; do sleep 0.01; done; exit 4\' sh "$1"'
    run = local.start(local.command("1-1", ("step", ("sh", "-c", script, "sh", str(local.place / "go")))))
    until(lambda: local.processes.ending(local.folder(run.id), ["step"]).steps[0].started)
    assert local.remains(run) is Remains.WHOLE
    local.go()
    local.finish(run)
    assert local.code(run) == 4


@pytest.mark.parametrize("down", [False, True], ids=["alone", "with its program"])
def test_the_daemon_is_woken_when_a_wrapper_is_killed(
    local: LocalWorld, door: Callable[[], LocalProcesses], down: bool
) -> None:
    run = local.start(local.command("1-1", ("step", local.waits())))
    until(lambda: local.processes.ending(local.folder(run.id), ["step"]).steps[0].started)
    processes = door()
    assert processes.alive(run)
    local.cut(run, down)
    until((local.wake / run.id).exists)
    left = partial(processes.remains, run, local.folder(run.id), ["step"])
    if down:
        until(lambda: left() is Remains.NOTHING)
    else:
        assert left() is Remains.STEP


def test_the_daemon_is_woken_when_a_program_without_its_wrapper_ends(
    local: LocalWorld, door: Callable[[], LocalProcesses]
) -> None:
    run = local.start(local.command("1-1", ("step", local.waits())))
    until(lambda: local.processes.ending(local.folder(run.id), ["step"]).steps[0].started)
    assert local.processes.alive(run)
    local.cut(run)
    processes = door()
    until(lambda: processes.remains(run, local.folder(run.id), ["step"]) is Remains.STEP)
    until((local.wake / run.id).exists) if processes is local.processes else None
    (local.wake / run.id).unlink(missing_ok=True)
    local.go()
    until((local.wake / run.id).exists)
    until(lambda: processes.remains(run, local.folder(run.id), ["step"]) is Remains.NOTHING)


def test_only_whoever_is_of_the_run_is_taken_for_it(local: LocalWorld, tmp_path: Path) -> None:
    """Somebody who reads a run's output, or stands in its folders, is not of it."""
    import subprocess

    run = local.start(local.command("1-1", ("step", local.waits())))
    until(lambda: local.processes.ending(local.folder(run.id), ["step"]).steps[0].started)
    output = os.path.join(local.folder(run.id), "step.out")
    watcher = subprocess.Popen(["tail", "-f", output], cwd=local.folder(run.id), stdout=subprocess.DEVNULL)
    try:
        local.cut(run)
        until(lambda: local.remains(run) is Remains.STEP)
        local.processes.kill(run)
        assert watcher.poll() is None and not local.processes.alive(run)
    finally:
        watcher.kill()
        watcher.wait()


KILLS = """
import contextlib, os, signal, sys, time
from nobrakes.beads.model import Run, RunKind
from nobrakes.host.runs import forkserver; from nobrakes.host import proctable
from nobrakes.host.runs.processes import LocalProcesses
from nobrakes.host.proctable import become_subreaper
from nobrakes.host.port import Command, Remains, Step
place, way = sys.argv[1:]
if way == "forked by ourselves":
    forkserver.able = lambda: False
assert become_subreaper()
processes = LocalProcesses(place + "/wake")
folder = place + "/runs/1-1"
hides = '(setsid env -i sh -c \\'echo $$ >"$1.new"; mv "$1.new" "$1"; exec sleep 1000\\' sh "$1" </dev/null >/dev/null 2>&1 &)'
script = hides + '; until [ -e "$1" ]; do sleep 0.01; done; kill -9 "$2"'
command = 'exec sh -c "$1" sh "$2" "$PPID"'
def started(name, note):
    step = Step("step", ("sh", "-c", command, "sh", script, note))
    born = processes.start(name, Command(place + "/runs/" + name, place, {"PATH": os.environ["PATH"]}, (step,)))
    return Run(name, 1, RunKind.AGENT, 0.0, pid=born.pid, born=born.mark)
def until(what):
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)
def lives(pid):
    process = proctable.look(pid)
    return process is not None and process.running
try:
    # what git starts for us in the background is ours too, and no run's
    note = place + "/of-git"
    os.system("(setsid env -i sh -c 'echo $$ >" + note + "; exec sleep 1000' </dev/null >/dev/null 2>&1 &)")
    until(lambda: os.path.exists(note) and open(note).read().strip())
    of_git = int(open(note).read())
    waits = Command(place + "/runs/2-1", place, {"PATH": os.environ["PATH"]}, (Step("step", ("sleep", "1000")),))
    other = processes.start("2-1", waits)
    run = started("1-1", place + "/note")
    until(lambda: os.path.exists(place + "/note") and not lives(run.pid))
    hidden = int(open(place + "/note").read())
    assert lives(hidden)
    until(lambda: processes.remains(run, folder, ["step"]) is Remains.REST)
    processes.terminate(run)
    until(lambda: not lives(hidden))
    until(lambda: not processes.alive(run))
    print("ended", lives(of_git), lives(other.pid))
finally:
    for pid in proctable.below(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["forked for us", "forked by ourselves"])
def test_who_hides_in_every_way_and_kills_its_wrapper_at_once_is_ended_and_nobody_else(
    tmp_path: Path, way: str
) -> None:
    import subprocess
    import sys

    (tmp_path / "wake").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path), way], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "ended True True\n", done.stderr
