"""Nothing of a run's tree escapes a stop, whatever it did to detach itself; and nobody else's process is touched."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.beads.model import Run, RunKind
from nobrakes.errors import DiskFull, NobrakesError
from nobrakes.host import proctable
from nobrakes.host.port import Remains
from nobrakes.host.proctable import Tree, members
from nobrakes.host.runs import processes as module
from nobrakes.host.runs import recording, wrapper
from nobrakes.host.runs.processes import LocalProcesses
from tests.contracts.processes.process_worlds import LocalWorld, until

pytestmark = pytest.mark.skipif(not proctable.LINUX, reason="looks into /proc")

DETACHED = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(str(os.getpid()) + "\\n")
        time.sleep(1000)
    os._exit(0)
os.wait()
"""


def lives(pid: int) -> bool:
    process = proctable.look(pid)
    return process is not None and process.running


def pid_in(path: Path) -> int:
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def without_its_wrapper(local: LocalWorld, run: Run) -> None:
    """The run is over, and what keeps its tree together is killed as well."""
    until(lambda: os.path.exists(os.path.join(local.folder(run.id), recording.END)))
    os.kill(run.pid or 0, signal.SIGKILL)
    until(lambda: not lives(run.pid or 0))


def test_kill_ends_a_detached_child_that_ignores_signals(local: LocalWorld) -> None:
    note = local.place / "note"
    stays = local.python(DETACHED + "time.sleep(1000)", str(note))
    run = local.start(local.command("1-1", ("step", stays)))
    pid = pid_in(note)
    local.processes.terminate(run)
    assert lives(pid)
    local.processes.kill(run)
    assert not lives(pid)
    assert not local.processes.alive(run)


def test_a_survivor_of_a_normal_end_is_seen_and_killed(local: LocalWorld) -> None:
    note = local.place / "note"
    run = local.start(local.command("1-1", ("step", local.python(DETACHED, str(note)))))
    pid = pid_in(note)
    without_its_wrapper(local, run)
    assert local.processes.alive(run)
    local.processes.kill(run)
    assert not lives(pid)


def test_a_child_that_hides_its_environment_is_found_by_its_session(local: LocalWorld) -> None:
    note = local.place / "note"
    hides = ("sh", "-c", 'env -i sh -c \'echo $$ >"$1"; exec sleep 1000\' sh "$1" & exit 0', "sh", str(note))
    run = local.start(local.command("1-1", ("step", hides)))
    pid = pid_in(note)
    until(lambda: local.code(run) == 0)
    assert local.processes.alive(run)
    local.processes.kill(run)
    assert not lives(pid)


def test_other_runs_ends_do_not_hide_a_survivor(local: LocalWorld) -> None:
    note = local.place / "note"
    hides = ("sh", "-c", 'env -i sh -c \'echo $$ >"$1"; exec sleep 1000\' sh "$1" & exit 0', "sh", str(note))
    run = local.start(local.command("1-1", ("step", hides)))
    pid = pid_in(note)
    without_its_wrapper(local, run)
    local.finish(local.start(local.command("2-1", ("step", ("true",)))))
    assert local.processes.alive(run)
    local.processes.kill(run)
    assert not lives(pid)


def test_wrappers_do_not_stay_as_zombies(local: LocalWorld) -> None:
    ended = [local.start(local.command(f"1-{number}", ("step", ("true",)))) for number in range(5)]
    for run in ended:
        local.finish(run)
    stopped = local.start(local.command("2-1", ("step", ("sleep", "1000"))))
    local.processes.kill(stopped)
    last = local.start(local.command("3-1", ("step", ("sleep", "1000"))))

    def gone() -> bool:
        local.processes.kill(last)
        return all(proctable.look(run.pid or 0) is None for run in (*ended, stopped, last))

    until(gone)


def test_a_child_that_hides_its_environment_and_session_is_found_by_its_parent(local: LocalWorld) -> None:
    note = local.place / "note"
    hides = ("sh", "-c", 'setsid env -i sh -c \'echo $$ >"$1"; exec sleep 1000\' sh "$1"; true', "sh", str(note))
    run = local.start(local.command("1-1", ("step", hides)))
    pid = pid_in(note)
    local.processes.kill(run)
    assert not lives(pid)


def test_a_stopped_process_hears_terminate(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("sh", "-c", "kill -STOP $$"))))
    tree = Tree("1-1", str(local.wake), run.pid, run.born)
    until(lambda: any(process.state == "T" for process in members(tree)))
    local.processes.terminate(run)
    local.finish(run)


def test_a_full_disk_does_not_keep_a_run_from_being_stopped(local: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str, content: bytes) -> None:
        raise DiskFull(path)

    run = local.start(local.command("1-1", ("step", ("sleep", "1000"))))
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_private", full)
        local.processes.terminate(run)
    local.processes.kill(run)
    assert local.code(run) is None


