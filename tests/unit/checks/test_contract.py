"""What a command's ending means. Only pass merges, and only fail is blamed on the bead."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.checks.contract import (
    SETUP_FAILED,
    TAIL,
    Check,
    CheckEnd,
    CheckOutcome,
    Contract,
    TestCounts,
    digest,
    first_error,
    judge,
    overall,
    setup_failed,
    weaker,
)

PASS, FAIL, NOT_RUN, BROKEN = CheckOutcome
TESTS = Check("unit", "make test", "test", timeout=60.0)
LINT = Check("lint", "make lint", "lint")


def counts(passed: int = 0, failed: int = 0, skipped: int = 0) -> TestCounts:
    return TestCounts(passed, failed, skipped)


@pytest.mark.parametrize(
    ("end", "counted", "outcome", "says"),
    [
        (CheckEnd(TESTS, 0), counts(3), PASS, "it passed"),
        (CheckEnd(TESTS, 0), None, NOT_RUN, 'format = "exit"'),
        (CheckEnd(replace(TESTS, min_tests=0), 0), None, NOT_RUN, "how many tests ran"),
        (CheckEnd(LINT, 0), None, PASS, "it passed"),
        (CheckEnd(LINT, 0), counts(0), PASS, "it passed"),
        (
            CheckEnd(TESTS, 0, left_out=7),
            counts(3),
            PASS,
            "it passed; the output was too long: 7 bytes of it were not stored",
        ),
        (CheckEnd(TESTS, None, timed_out=True, left_out=7), None, BROKEN, "stopped; the output was too long: 7 bytes"),
        (CheckEnd(TESTS, 1), counts(2, 1), FAIL, "exit code 1"),
        (CheckEnd(LINT, 2), None, FAIL, "exit code 2"),
        (CheckEnd(TESTS, 128), counts(2, 1), FAIL, "exit code 128"),
        (CheckEnd(TESTS, None, started=False), None, NOT_RUN, "the check was not started"),
        (CheckEnd(TESTS, None, timed_out=True), None, BROKEN, "the check ran longer than 60 s and was stopped"),
        (CheckEnd(TESTS, 0, timed_out=True), counts(3), BROKEN, "the check ran longer than 60 s and was stopped"),
        (CheckEnd(TESTS, None), None, BROKEN, "the check was killed before it ended"),
        (CheckEnd(TESTS, 127), None, BROKEN, "the command was not found: make test"),
        (CheckEnd(TESTS, 126), None, BROKEN, "the command is not executable: make test"),
        (CheckEnd(TESTS, 137), counts(3), BROKEN, "the check was killed by signal 9"),
        (CheckEnd(TESTS, -15), None, BROKEN, "the check was killed by signal 15"),
        (CheckEnd(TESTS, 0), counts(0), NOT_RUN, "the check collected no test"),
        (CheckEnd(TESTS, 5), counts(0), NOT_RUN, "the check collected no test"),
        (CheckEnd(TESTS, 0), counts(2, 1), FAIL, "1 test failed, but the exit code was 0"),
        (CheckEnd(TESTS, 0), counts(skipped=4), NOT_RUN, "only 0 tests ran, fewer than 1"),
        (CheckEnd(replace(TESTS, min_tests=5), 0), counts(4), NOT_RUN, "only 4 tests ran, fewer than 5"),
        (CheckEnd(replace(TESTS, min_tests=5), 0), counts(5), PASS, "it passed"),
        (CheckEnd(replace(TESTS, min_tests=2), 0), None, NOT_RUN, "how many tests ran"),
        (CheckEnd(replace(TESTS, min_tests=0), 0), counts(0), PASS, "it passed"),
        (
            CheckEnd(TESTS, None, started=False, setup=f"b\n{SETUP_FAILED}"),
            None,
            BROKEN,
            "the set-up (`setup`) failed: b",
        ),
        (CheckEnd(TESTS, None, started=False, setup="b"), None, BROKEN, "no checkout could be made for the checks: b"),
        (CheckEnd(TESTS, 0, unmet="it needs node 20"), counts(3), BROKEN, "it needs node 20"),
        (CheckEnd(TESTS, 1, unmet="it needs node 20"), counts(2, 1), BROKEN, "it needs node 20"),
        (CheckEnd(replace(TESTS, format="tap"), 0), None, NOT_RUN, "the output contains no results in the format tap"),
        (CheckEnd(replace(TESTS, format="tap"), 1), None, FAIL, "exit code 1"),
        (CheckEnd(replace(TESTS, format="exit"), 0), None, PASS, "it passed"),
        (CheckEnd(replace(TESTS, report="*.xml"), 0), None, NOT_RUN, "no file that matches *.xml contains results"),
        (
            CheckEnd(replace(TESTS, report="*.xml"), 0, trouble="too many"),
            None,
            NOT_RUN,
            "could not read the check's reports: too many",
        ),
        (CheckEnd(replace(TESTS, directory="app"), 126), None, BROKEN, "the checkout has no folder app"),
    ],
)
def test_each_ending(end: CheckEnd, counted: TestCounts | None, outcome: CheckOutcome, says: str) -> None:
    result = judge(end, counted)
    assert result.outcome is outcome and says in result.reason


some_counts = st.none() | st.builds(TestCounts, *[st.integers(0, 3)] * 3)
some_ends = st.builds(
    CheckEnd,
    st.builds(Check, st.just("c"), st.just("x"), st.sampled_from(["test", "lint"]), min_tests=st.integers(0, 3)),
    st.none() | st.sampled_from([0, 0, 1, 2, 126, 127, 130, 137, -9]),
    started=st.booleans(),
    timed_out=st.booleans(),
)


@given(some_ends, some_counts)
def test_it_passes_only_when_it_ran_to_its_end_with_0_and_no_test_failed(
    end: CheckEnd, counted: TestCounts | None
) -> None:
    if judge(end, counted).outcome is PASS:
        assert end.started and not end.timed_out and end.code == 0
        if end.check.kind == "test" and counted is not None:
            assert counted.failed == 0 and counted.ran >= end.check.min_tests


def test_only_the_end_of_a_long_output_is_kept() -> None:
    assert judge(CheckEnd(TESTS, 1, output="x" * 90_000 + "end"), None).tail.endswith("xend")
    assert len(judge(CheckEnd(TESTS, 1, output="x" * 90_000), None).tail) == TAIL


def test_a_validation_is_as_bad_as_its_worst_check() -> None:
    endings = {PASS: 0, FAIL: 1, BROKEN: 127}
    results = {outcome: judge(CheckEnd(LINT, code), None) for outcome, code in endings.items()}
    results[NOT_RUN] = judge(CheckEnd(LINT, None, started=False), None)
    for order in permutations((BROKEN, NOT_RUN, FAIL, PASS)):
        worst = min(order[:2], key=(BROKEN, NOT_RUN, FAIL, PASS).index)
        assert overall([results[outcome] for outcome in order[:2]]) is worst
    assert overall([]) is NOT_RUN, "no check, no merge"


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (counts(5), counts(5), None),
        (counts(5), counts(9), None),
        (counts(5, skipped=2), counts(7), None),
        (counts(5), counts(4), "the branch has 1 test fewer"),
        (counts(5), counts(4, skipped=1), "the branch skips 1 more test"),
        (counts(5), counts(9, skipped=1), "the branch skips 1 more test"),
        (None, counts(4), None),
        (counts(4), None, None),
    ],
)
def test_fewer_or_more_skipped_tests_prove_less(
    before: TestCounts | None, after: TestCounts | None, says: str | None
) -> None:
    why = weaker(before, after)
    assert why is None if says is None else why is not None and says in why


def test_a_validation_is_keyed_by_all_that_could_change_its_outcome() -> None:
    here = digest({"PATH": "/bin"})
    keys = [
        Contract("", (TESTS,), here).key,
        Contract("make setup", (TESTS,), here).key,
        Contract("", (TESTS,), digest({"PATH": "/opt/bin:/bin"})).key,
        Contract("", (TESTS, LINT), here).key,
        Contract("", (LINT, TESTS), here).key,
        *(Contract("", (replace(TESTS, **change),), here).key for change in (
            {"command": "make tests"}, {"timeout": 61.0}, {"min_tests": 2}, {"kind": "build"}, {"name": "other"},
        )),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert (
        Contract("", (TESTS,), here).key == Contract("", (replace(TESTS),), digest({"PATH": "/bin", "TERM": "vt"})).key
    )


def test_a_contract_is_read_as_it_was_written_and_a_torn_one_is_none() -> None:
    contract = Contract("make setup", (TESTS, LINT), "here")
    assert Contract.parse(contract.text) == contract
    assert Contract.parse(contract.text[:-9]) is None and Contract.parse("") is None


def test_everything_that_a_check_says_of_itself_is_in_the_key() -> None:
    other = {
        "directory": "app",
        "cached": False,
        "retry": 2,
        "tools": (("node", "20"),),
        "parallel": True,
        "report": "*.xml",
        "format": "tap",
        "timeout": 61.0,
        "min_tests": 2,
    }
    keys = {Contract("", (replace(TESTS, **{name: value}),)).key for name, value in other.items()}
    assert len({*keys, Contract("", (TESTS,)).key}) == len(other) + 1


def test_a_contract_is_kept_as_text_with_all_that_its_checks_say() -> None:
    contract = Contract("make", (replace(TESTS, tools=(("node", "20"),), retry=1), LINT), "env")
    assert Contract.parse(contract.text) == contract


def test_a_recorded_pass_stands_for_a_run_only_where_every_check_is_cached() -> None:
    assert Contract("", (TESTS, LINT)).cached
    assert not Contract("", (TESTS, replace(LINT, cached=False))).cached


@pytest.mark.parametrize(
    ("printed", "first"),
    [
        (
            "Collecting x\nERROR: No matching distribution found for x\nERROR: later",
            "ERROR: No matching distribution found",
        ),
        ("npm warn deprecated error-ex\nnpm error code ENOENT\nnpm error syscall open", "npm error code ENOENT"),
        ("0 errors so far\n  sh: 1: poetry: not found\nmore", "sh: 1: poetry: not found"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad\nbye", "ValueError: bad"),
        ("hello\n\nbye\n", "bye"),
        (f"hello\n{SETUP_FAILED} with exit code 3", "hello"),
        (f"{SETUP_FAILED} with exit code 3", f"{SETUP_FAILED} with exit code 3"),
        ("error " * 99, "error " * 9),
        ("", ""),
    ],
)
def test_the_first_error_of_a_setup_is_found(printed: str, first: str) -> None:
    assert first_error(printed).startswith(first) and len(first_error(printed)) <= 200


def test_a_setup_that_failed_is_seen_in_results() -> None:
    failed = judge(CheckEnd(TESTS, None, started=False, setup=f"x: not found\n{SETUP_FAILED}"), None)
    assert setup_failed([judge(CheckEnd(LINT, 0), None), failed]) == failed.reason
    assert setup_failed([judge(CheckEnd(TESTS, None, started=False), None)]) == ""
