"""Steps that run at the same time, and steps that run only when another one failed."""

import os
import signal
from pathlib import Path

import pytest

from nobrakes.git.port import Argv
from nobrakes.host import proctable
from nobrakes.host.port import Remains, Step
from tests.contracts.processes.process_worlds import LocalWorld, until

LINUX = pytest.mark.skipif(not proctable.LINUX, reason="looks into /proc")


def meets(local: LocalWorld, own: str, other: str, code: int = 0) -> Argv:
    """Ends when the other one has begun: two of these that ran one after the other would never end."""
    script = 'touch "$1"; until [ -e "$2" ]; do sleep 0.01; done; echo "$3"; exit "$4"'
    return ("sh", "-c", script, "sh", str(local.place / own), str(local.place / other), own, str(code))


def codes(local: LocalWorld, run: str, *steps: str) -> list[int | None]:
    return [end.code for end in local.processes.ending(local.folder(run), steps).steps]


def test_neighbours_run_at_the_same_time_with_outputs_of_their_own(local: LocalWorld) -> None:
    steps = (
        Step("before", ("true",)),
        Step("one", meets(local, "1", "2"), join_output=True, beside=True),
        Step("two", meets(local, "2", "1", code=3), join_output=True, beside=True),
        Step("last", ("sh", "-c", f"cat {local.folder('1-1')}/two.exit {local.folder('1-1')}/one.exit")),
    )
    run = local.start(local.command("1-1", *steps, keep_going=True))
    local.finish(run)
    assert codes(local, "1-1", "before", "one", "two", "last") == [0, 0, 3, 0]
    assert Path(local.folder("1-1"), "one.out").read_text() == "1\n"
    assert Path(local.folder("1-1"), "two.out").read_text() == "2\n"
    assert Path(local.folder("1-1"), "last.out").read_text() == "3\n0\n", "what comes after them waits for all"


@pytest.mark.parametrize(
    ("code", "again"), [(0, False), (1, True), (5, True), (126, False), (127, False), (137, False)]
)
def test_a_step_after_another_runs_only_when_that_one_failed(local: LocalWorld, code: int, again: bool) -> None:
    steps = (
        Step("step", ("sh", "-c", f"exit {code}")),
        Step("step@2", ("false",), after="step"),
        Step("step@3", ("true",), after="step@2"),
        Step("step@4", ("true",), after="step@3"),
        Step("last", ("true",)),
    )
    run = local.start(local.command("1-1", *steps, keep_going=True))
    local.finish(run)
    ends = local.processes.ending(local.folder("1-1"), [step.name for step in steps])
    assert [end.started for end in ends.steps] == [True, again, again, False, True]
    assert not ends.cut_off


@pytest.mark.parametrize(("codes_before", "runs"), [((0, 0), True), ((1, 0), True), ((1, 2), False), ((137, 1), False)])
def test_a_step_that_waits_for_a_pass_runs_only_when_one_ended_well(
    local: LocalWorld, codes_before: tuple[int, int], runs: bool
) -> None:
    before = [Step(f"step@{n}", ("sh", "-c", f"exit {code}")) for n, code in enumerate(codes_before)]
    steps = (*before, Step("then", ("true",), when_passed=("step@0", "step@1")), Step("last", ("true",)))
    run = local.start(local.command("1-1", *steps, keep_going=True))
    local.finish(run)
    ends = local.processes.ending(local.folder("1-1"), [step.name for step in steps])
    assert [end.started for end in ends.steps] == [True, True, runs, True]


def test_what_was_killed_beside_others_is_told_as_that(local: LocalWorld) -> None:
    steps = (Step("one", ("sh", "-c", "kill -9 $$"), beside=True), Step("two", ("false",), beside=True))
    run = local.start(local.command("1-1", *steps, keep_going=True))
    local.finish(run)
    assert codes(local, "1-1", "one", "two") == [137, 1]


@pytest.mark.parametrize("beside", [True, False])
def test_a_program_hears_every_signal_wherever_it_runs(local: LocalWorld, beside: bool) -> None:
    """A shell's background commands ignore INT and QUIT, and Python ignores PIPE: a check must not inherit that."""
    text = "import signal as s; print(all(s.getsignal(n) is not s.SIG_IGN for n in (s.SIGINT, s.SIGQUIT)))"
    pipe = Step("pipe", ("sh", "-c", "(yes; echo $? >&2) | true"), join_output=True, beside=beside)
    run = local.start(local.command("1-1", Step("signals", local.python(text), beside=beside), pipe))
    local.finish(run)
    assert Path(local.folder("1-1"), "signals.out").read_text() == "True\n"
    assert Path(local.folder("1-1"), "pipe.out").read_text() == "141\n"


@LINUX
def test_a_stop_ends_all_of_them_and_none_has_an_exit_code(local: LocalWorld) -> None:
    steps = (Step("one", ("sleep", "1000"), beside=True), Step("two", ("sleep", "1000"), beside=True))
    run = local.start(local.command("1-1", *steps, Step("last", ("true",)), keep_going=True))
    until(lambda: all(e.started for e in local.processes.ending(local.folder("1-1"), ["one", "two"]).steps))
    local.processes.terminate(run)
    local.finish(run)
    assert codes(local, "1-1", "one", "two", "last") == [None, None, None]


@LINUX
def test_one_that_lives_on_without_the_wrapper_is_seen_though_another_has_ended(local: LocalWorld) -> None:
    steps = (Step("one", ("sleep", "1000"), beside=True), Step("two", ("sleep", "1000"), beside=True))
    run = local.start(local.command("1-1", *steps, keep_going=True))
    names = ("one", "two")
    until(lambda: all(e.started for e in local.processes.ending(local.folder("1-1"), names).steps))
    until(lambda: Path(local.folder("1-1"), "one.start").stat().st_size > 1)
    line = Path(local.folder("1-1"), "one.start").read_text()
    its_shell = int(line.rpartition(")")[2].split()[1])
    local.cut(run)
    for pid in (its_shell, int(line.split()[0])):  # so that nobody writes its exit code
        os.kill(pid, signal.SIGKILL)
    until(lambda: local.remains(run, *names) is Remains.STEP)
    os.kill(int(Path(local.folder("1-1"), "two.start").read_text().split()[0]), signal.SIGKILL)
    until(lambda: local.remains(run, *names) is not Remains.STEP)


@pytest.mark.parametrize("steps", [(Step("b", ("true",), after="a"),), (Step("a", ("true",), after="a"),)])
def test_a_step_after_one_that_is_not_before_it_is_refused(local: LocalWorld, steps: tuple[Step, ...]) -> None:
    with pytest.raises(ValueError, match="not before it"):
        local.processes.start("1-1", local.command("1-1", *steps))
