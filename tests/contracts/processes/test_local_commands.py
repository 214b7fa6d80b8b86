"""Commands reach their programs byte for byte, with exactly their environment, and their files are private."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nobrakes import programs
from nobrakes.errors import NobrakesError, StoreReadOnly
from nobrakes.host import proctable, watching
from nobrakes.host.port import Step
from tests.contracts.processes.process_worlds import LocalWorld, until

NASTY = (
    "plain", "two words", "", "'", '"', "$(touch PWNED)", "`touch PWNED`", "; touch PWNED", "${1}", "$1", "-n", "--",
    "\\", "line\nbreak", "\n", "*", "~", "&", "|", "> PWNED", "# no", "\t", "é", "\udcff", "\x01\x1b[31m",
)  # fmt: skip

SHOW = "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"


def shown(local: LocalWorld, run: str) -> list[str]:
    with open(os.path.join(local.folder(run), "step.out"), "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")]


def test_nothing_in_a_command_is_read_by_a_shell(local: LocalWorld) -> None:
    place = local.place / "a 'folder' $(touch PWNED)\nwith \"quotes\""
    place.mkdir()
    stdin = place / "-in `touch PWNED`"
    stdin.write_text("from the file")
    step = Step("step", local.python(SHOW, *NASTY), stdin=str(stdin))
    reads = Step("reads", ("cat",), stdin=str(stdin))
    prologue = (("mkdir", "-p", "--", str(place / "-made $(touch PWNED)")),)
    run = local.start(local.command("1-1", step, reads, cwd=str(place / "-made $(touch PWNED)"), prologue=prologue))
    local.finish(run)
    assert local.code(run, "reads") == 0
    assert shown(local, "1-1") == list(NASTY)
    assert local.processes.output(os.path.join(local.folder("1-1"), "reads.out"), 100) == "from the file"
    assert not list(local.place.rglob("PWNED"))
    assert not os.path.exists("/PWNED")


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.binary(max_size=30).filter(lambda b: b"\0" not in b), min_size=1, max_size=15))
def test_any_words_arrive_as_they_are(local: LocalWorld, words: list[bytes]) -> None:
    name = f"1-{len(local.runs)}"
    argv = [os.fsdecode(word) for word in words]
    run = local.start(local.command(name, ("step", ("printf", r"%s\0", "begin", *argv))))
    local.finish(run)
    assert shown(local, name) == ["begin", *argv, ""]


def test_the_environment_is_given_not_inherited(local: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "leaked")
    wanted = {"PATH": os.environ["PATH"], "A": "two words\nand a line", "B": "", "OLDPWD": "/never"}
    run = local.start(local.command("1-1", ("step", ("env", "-0")), env=wanted))
    local.finish(run)
    found = dict(entry.split("=", 1) for entry in shown(local, "1-1") if entry)
    del wanted["OLDPWD"]
    expected = {**wanted, "NOBRAKES_RUN": "1-1", "NOBRAKES_WAKE": str(local.wake), "PWD": str(local.place)}
    assert found == expected


def test_standard_input_is_empty_without_a_file(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("cat",))))
    local.finish(run)
    assert local.code(run) == 0


def test_the_cpu_of_all_steps_is_told(local: LocalWorld) -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    run = local.start(local.command("1-1", ("a", local.python(burn)), ("b", local.python(burn)), ("c", ("true",))))
    local.finish(run)
    assert 0.35 < local.processes.ending(local.folder("1-1"), ["a", "b", "c"]).cpu < 5
    assert local.processes.ending(local.folder("no-such-run"), ["a"]).cpu == 0.0


@pytest.mark.parametrize(
    ("argv", "code"),
    [(("sh", "-c", "kill -KILL $$"), 137), (("sh", "-c", "kill -TERM $$"), 143), (("/no-such-program",), 127)],
)
def test_ends_that_are_not_exits(local: LocalWorld, argv: tuple[str, ...], code: int) -> None:
    run = local.start(local.command("1-1", ("step", argv)))
    local.finish(run)
    assert local.code(run) == code


def test_a_step_that_cannot_be_given_its_input_is_broken_not_failed(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", Step("step", ("true",), stdin=str(local.place / "missing"))))
    local.finish(run)
    assert local.code(run) == 126


def test_a_missing_folder_is_a_failed_prologue(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("true",)), cwd=str(local.place / "missing")))
    local.finish(run)
    end = local.processes.ending(local.folder("1-1"), ["step"])
    assert not end.steps[0].started
    assert "the run's folder is missing" in (end.prologue_failed or "")


def test_a_step_called_like_the_prologue_is_a_step(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("prologue", ("false",)), prologue=(("true",),)))
    local.finish(run)
    end = local.processes.ending(local.folder("1-1"), ["prologue"])
    assert (end.steps[0].code, end.prologue_failed) == (1, None)


def test_a_program_of_ours_needs_no_start_and_leaves_nothing_behind(local: LocalWorld) -> None:
    """It is a fork of the wrapper: it changes its folder, environment and umask, and the wrapper's stay."""
    note = local.place / "note"
    tells = programs.program(
        "recorder", str(local.place / "out"), str(note), "1000000", "--", *local.python(SHOW, *NASTY)
    )
    shows = ("sh", "-c", "tr '\\0' ' ' </proc/$PPID/cmdline | tr -s ' '; echo; cat /proc/$PPID/comm")
    run = local.start(
        local.command(
            "1-1",
            ("step", ("sh", "-c", "echo ${LEFT-nothing}; pwd; umask")),
            prologue=(tells, programs.program("recorder", "1000", "--", *shows)),
        )
    )
    local.finish(run)
    assert [os.fsdecode(word) for word in (local.place / "out").read_bytes().split(b"\0")] == list(NASTY)
    said = local.processes.output(os.path.join(local.folder(run.id), "_prologue.err"), 1000)
    assert said.startswith(f"{' '.join(programs.program('recorder', '1000', '--', 'sh'))} ") and "\nrecorder\n" in said
    assert shown(local, "1-1")[0].split() == ["nothing", str(local.place), f"{_umask():04o}"]
    assert not list(local.place.rglob("PWNED"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(("argv", "code"), [(("sh", "-c", "exit 7"), 7), (("/nowhere/program",), 127)])
def test_a_program_of_ours_that_fails_says_so(local: LocalWorld, argv: tuple[str, ...], code: int) -> None:
    ours = programs.program("recorder", "1000", "--", *argv)
    run = local.start(local.command("1-1", ("step", ("true",)), prologue=(ours,)))
    local.finish(run)
    end = local.processes.ending(local.folder("1-1"), ["step"])
    assert not end.steps[0].started and f"{code}" in (end.prologue_failed or "")


def test_a_stop_while_the_folder_is_prepared_is_told_as_that(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("true",)), prologue=(("sleep", "1000"),)))
    started = os.path.join(local.folder("1-1"), "_prologue.start")
    until(lambda: os.path.exists(started))
    local.processes.kill(run)
    end = local.processes.ending(local.folder("1-1"), ["step"])
    assert end.prologue_failed == "the run was stopped while its folder was being prepared"


