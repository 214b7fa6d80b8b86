"""The trial of main: what a run of its checks means, and who may start, be reviewed, and land meanwhile."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, ReadyBead, Status
from nobrakes.checks.contract import Check, CheckOutcome, CheckResult, TestCounts, Verdict
from nobrakes.checks.proof import advice, is_empty, is_unsure, missing_program, passed
from nobrakes.daemon import deciders
from nobrakes.daemon.deciders import is_idle
from nobrakes.daemon.model import Board, Limits, StartAgent, StartReview, Starts
from nobrakes.review.main_monitor import Watch
from nobrakes.review.worker.main_checks import Trial, said_of
from nobrakes.store import open_memory

TESTS, LINT = Check("test", "pytest"), Check("lint", "ruff", "lint")
NONE, ONE = TestCounts(0, 0, 0), TestCounts(3, 1, 0)


def result(outcome: str, code: int | None = 1, counts: TestCounts | None = None, name: str = "test") -> CheckResult:
    return CheckResult(name, CheckOutcome(outcome), "why", code, 1.5, counts)


@pytest.mark.parametrize(
    ("results", "unsure", "empty", "said"),
    [
        ([result("fail", counts=ONE)], False, False, "--type repair --no-tests"),
        ([result("fail")], True, False, "install its test runner"),
        ([result("fail", name="lint")], False, False, "--type repair --no-tests"),
        ([result("fail"), result("fail", name="lint")], False, False, "install its test runner"),
        ([result("broken", 127)], True, False, "install what the command needs"),
        ([result("broken", None)], True, False, "`timeout_minutes`"),
        ([result("not-run", 0)], True, False, "`format`"),
        ([result("not-run", 5, NONE)], True, True, "min_tests = 0"),
        ([result("not-run", 5, NONE), result("fail", name="lint")], True, False, "min_tests = 0"),
    ],
)
def test_what_a_main_that_did_not_pass_means(results: list[CheckResult], unsure: bool, empty: bool, said: str) -> None:
    assert (is_unsure(results, [TESTS, LINT]), is_empty(results)) == (unsure, empty)
    assert said in advice(results, [TESTS, LINT])[0]


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ("sh: 1: mvn: not found\n", "`mvn` is not installed: install Maven, or"),
        (
            "bash: line 1: pnpm: command not found",
            "`pnpm` is not installed: install the program (`npm install -g pnpm`), or",
        ),
        (
            "/usr/bin/python3: No module named tox",
            "`tox` is not installed: install the program (`pip install tox`), or",
        ),
        ("x\nsh: own-runner: not found", "`own-runner` is not installed: install the program, or"),
        ("sh: mvn: not found\nBUILD FAILED", ""),
        ("ModuleNotFoundError: No module named 'shop'", ""),
    ],
)
def test_a_missing_program_is_one_line_with_how_to_get_it(tail: str, said: str) -> None:
    found = replace(result("broken", 127), tail=tail)
    assert missing_program(found).startswith(said) and bool(missing_program(found)) == bool(said)
    assert bool(advice([found], [TESTS])) != bool(said), "it is said once"
    assert missing_program(replace(found, code=0)) == "" == missing_program(replace(found, counts=ONE))
    assert bool(missing_program(replace(found, code=1))) == ("No module named tox" in tail), "what a shell ends with"


def test_an_exit_code_alone_tells_of_main() -> None:
    assert not is_unsure([result("fail")], [replace(TESTS, format="exit")])


def test_a_green_main_is_told_with_its_tests_and_time() -> None:
    assert passed([result("pass", 0, ONE), result("pass", 0, name="lint")]) == "main passes its checks (4 tests, 3.0 s)"


def bead(name: str, type_: str, status: Status = Status.NEEDS_DOER) -> ReadyBead:
    return ReadyBead(name, status, type_, 2, 0)


def test_nobody_starts_before_main_was_tried() -> None:
    board = Board(0.0, Limits(), ready=(bead("a", "task"),))
    assert any(isinstance(action, StartAgent) for action in deciders.plan_assignments(board))
    untried = replace(board, limits=Limits(starts=Starts.UNTRIED))
    assert deciders.plan_assignments(untried) == []
    assert not is_idle(untried)


def test_on_a_red_main_repairs_alone_are_reviewed() -> None:
    waiting = (bead("a", "task", Status.NEEDS_REVIEW), bead("b", "repair", Status.NEEDS_REVIEW))
    board = Board(0.0, Limits(), to_review=waiting, frozen=True)
    assert deciders.reviews(board) == [StartReview("b")]
    assert not is_idle(board) and is_idle(replace(board, to_review=waiting[:1]))


def test_the_board_holds_only_those_that_may_start() -> None:
    store = open_memory()
    many = [Bead(f"t{number}", "T", priority=0, status=Status.NEEDS_DOER) for number in range(100)]
    mend = Bead("mend", "M", BeadType.REPAIR, priority=4, status=Status.NEEDS_DOER)
    begin = Bead("begin", "B", scaffolding=True, priority=4, status=Status.NEEDS_DOER)
    store.put([*many, mend, begin], [], "me")

    def ready(starts: Starts) -> list[str]:
        return sorted(one.id for one in store.board(Limits(starts=starts)).ready)

    assert ready(Starts.REPAIRS) == ["mend"]
    assert ready(Starts.SCAFFOLDING) == ["begin", "mend"]
    assert len(ready(Starts.OPEN)) == 64 == len(ready(Starts.UNTRIED))


def test_a_main_that_moves_faster_than_its_first_check_lets_agents_start_on_what_it_still_holds() -> None:
    main, held = ["a"], {("a", "b"), ("a", "c")}
    git = SimpleNamespace(
        main=lambda: main[0], tree=lambda commit: commit, contains=lambda one, other: (one, other) in held
    )
    store = SimpleNamespace(setting=lambda key: None)
    ports = SimpleNamespace(
        config=lambda: SimpleNamespace(checks=("test",)),
        git=git,
        store=store,
        notifier=SimpleNamespace(tell=lambda notice: None),
    )
    monitor = SimpleNamespace(
        poll_again=lambda: None,
        opened=lambda: None,
        watch=Watch(),
        told_waiting=lambda *_: None,
    )
    validation = SimpleNamespace(recorded=lambda tree: None, contract=lambda: "")
    trial: Any = Trial(ports, validation, monitor)  # type: ignore[arg-type]
    assert trial.starts() is Starts.UNTRIED
    main[0] = "b"
    trial.heard("a", (), Verdict.GREEN)
    main[0] = "elsewhere"
    assert trial.starts() is Starts.UNTRIED
    main[0] = "c"
    assert trial.starts() is Starts.OPEN


@pytest.mark.parametrize(
    ("tail", "counts", "said"),
    [
        (
            "E   ModuleNotFoundError: No module named 'shop'\n=== summary ===\nERROR test.py\n1 error in 1.63s",
            NONE,
            "test: why (E   ModuleNotFoundError: No module named 'shop')",
        ),
        ("one\ntwo\n", None, "test: why (two)"),
        ("one\ntwo\n", ONE, "test: why"),
        ("", None, "test: why"),
    ],
)
def test_the_line_that_names_an_error_stands_beside_a_check(tail: str, counts: TestCounts | None, said: str) -> None:
    assert said_of([replace(result("fail", counts=counts), tail=tail)]) == [said]