def test_another_process_with_the_pid_is_never_signalled(local: LocalWorld) -> None:
    stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        process = proctable.look(stranger.pid)
        assert process is not None
        for forged in (f"{proctable.boot()}:{process.started - 1}", f"another-boot:{process.started}", ""):
            run = Run("1-1", 1, RunKind.AGENT, 0.0, pid=stranger.pid, born=forged)
            assert not local.processes.alive(run)
            local.processes.terminate(run)
            local.processes.kill(run)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_the_same_run_of_another_repository_is_left_alone(local: LocalWorld, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = LocalWorld(elsewhere)
    run = local.start(local.command("1-1", ("step", ("sleep", "1000"))))
    theirs = other.start(other.command("1-1", ("step", ("sleep", "1000"))))
    try:
        local.processes.kill(replace(run, pid=None, born=""))
        assert not local.processes.alive(run)
        assert other.processes.alive(theirs)
    finally:
        other.close()


def test_a_run_whose_start_was_not_recorded_is_found_at_once_by_who_started_it(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("sleep", "1000"))))
    unknown = replace(run, pid=None, born="")
    assert local.processes.alive(unknown)
    local.processes.kill(unknown)
    assert not local.processes.alive(run)


def test_a_run_whose_start_was_not_recorded_is_found_by_its_marker(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("sleep", "1000"))))
    unknown = replace(run, pid=None, born="")
    later = LocalProcesses(str(local.wake))  # as after a crash
    until(lambda: later.alive(unknown))
    later.kill(unknown)
    assert not local.processes.alive(run)