def test_huge_output_is_whole_and_its_tail_is_cheap(local: LocalWorld) -> None:
    floods = ("sh", "-c", "head -c 50000000 /dev/zero; echo end")
    run = local.start(local.command("1-1", ("step", floods)))
    local.finish(run)
    path = os.path.join(local.folder("1-1"), "step.out")
    assert os.path.getsize(path) == 50_000_004
    assert local.processes.output(path, 4) == "end\n"
    assert local.processes.head(path, 3) == local.processes.output(path, 1000)[:3].encode()
    assert local.processes.head(path, 3, 2) == local.processes.output(path, 1000)[2:5].encode()
    assert local.processes.head(path + ".not-there", 3) == b""


def test_files_are_written_before_anything_runs_and_nobody_else_reads_them(local: LocalWorld) -> None:
    files = {"prompt.md": b"do it", "home/settings.json": b"{}"}
    prompt = os.path.join(local.folder("1-1"), "prompt.md")
    run = local.start(local.command("1-1", Step("step", ("cat",), stdin=prompt), files=files))
    local.finish(run)
    assert local.processes.output(os.path.join(local.folder("1-1"), "step.out"), 100) == "do it"
    for path in [Path(local.folder("1-1")), *Path(local.folder("1-1")).rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_programs_keep_the_human_umask(local: LocalWorld) -> None:
    run = local.start(local.command("1-1", ("step", ("sh", "-c", "umask"))))
    local.finish(run)
    mask = os.umask(0)
    os.umask(mask)
    said = local.processes.output(os.path.join(local.folder("1-1"), "step.out"), 100)
    assert int(said, 8) == mask


def test_a_broken_pipe_ends_programs_as_usual(local: LocalWorld) -> None:
    """Python ignores SIGPIPE, and its children would inherit that."""
    run = local.start(local.command("1-1", ("step", ("sh", "-c", "(yes; echo $? >&2) | true"))))
    local.finish(run)
    assert local.processes.output(os.path.join(local.folder("1-1"), "step.err"), 100) == "141\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks into /proc")
