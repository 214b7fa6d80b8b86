"""A probe that was killed tells nothing: it is tried again, and nobody goes on as if it had said no."""

from pathlib import Path

import pytest

from nobrakes.errors import MachineShort
from nobrakes.host import versions


def counting(folder: Path, script: str) -> tuple[list[str], Path]:
    count = folder / "count"
    return ["sh", "-c", f"echo x >> {count}; {script}"], count


@pytest.mark.parametrize("killed", ["kill -KILL $$", "kill -TERM $$", "exit 137"])
def test_a_probe_that_is_killed_is_tried_again_and_then_unknown(tmp_path: Path, killed: str) -> None:
    argv, count = counting(tmp_path, killed)
    with pytest.raises(MachineShort, match="cannot tell whether sh works here"):
        versions.probing_trouble(argv)
    assert count.read_text().split() == ["x"] * 3


def test_a_probe_that_hangs_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "PROBING_SECONDS", 0.2)
    with pytest.raises(MachineShort):
        versions.probing_trouble(["sh", "-c", "kill -STOP $$"])


def test_a_probe_that_is_killed_once_answers_the_second_time(tmp_path: Path) -> None:
    argv, _ = counting(tmp_path, f"[ $(wc -l < {tmp_path}/count) -gt 1 ] || kill -KILL $$")
    assert versions.probing_trouble(argv) == ""


def test_a_no_is_a_no(tmp_path: Path) -> None:
    argv, count = counting(tmp_path, "echo 'no permission' >&2; exit 1")
    assert versions.probing_trouble(argv) == "no permission"
    assert count.read_text().split() == ["x"]
    assert versions.probing_trouble(["/nowhere/at/all"]) == "/nowhere/at/all is not installed"


def test_a_fork_server_that_is_stopped_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    from nobrakes.host.runs import processes
    from nobrakes.host.runs.processes import Spawner

    monkeypatch.setattr(processes, "SECONDS", 1)
    spawner = Spawner()
    nothing = os.open(os.devnull, os.O_WRONLY)
    first = spawner.start(["/bin/true"], {}, nothing)
    os.waitpid(first.child.pid, 0)
    server = spawner._leave.peek()[2][1]  # type: ignore[attr-defined]
    os.kill(server.pid, signal.SIGSTOP)
    for _ in range(2):  # one was forked already
        child = spawner.start(["/bin/true"], {}, nothing).child
        assert os.waitpid(child.pid, 0)[1] == 0
    assert server.poll() is not None
    spawner._leave()
    os.close(nothing)
