"""A git that does not answer is ended in its time, told with its command, and asked anew afterwards."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from git_worlds import RealWorld, message

from nobrakes.errors import NoAnswer
from nobrakes.git import command_line

Shim = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "SHORT_SECONDS", 0.3)
    monkeypatch.setattr(command_line, "LONG_SECONDS", 0.3)
    monkeypatch.setattr(command_line, "GRACE_SECONDS", 0.3)


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shim:
    """A git on the PATH that runs this before it becomes the real one; where `off` lies beside it, it does not."""

    def make(script: str) -> Path:
        folder = tmp_path / "shim"
        folder.mkdir()
        real = next(p for p in os.environ["PATH"].split(os.pathsep) if os.access(f"{p}/git", os.X_OK))
        text = f'#!/bin/sh\nif [ ! -e {folder}/off ]; then\n{script}\nfi\nexec {real}/git "$@"\n'
        (folder / "git").write_text(text)
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        return folder

    return make


def test_a_command_that_stops_itself_is_ended_and_named(world: RealWorld, shim: Shim, tmp_path: Path) -> None:
    shim(f"echo $$ > {tmp_path}/pid; kill -STOP $$")
    began = time.monotonic()
    with pytest.raises(NoAnswer, match=r"`git rev-parse HEAD` did not answer in 0\.3 seconds and was stopped"):
        command_line.run(["rev-parse", "HEAD"], cwd=str(world.root))
    assert time.monotonic() - began < 5
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_one_that_hears_no_term_is_killed_with_what_it_started(world: RealWorld, shim: Shim, tmp_path: Path) -> None:
    shim(f"trap '' TERM; sleep 600 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(NoAnswer):
        command_line.run(["rev-parse", "HEAD"], cwd=str(world.root))
    child = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while os.path.exists(f"/proc/{child}") and _state(child) != "Z" and time.monotonic() < until:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{child}") or _state(child) == "Z"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return "Z"


def test_a_stream_to_a_file_has_a_time_too(world: RealWorld, shim: Shim, tmp_path: Path) -> None:
    shim("kill -STOP $$")
    with (tmp_path / "pack").open("wb") as pack, pytest.raises(NoAnswer, match="pack-objects"):
        command_line.run(["pack-objects", "--stdout", "--revs"], cwd=str(world.root), stdin=b"HEAD\n", stdout=pack)


def test_a_command_that_neither_reads_nor_ends_is_ended(world: RealWorld, shim: Shim) -> None:
    shim("kill -STOP $$")
    with pytest.raises(NoAnswer):
        command_line.run(["hash-object", "--stdin"], cwd=str(world.root), stdin=b"x" * 60_000)


@pytest.mark.parametrize("which", ["objects", "trees", "transactions"])
def test_a_lasting_process_that_is_stopped_is_dropped_and_asked_again(world: RealWorld, which: str) -> None:
    git = world.git
    main = git.main()

    def ask(number: int) -> None:
        if which == "objects":
            git.objects.content(f"{main}:file{number}")
        elif which == "trees":
            git.place.trees.write(b"", git.place.git_dir, git.place.plumbing)
        else:
            git.pin(f"tests/x{number}", main)

    ask(0)
    talk = (git.objects if which == "objects" else getattr(git.place, which))._git
    pid = talk.process.pid
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(NoAnswer, match="did not answer in"):
        ask(1)
    assert talk.process is None
    ask(2)
    assert talk.process is not None and talk.process.pid != pid


def test_long_questions_and_long_answers_pass_a_full_pipe(world: RealWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "SHORT_SECONDS", 60.0)
    monkeypatch.setattr(command_line, "LONG_SECONDS", 60.0)
    git = world.git
    main = git.main()
    big = os.urandom(3_000_000)
    made = git.commit_files({"big": big}, message())
    assert made is not None
    assert git.read(made, "big") == big
    lines = [f"update refs/nobrakes/tests/{'x' * 150}{n} {main}\n" for n in range(1000)]
    assert git.place.transactions.commit(lines, git.place.git_dir, git.place.plumbing)


def test_only_what_reads_little_has_a_short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "LONG_SECONDS", 600.0)
    assert command_line.seconds_for(["-c", "core.fsync=all", "update-ref", "-d", "x"]) == command_line.SHORT_SECONDS
    assert command_line.seconds_for(["checkout", "-q"]) == command_line.LONG_SECONDS
    assert command_line.seconds_for(["--version"]) == command_line.LONG_SECONDS