def test_open_files_of_the_daemon_are_not_inherited(local: LocalWorld) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        run = local.start(local.command("1-1", ("step", ("sh", "-c", "ls /proc/$$/fd"))))
        local.finish(run)
    finally:
        os.close(reading)
        os.close(writing)
    said = local.processes.output(os.path.join(local.folder("1-1"), "step.out"), 100)
    assert said.split() == ["0", "1", "2"]


@pytest.mark.skipif(not proctable.LINUX, reason="waits by inotify")
def test_a_run_that_leaves_something_behind_wakes_the_daemon_as_well(local: LocalWorld) -> None:
    watcher = watching.Inotify()
    try:
        watcher.add(str(local.wake), watching.CLOSE_WRITE)  # what the daemon waits for
        local.start(local.command("1-1", ("step", local.leaves_something_behind())))
        seen: list[str] = []
        until(lambda: seen.extend(name for _, _, name in watcher.read()) or "1-1" in seen)
    finally:
        watcher.close()


def test_the_end_of_a_run_wakes_the_daemon(local: LocalWorld) -> None:
    local.start(local.command("1-1", ("step", ("false",))))
    until(lambda: (local.wake / "1-1").exists())


def test_a_run_ends_whether_or_not_somebody_can_be_woken(local: LocalWorld) -> None:
    local.wake.rmdir()
    run = local.start(local.command("1-1", ("step", ("true",))))
    local.finish(run)
    assert local.code(run) == 0


@pytest.mark.parametrize("change", [{"cwd": "relative"}, {"files": {"../x": b""}}, {"prologue": ((),)}])
def test_a_command_that_makes_no_sense_is_refused(local: LocalWorld, change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        local.processes.start("1-1", local.command("1-1", ("step", ("true",)), **change))
    with pytest.raises(ValueError):
        local.processes.start("1-1", local.command("1-1", ("a/b", ("true",))))
    assert not os.path.exists(local.folder("1-1"))


def test_a_command_line_that_is_too_long_is_told(local: LocalWorld) -> None:
    with pytest.raises(NobrakesError, match="too long") as caught:
        local.processes.start("1-1", local.command("1-1", ("step", ("echo", "x" * 3_000_000))))
    assert "file" in caught.value.hint


def test_a_folder_that_cannot_be_written_is_told(local: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    os.makedirs(local.place / "runs", mode=0o500)
    if os.geteuid() == 0:  # root may write everywhere, so the file system has to say no

        def refused(path: str, *_: object, **__: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

        monkeypatch.setattr(os, "mkdir", refused)
    with pytest.raises(StoreReadOnly):
        local.processes.start("1-1", local.command("1-1", ("step", ("true",))))