def test_a_tree_that_will_not_die_is_an_error_that_names_it(local: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    run = local.start(local.command("1-1", ("step", ("sleep", "1000"))))
    with monkeypatch.context() as patch:
        patch.setattr(module, "KILLING", 0.05)
        patch.setattr(module, "send", lambda process, signum: False)
        with pytest.raises(NobrakesError, match=str(run.pid)):
            local.processes.kill(run)


DAEMON = """
import sys, time
from nobrakes.host.runs.processes import LocalProcesses
from nobrakes.host.port import Command, Step
place, path = sys.argv[1:]
script = 'while [ ! -e "$1" ]; do sleep 0.01; done; echo done; exit 3'
born = LocalProcesses(place + "/wake").start("1-1", Command(
    folder=place + "/runs/1-1", cwd=place, env={"PATH": path},
    steps=(Step("step", ("sh", "-c", script, "sh", place + "/go")),)))
print(born.pid, born.mark, flush=True)
time.sleep(1000)
"""


def test_a_run_outlives_kill_9_of_its_daemon_and_its_end_is_read_by_the_next(local: LocalWorld) -> None:
    argv = [sys.executable, "-c", DAEMON, str(local.place), os.environ["PATH"]]
    first = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    pid, mark = first.stdout.readline().split()
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    run = Run("1-1", 1, RunKind.AGENT, 0.0, pid=int(pid), born=mark)
    local.runs.append(run)
    second = LocalProcesses(str(local.wake))
    assert second.alive(run)
    until(lambda: module._pid_file(local.folder("1-1")) is not None)
    again = second.start("1-1", local.command("1-1", ("step", ("false",))))
    assert (again.pid, again.mark) == (int(pid), mark)
    (local.place / "go").touch()
    until(lambda: not second.alive(run))
    assert local.code(run) == 3
    assert second.output(os.path.join(local.folder("1-1"), "step.out"), 100) == "done\n"
    until(lambda: (local.wake / "1-1").exists())


def test_of_two_wrappers_of_a_run_one_works(local: LocalWorld) -> None:
    """Two daemons that each died just after they had started one."""
    counts = ("sh", "-c", 'echo x >>"$1"', "sh", str(local.place / "count"))
    command = local.command("1-1", ("step", counts))
    os.makedirs(command.folder)
    argv = wrapper.arguments(command, str(local.wake / "1-1"), 0o022)
    both = [subprocess.Popen(argv, env=dict(command.env)) for _ in range(2)]
    assert sorted(one.wait() for one in both) == [0, 75]
    assert (local.place / "count").read_text() == "x\n"


def test_a_start_that_comes_second_answers_with_the_first(local: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first wrapper had not yet written its pid when the second start looked."""
    command = local.command("1-1", ("step", ("sleep", "1000")))
    run = local.start(command)
    until(lambda: module._pid_file(command.folder) is not None)
    looks = iter([None])
    real = module._pid_file
    monkeypatch.setattr(module, "_pid_file", lambda folder: next(looks, real(folder)))
    again = LocalProcesses(str(local.wake)).start("1-1", command)
    assert (again.pid, again.mark) == (run.pid, run.born)


def test_a_start_that_died_before_it_started_anything_is_made_good(local: LocalWorld) -> None:
    command = local.command("1-1", ("step", ("false",)))
    os.makedirs(command.folder)
    run = local.start(command)
    local.finish(run)
    assert local.code(run) == 1


def test_a_survivor_is_seen_also_while_it_begins_another_program(local: LocalWorld) -> None:
    """In the middle of exec a process shows no environment; the sweep must not take it for a stranger."""
    again = "import os, sys; os.path.exists(sys.argv[1]) or os.execv(sys.executable, sys.orig_argv)"
    swaps = "import os, sys\nif os.fork() == 0:\n    os.setsid()\n" + (
        f"    os.execv(sys.executable, [sys.executable, '-S', '-E', '-c', {again!r}, sys.argv[1]])\n"
    )
    run = local.start(local.command("1-1", ("step", local.python(swaps, str(local.place / "go")))))
    without_its_wrapper(local, run)
    for _ in range(40):
        assert local.processes.alive(run)
    local.go()
    local.finish(run)


def test_asking_about_a_living_run_is_cheap(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("sleep", "1000"))))
    begun = time.perf_counter()
    assert all(local.processes.alive(run) for _ in range(100))
    assert (time.perf_counter() - begun) / 100 < 0.001


@pytest.mark.slow
def test_whoever_is_woken_by_an_end_finds_it_ended(local: LocalWorld) -> None:
    for number in range(20):
        run = local.start(local.command(f"1-{number}", ("step", ("true",))))
        until(lambda run=run: (local.wake / run.id).exists())
        assert not local.processes.alive(run)


@pytest.mark.slow
def test_terminate_is_heard_at_any_moment_of_a_run(local: LocalWorld) -> None:
    """Also between a step's fork and its exec. The moments differ; where the run is then, nobody knows."""
    for number in range(40):
        steps = (("step", ("sleep", "1000")), ("later", ("true",)))
        run = local.start(local.command(f"1-{number}", *steps, keep_going=True))
        time.sleep(number * 0.0002)
        local.processes.terminate(run)
        local.finish(run)
        ends = local.processes.ending(local.folder(run.id), ["step", "later"]).steps
        assert [end.code for end in ends] == [None, None]


@pytest.mark.parametrize("ends_first", [False, True])
def test_a_run_whose_folder_was_removed_is_over(local: LocalWorld, ends_first: bool) -> None:
    leaves = local.python(DETACHED.replace("os.wait()", ""), str(local.place / "note"))
    run = local.start(local.command("1-1", ("step", leaves if ends_first else local.runs_until_stopped())))
    if ends_first:
        pid_in(local.place / "note")
    folder = Path(local.folder(run.id))
    until(lambda: (folder / "step.start").exists())
    assert ends_first or local.remains(run) is Remains.WHOLE
    until(lambda: shutil.rmtree(folder, ignore_errors=True) or not folder.exists())
    assert local.remains(run) is Remains.REST  # its wrapper could say nothing any more
    local.processes.kill(run)
    until(lambda: local.remains(run) is Remains.NOTHING)
    assert local.processes.ending(str(folder), ["step"]).steps[0].code is None


HOLDS = """
import os, subprocess, sys
held = bytearray(40 << 20)
if sys.argv[1:]:
    subprocess.run([sys.executable, "-c", open(sys.argv[1]).read()])
os.setsid()
import time; time.sleep(1000)
"""


def test_what_a_run_holds_counts_all_that_it_started_and_nothing_once_it_is_dead(local: LocalWorld) -> None:
    script = local.place / "holds.py"
    script.write_text(HOLDS)
    run = local.start(local.command("1-1", ("step", local.python(HOLDS, str(script)))))
    until(lambda: local.processes.memory_mb(run) > 80)
    assert run.pid is not None
    os.kill(run.pid, signal.SIGKILL)  # its wrapper, alone
    until(lambda: not lives(run.pid or 0))
    until(lambda: local.processes.memory_mb(run) > 80)  # the one below may be about to take its own
    local.processes.kill(run)
    assert local.processes.memory_mb(run) == 0


def test_bubblewrap_is_not_asked_to_end_and_what_runs_inside_is(local: LocalWorld) -> None:
    (local.place / "bwrap").symlink_to("/bin/sh")  # a process has its program's name
    heard, note = local.place / "heard", local.place / "note"
    inside = 'trap "echo >$1; exit 3" TERM; echo $$ >"$2"; while :; do sleep 0.01; done'
    outside = 'trap "exit 9" TERM; sh -c "$1" sh "$2" "$3"; exit $?'
    words = (str(local.place / "bwrap"), "-c", outside, "bwrap", inside, str(heard), str(note))
    run = local.start(local.command("1-1", ("step", words)))
    pid = pid_in(note)
    process = proctable.look(pid)
    assert process is not None and (around := proctable.look(process.parent)) is not None
    assert not proctable.ask_to_end(around)
    local.processes.terminate(run)
    local.finish(run)
    assert heard.exists() and not lives(pid)
