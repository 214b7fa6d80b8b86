"""Shells are started through the fork server, and as well without it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.errors import NobrakesError
from nobrakes.host import command as host_background
from nobrakes.host import proctable
from nobrakes.host.proctable import Tree, members
from nobrakes.host.runs import forkserver
from nobrakes.host.runs.processes import Spawner
from tests.contracts.processes.process_worlds import LocalWorld, until
from tests.support.sandboxes import needs_sandbox

needs_server = pytest.mark.skipif(not forkserver.able(), reason="there is no fork server on this system")

RECORDS = """
import os, sys
from nobrakes.host.runs.processes import Spawner
from nobrakes.programs import program
child = Spawner().start(program("recorder", "1000", "--", "sh", "-c", "exit 7"), {"PATH": os.environ["PATH"]}, 2).child
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]))
"""

DIES = """
import os, sys
from nobrakes.host import proctable
from nobrakes.host.runs.processes import Spawner
spawner = Spawner()
spawner.start(["/bin/true"], {}, 2)
print(*proctable.below(os.getpid()), flush=True)
os.kill(os.getpid(), 9)
"""


def servers(ready: bool = False) -> list[int]:
    """The fork servers of this process, also those of earlier tests that nobody has let go of; or who waits there."""
    found = [pid for pid in proctable.below(os.getpid()) if forkserver.__file__ in proctable.arguments(pid)]
    name = forkserver.READY.decode() + "\n"
    return [pid for pid in found if (Path(f"/proc/{pid}/comm").read_text() == name) is ready]


@pytest.fixture(params=["forked for us", "forked by ourselves"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "forked by ourselves":
        monkeypatch.setattr(forkserver, "able", lambda: False)
    elif not forkserver.able():
        pytest.skip("there is no fork server on this system")
    return str(request.param)


def test_a_run_has_its_own_environment_and_nothing_of_ours(
    local: LocalWorld, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOT_FOR_RUNS", "1")
    environment = {"PATH": os.environ["PATH"], "ODD": "a\nb\udcff"}
    before = servers()
    run = local.start(local.command("1-1", ("step", ("env",)), env=environment))
    assert bool(set(servers()) - set(before)) is (way == "forked for us")
    local.finish(run)
    said = local.processes.head(os.path.join(local.folder(run.id), "step.out"), 100_000)
    assert b"ODD=a\nb\xff\n" in said
    assert b"NOT_FOR_RUNS" not in said


@pytest.fixture
def background() -> Iterator[None]:
    """As what a shell starts with `&`, or by nohup."""
    kept = {name: signal.signal(name, signal.SIG_IGN) for name in (signal.SIGINT, signal.SIGQUIT)}
    yield
    for name, handler in kept.items():
        signal.signal(name, handler)


def test_a_run_leads_its_session_and_has_three_files_open_and_the_usual_signals(
    local: LocalWorld, way: str, background: None
) -> None:
    shows = ("sh", "-c", 'ls -l /proc/$$/fd; grep SigIgn /proc/$$/status; until [ -e "$1" ]; do sleep 0.01; done')
    run = local.start(local.command("1-1", ("step", (*shows, "sh", str(local.place / "go")))))
    output = os.path.join(local.folder(run.id), "step.out")
    until(lambda: b"SigIgn" in local.processes.head(output, 10_000))
    shell = proctable.look(run.pid or 0)
    assert shell is not None
    assert (shell.parent, shell.session) == (os.getpid(), run.pid)
    said = local.processes.head(output, 10_000).decode()
    assert [line.split()[-3] for line in said.splitlines() if "->" in line] == ["0", "1", "2"]
    ignored = int(said.split("SigIgn:")[1].split()[0], 16)
    assert not any(ignored & 1 << name - 1 for name in forkserver.RESET_SIGNALS)
    local.go()
    local.finish(run)


@needs_server
def test_a_fork_server_that_was_killed_is_replaced(local: LocalWorld) -> None:
    others = set(servers())
    local.finish(local.start(local.command("1-1", ("step", ("true",)))))
    (first,) = set(servers()) - others
    os.kill(first, signal.SIGKILL)
    for name in ("1-2", "1-3"):  # one may still be started by who waited already
        run = local.start(local.command(name, ("step", ("sh", "-c", "exit 3"))))
        local.finish(run)
        assert local.code(run) == 3
    until(lambda: len(set(servers()) - others) == 1)  # whom it has just forked is called as it is, for a moment
    (second,) = set(servers()) - others
    assert second != first


@needs_server
def test_the_next_run_is_what_waits_already_and_if_that_was_killed_it_is_started_all_the_same(
    local: LocalWorld,
) -> None:
    others, server = set(servers(ready=True)), set(servers())
    local.finish(local.start(local.command("1-1", ("step", ("true",)))))
    until(lambda: set(servers(ready=True)) - others)
    (waiting,) = set(servers(ready=True)) - others
    run = local.start(local.command("1-2", ("step", ("true",))))
    assert run.pid == waiting
    local.finish(run)
    until(lambda: set(servers(ready=True)) - others)
    (waiting,) = set(servers(ready=True)) - others
    os.kill(waiting, signal.SIGKILL)
    until(lambda: not set(servers()) - server)
    run = local.start(local.command("1-3", ("step", ("sh", "-c", "exit 3"))))
    local.finish(run)
    assert local.code(run) == 3


@needs_server
@pytest.mark.parametrize("started", [False, True], ids=["before it started the run", "before it said so"])
def test_a_fork_server_that_dies_over_a_request_does_not_start_a_run_twice(
    local: LocalWorld, monkeypatch: pytest.MonkeyPatch, started: bool
) -> None:
    note = local.place / "note"
    spawner = local.processes._spawner  # nowhere else can be seen when it was asked
    ask, times = spawner._ask, []

    def dies(request: bytes, errors: int) -> object:
        times.append(1)
        if len(times) == 1:
            if started:
                ask(request, errors)
                until(note.exists)
            from nobrakes.host.runs.processes import _Gone

            raise _Gone(asked=True)
        return ask(request, errors)

    monkeypatch.setattr(spawner, "_ask", dies)
    run = local.start(local.command("1-1", ("step", ("sh", "-c", 'echo once >>"$1"', "sh", str(note)))))
    local.finish(run)
    assert (note.read_text(), len(times)) == ("once\n", 2)


def test_words_that_are_too_long_are_told_and_the_next_run_starts(local: LocalWorld, way: str) -> None:
    with pytest.raises(NobrakesError, match="cannot start run 1-1: Argument list too long"):
        local.start(local.command("1-1", ("step", ("echo", *["x" * 100_000] * 100))))
    run = local.start(local.command("1-2", ("step", ("true",))))
    local.finish(run)
    assert local.code(run) == 0


@needs_server
def test_a_program_that_is_not_there_is_told_in_the_errors(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("wb") as errors:
        child = Spawner().start(["/nowhere/sh"], {}, errors.fileno()).child
    assert os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]) == 127
    assert (tmp_path / "errors").read_text() == "/nowhere/sh: No such file or directory\n"


def _code(spawner: Spawner, tmp_path: Path, *words: str) -> int:
    """How a program that is started ends; what went wrong is in the file `errors`."""
    with (tmp_path / "errors").open("wb") as errors:
        child = spawner.start(words, {}, errors.fileno()).child
    return os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])


def _altered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str) -> None:
    """A fork server in which something happens at a moment of its own."""
    text = Path(forkserver.__file__).read_text()
    assert text.count(old) == 1
    program = tmp_path / "forkserver.py"
    program.write_text(text.replace(old, new))
    monkeypatch.setattr(forkserver, "__file__", str(program))


@needs_server
@pytest.mark.parametrize("who", ["the server", "who is ready"])
def test_whoever_is_killed_before_a_pid_is_told_the_daemon_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, who: str
) -> None:
    paths = {
        "the server": "        if trouble:\n            line",
        "who is ready": "        line.sendall(ANSWER.pack(os.getp",
    }
    _altered(monkeypatch, tmp_path, paths[who], f"        os.kill(os.getpid(), 9)\n{paths[who]}")
    spawner = Spawner()
    assert [_code(spawner, tmp_path, "/bin/sh", "-c", f"exit {n}") for n in (3, 4, 5)] == [3, 4, 5]


@needs_server
def test_a_fork_that_failed_before_anybody_asked_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    once = f'tmp = {str(tmp_path / "forks")!r}; open(tmp, "a").write("f"); fails = os.path.getsize(tmp) == 2'
    fork = "pid = _LIBC.syscall("
    _altered(
        monkeypatch,
        tmp_path,
        fork,
        f"{once}\n        ctypes.set_errno(11)\n        pid = -1 if fails else _LIBC.syscall(",
    )
    spawner = Spawner()
    assert [_code(spawner, tmp_path, "/bin/sh", "-c", f"exit {n}") for n in (3, 4, 5)] == [3, 4, 5]


@needs_server
def test_where_no_fork_is_to_be_had_that_is_told_until_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    full = tmp_path / "full"
    full.touch()
    fork = "pid = _LIBC.syscall("
    wait = f"ctypes.set_errno(11)\n        pid = -1 if os.path.exists({str(full)!r}) else _LIBC.syscall("
    _altered(monkeypatch, tmp_path, fork, wait)
    spawner = Spawner()
    for _ in range(2):
        with pytest.raises(BlockingIOError):
            _code(spawner, tmp_path, "/bin/true")
    full.unlink()
    assert [_code(spawner, tmp_path, "/bin/sh", "-c", f"exit {n}") for n in (3, 4)] == [3, 4]


@needs_server
def test_who_is_interrupted_over_a_start_can_start_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spawner = Spawner()
    assert _code(spawner, tmp_path, "/bin/true") == 0
    with monkeypatch.context() as patch:

        def interrupted(*_: object) -> int:
            raise KeyboardInterrupt

        patch.setattr(socket, "send_fds", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _code(spawner, tmp_path, "/bin/true")
    assert _code(spawner, tmp_path, "/bin/sh", "-c", "exit 3") == 3


@needs_server
def test_words_that_are_none_are_told_in_the_errors(tmp_path: Path) -> None:
    assert _code(Spawner(), tmp_path, "/bin/echo", "a\0b") == 127
    assert "null byte" in (tmp_path / "errors").read_text()


def test_a_wrapper_is_of_its_run_before_it_can_show_it() -> None:
    born = subprocess.Popen(["sleep", "60"])  # as between its fork and its setsid: no session, no marker
    try:
        process = proctable.look(born.pid)
        assert process is not None
        assert [found.pid for found in members(Tree("1-1", "/wake", born.pid, process.mark))] == [born.pid]
        other = f"{process.mark.rpartition(':')[0]}:{process.started - 1}"
        assert members(Tree("1-1", "/wake", born.pid, other)) == []
    finally:
        born.kill()
        born.wait()


@needs_server
def test_the_fork_server_ends_when_its_daemon_is_killed() -> None:
    died = subprocess.run([sys.executable, "-c", DIES], stdout=subprocess.PIPE, text=True, check=False)
    assert died.returncode == -signal.SIGKILL
    pids = [int(pid) for pid in died.stdout.split()]
    assert pids
    until(lambda: not any(map(host_background.is_alive, pids)))  # where a test made us their parent they stay zombies


@needs_server
@needs_sandbox
def test_our_own_programs_run_where_proc_may_only_be_read() -> None:
    argv = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/proc", "/proc", sys.executable, "-c", RECORDS]
    assert subprocess.run(argv, check=False).returncode == 7
