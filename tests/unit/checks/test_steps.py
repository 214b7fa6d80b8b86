"""The steps that a contract's checks become, and what their ends say of each check."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.checks.contract import SETUP_FAILED, Check, CheckOutcome
from nobrakes.checks.worker import steps
from nobrakes.checks.worker.steps import TOOL_SECONDS, Ends, as_steps, seconds_of, setup_argv, steps_of
from nobrakes.host.port import Ending, Reports, StepEnd

PASS, FAIL, NOT_RUN, BROKEN = CheckOutcome
UNIT = Check("unit", "make test", timeout=60.0)
LINT = Check("lint", "make lint", "lint", timeout=10.0)
TYPES = Check("types", "make types", "types", timeout=20.0)


def test_tools_go_first_then_the_command_then_what_repeats_it() -> None:
    unit = replace(UNIT, retry=2, tools=(("node", "20"), ("go", "1.22")))
    steps = steps_of((unit, LINT))
    assert [(step.name, step.after) for step in steps] == [
        ("unit@tool1", ""),
        ("unit@tool2", ""),
        ("unit", ""),
        ("unit@2", "unit"),
        ("unit@3", "unit@2"),
        ("lint", ""),
    ]
    assert steps[0].argv == ("node", "--version") and steps[1].argv == ("go", "version")


def test_neighbours_that_are_parallel_run_together_and_are_repeated_one_by_one() -> None:
    checks = (
        replace(UNIT, parallel=True, retry=1),
        replace(LINT, parallel=True, retry=1, tools=(("node", "20"),)),
        TYPES,
        replace(LINT, name="alone", parallel=True),
    )
    steps = as_steps(checks, lambda argv: ("wrapped", *argv))
    assert [(step.name, step.beside) for step in steps] == [
        ("lint@tool1", False),
        ("unit", True),
        ("lint", True),
        ("unit@2", False),
        ("lint@2", False),
        ("types", False),
        ("alone", False),
    ]
    assert all(step.argv[0] == "wrapped" and step.join_output for step in steps)


def test_each_check_has_its_own_time_and_neighbours_share_theirs() -> None:
    together = (replace(UNIT, parallel=True), replace(LINT, parallel=True))
    assert seconds_of((UNIT, LINT)) == 70 and seconds_of(together) == 60
    assert seconds_of((replace(UNIT, retry=2),)) == 180
    assert seconds_of((replace(UNIT, tools=(("node", "20"),)),)) == 60 + TOOL_SECONDS


class Files:
    """The outputs and reports that a run left."""

    def __init__(self, outputs: dict[str, str], reports: Reports) -> None:
        self.outputs, self.found = outputs, reports

    def output(self, path: str, limit: int) -> str:
        return self.outputs.get(path, "")

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        assert (top, folder, glob, since, keep) == ("/top", "app", "*.xml", 7.0, "/run/unit.reports")
        return self.found


def ends(
    *steps: tuple[str, int | None, str],
    failed: str | None = None,
    overdue: bool = False,
    reports: Reports | None = None,
) -> Ends:
    made = tuple(StepEnd(name, code != -1, None if code == -1 else code, 5.0, name, 7.0) for name, code, _ in steps)
    files = Files({name: said for name, _, said in steps}, reports or Reports())
    return Ends(files, Ending(made, failed, True), "/top", "/run", overdue)  # type: ignore[arg-type]


SKIPPED = -1
GOOD, BAD = "3 passed in 0.1s\n", "FAILED tests/a.py::test_x - no\n1 failed, 2 passed in 0.1s\n"


@pytest.mark.parametrize(
    ("last", "outcome", "reason"),
    [
        ((SKIPPED, ""), FAIL, "exit code 1"),
        ((1, BAD), FAIL, "exit code 1"),
        ((0, GOOD), PASS, "the check passed in run 2, and failed before"),
        ((127, ""), BROKEN, "the command was not found"),
    ],
)
def test_the_last_run_counts_and_those_before_it_are_kept(last: tuple[int, str], outcome: str, reason: str) -> None:
    result = ends(("unit", 1, BAD), ("unit@2", *last)).result(replace(UNIT, retry=1))
    assert result.outcome is outcome and reason in result.reason
    earlier = [again.failing for again in result.repeated]
    assert earlier == ([] if last[0] == SKIPPED else [("tests/a.py::test_x",)])


@pytest.mark.parametrize(
    ("code", "said", "outcome"), [(0, "v20.1", PASS), (0, "v18.2", BROKEN), (127, "", BROKEN), (None, "", BROKEN)]
)
def test_a_tool_that_is_not_as_it_should_be_makes_its_check_broken(code: int, said: str, outcome: str) -> None:
    check = replace(UNIT, tools=(("node", "20"),))
    assert ends(("unit@tool1", code, said), ("unit", 0, GOOD)).result(check).outcome is outcome


def test_what_was_never_reached_is_nobodys_failure_whatever_it_needs() -> None:
    check = replace(UNIT, tools=(("node", "20"),), retry=1)
    none = (("unit@tool1", SKIPPED, ""), ("unit", SKIPPED, ""), ("unit@2", SKIPPED, ""))
    result = ends(*none, failed="the set-up failed").result(check)
    assert result.outcome is BROKEN and result.tail == "the set-up failed"


def test_a_setup_that_failed_is_told_with_its_first_error() -> None:
    said = f"command 2 that prepares the run's folder ended with exit code 3\n$ npm ci\nerror: a\nerror: b\n{SETUP_FAILED} with exit code 3"
    result = ends(("unit", SKIPPED, ""), failed=said).result(UNIT)
    assert result.outcome is BROKEN and result.reason == f"{SETUP_FAILED}: error: a" and result.tail == said
    torn = said.rpartition("\n")[0]
    assert ends(("unit", SKIPPED, ""), failed=torn).result(UNIT).outcome is BROKEN
    assert ends(("unit", SKIPPED, "")).result(UNIT).outcome is NOT_RUN


@pytest.mark.parametrize(
    ("setup", "code", "said"), [("echo a; true", 0, "a\n"), ("exit 3", 3, f"{SETUP_FAILED} with exit code 3\n")]
)
def test_the_setup_says_itself_that_it_failed(tmp_path: Path, setup: str, code: int, said: str) -> None:
    (argv,) = setup_argv(str(tmp_path), setup)
    done = subprocess.run(argv, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, said) and setup_argv(str(tmp_path), "") == ()


def test_reports_are_counted_instead_of_the_output() -> None:
    check = replace(UNIT, report="*.xml", directory="app")
    found = Reports(("<testsuite><testcase name='a'/></testsuite>", "<testsuite><testcase name='b'/></testsuite>"))
    result = ends(("unit", 0, BAD), reports=found).result(check)
    assert result.outcome is PASS and result.counts is not None and result.counts.passed == 2
    assert ends(("unit", 0, GOOD)).result(check).outcome is NOT_RUN
    assert "too much" in ends(("unit", 0, GOOD), reports=Reports(trouble="too much")).result(check).reason


@pytest.mark.parametrize(("code", "outcome"), [(0, NOT_RUN), (1, FAIL), (127, BROKEN)])
def test_what_a_reader_fails_on_is_told_and_never_passes(
    monkeypatch: pytest.MonkeyPatch, code: int, outcome: CheckOutcome
) -> None:
    def fails(told: str, format_: str) -> None:
        raise RecursionError

    monkeypatch.setattr(steps, "count_tests", fails)
    result = ends(("unit", code, GOOD)).result(replace(UNIT, min_tests=0))
    assert result.outcome is outcome and result.counts is None and result.failing == ()
    assert outcome is BROKEN or "cannot read the check's output" in result.reason
    assert ends(("unit", 0, GOOD)).result(replace(UNIT, kind="lint")).outcome is PASS


def test_of_several_that_were_running_only_those_that_ran_so_long_were_late() -> None:
    slow, quick = replace(UNIT, timeout=5.0), replace(LINT, timeout=60.0)
    stopped = ends(("unit", None, ""), ("lint", None, ""), overdue=True)
    assert "ran longer than 5 s" in stopped.result(slow).reason
    assert stopped.result(quick).reason == "the check was killed before it ended"
    alone = ends(("unit", 0, GOOD), ("lint", None, ""), overdue=True)
    assert "ran longer than 60 s" in alone.result(quick).reason
