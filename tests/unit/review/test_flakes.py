"""When a check counts as flaky, what is asked about again, and what a person may let fail."""

from dataclasses import replace

import pytest

from nobrakes.checks.contract import Check, CheckOutcome, CheckResult, Contract
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.queue import (
    WHOLE,
    Confirm,
    Flake,
    Quarantined,
    as_text,
    carried,
    failures,
    forgiven,
    found,
    is_flaky,
    lines,
    pairs,
    parse,
    wants_confirming,
)

PASS, FAIL, NOT_RUN, BROKEN = CheckOutcome
UNIT = Check("unit", "make test")


def result(outcome: CheckOutcome, *failing: str, name: str = "unit", **more: object) -> CheckResult:
    return CheckResult(name, outcome, "why", 0, 1.0, failing=failing, **more)  # type: ignore[arg-type]


def flake(*tests: str, check: str = "unit", seq: int = 1) -> Flake:
    return Flake(check, tests, "tree", "nb-1", 5.0, seq)


def test_a_tree_that_failed_before_and_passes_now_is_a_flake() -> None:
    failed = failures([result(FAIL, "a"), result(PASS, name="lint")])
    assert found("tree", [result(PASS), result(PASS, name="lint")], failed, False) == [Flake("unit", ("a",), "tree")]
    assert found("tree", [result(FAIL, "a")], failed, False) == []
    assert found("tree", [result(PASS)], [], False) == []


def test_a_tree_that_passed_before_and_fails_now_is_a_flake() -> None:
    assert found("tree", [result(FAIL, "a")], [], True) == [Flake("unit", ("a",), "tree")]
    assert found("tree", [result(BROKEN), result(NOT_RUN)], [], True) == []


def test_a_check_that_passes_when_it_is_repeated_is_a_flake_with_what_failed() -> None:
    twice = (result(FAIL, "a"), result(FAIL, "b"))
    assert found("tree", [result(PASS, repeated=twice)], [], False) == [Flake("unit", ("a", "b"), "tree")]
    unnamed = (result(FAIL, "a"), result(FAIL))
    assert found("tree", [result(PASS, repeated=unnamed)], [], False) == [Flake("unit", (), "tree")]
    assert found("tree", [result(FAIL, repeated=twice)], [], False) == []


def test_what_is_quarantined_fails_and_passes_nothing() -> None:
    let_through = result(PASS, "a", quarantined=("a",))
    assert failures([let_through]) == [{"check": "unit", "tests": ["a"]}]
    assert found("tree", [let_through], failures([result(FAIL, "a")]), True) == []


@pytest.mark.parametrize(
    ("failing", "ledger", "flaky"),
    [
        (("a",), [], False),
        (("a",), [flake("a")], True),
        (("a", "b"), [flake("a"), flake("b")], True),
        (("a", "b"), [flake("a")], False),
        (("b",), [flake()], True),  # nobody knows which test it was
        ((), [flake("a")], True),  # nobody knows which test it is
        (("a",), [flake("a", check="other")], False),
    ],
)
def test_the_ledger_knows_a_failure_by_its_tests_or_by_its_check(
    failing: tuple[str, ...], ledger: list[Flake], flaky: bool
) -> None:
    assert is_flaky(result(FAIL, *failing), ledger) is flaky


def test_a_failure_is_confirmed_where_each_check_that_failed_may_be_a_flake() -> None:
    ledger, solid = [flake()], result(FAIL, name="solid")
    assert wants_confirming(Confirm.FLAKY, [result(FAIL), result(PASS, name="solid")], [UNIT], ledger)
    assert not wants_confirming(Confirm.FLAKY, [result(FAIL), solid], [UNIT], ledger)
    assert not wants_confirming(Confirm.FLAKY, [result(FAIL)], [UNIT], [])
    assert wants_confirming(Confirm.FLAKY, [result(FAIL)], [replace(UNIT, retry=1)], [])
    assert wants_confirming(Confirm.ALWAYS, [solid], [UNIT], [])
    assert not wants_confirming(Confirm.NEVER, [result(FAIL)], [UNIT], ledger)
    assert not wants_confirming(Confirm.ALWAYS, [result(PASS), result(BROKEN)], [UNIT], ledger)


def test_a_run_that_was_red_three_times_in_itself_is_not_repeated() -> None:
    once = result(FAIL)
    assert wants_confirming(Confirm.ALWAYS, [replace(once, repeated=(once,))], [UNIT], [])
    assert not wants_confirming(Confirm.ALWAYS, [replace(once, repeated=(once, once))], [UNIT], [])
    assert wants_confirming(
        Confirm.ALWAYS, [replace(once, repeated=(once, once)), result(FAIL, name="lint")], [UNIT], []
    )


def test_when_a_check_is_repeated_the_passes_stand_but_not_those_of_a_build() -> None:
    build, lint = replace(UNIT, name="build", kind="build"), replace(UNIT, name="lint", kind="lint")
    results = [result(PASS, name="build"), result(PASS, name="lint"), result(FAIL)]
    assert [one.name for one in carried(results, [build, lint, UNIT])] == ["lint"]


def test_the_ledger_counts_checks_and_tests_and_shows_the_last_time() -> None:
    found_lines = lines([flake("a", seq=3), flake("a", "b", seq=2), flake(seq=1)])
    assert [(line.check, line.test, line.times, line.last.seq) for line in found_lines] == [
        ("unit", "a", 2, 3),
        ("unit", "", 1, 1),
        ("unit", "b", 1, 2),
    ]


def test_a_flake_is_read_from_its_event() -> None:
    event = Event(Kind.FLAKED, "nb-1", data={"check": "unit", "tests": ["a"], "tree": "t", "run": "r"}, seq=7, at=5.0)
    assert Flake.of(event) == Flake("unit", ("a",), "t", "nb-1", 5.0, 7)


@pytest.mark.parametrize(
    ("judged", "quarantined", "outcome"),
    [
        (result(FAIL, "a", "b"), {("unit", "a"), ("unit", "b")}, PASS),
        (result(FAIL, "a", "b"), {("unit", "a")}, FAIL),
        (result(FAIL, "a"), {("lint", "a")}, FAIL),
        (result(FAIL), {("unit", "a")}, FAIL),  # the report names nothing
        (result(FAIL), {("unit", WHOLE)}, PASS),
        (result(FAIL, "a"), {("unit", WHOLE)}, PASS),
        (result(BROKEN, "a"), {("unit", "a"), ("unit", WHOLE)}, BROKEN),
        (result(NOT_RUN), {("unit", WHOLE)}, NOT_RUN),
        (result(PASS), {("unit", WHOLE)}, PASS),
    ],
)
def test_only_a_failure_of_what_is_quarantined_is_let_through(
    judged: CheckResult, quarantined: set[tuple[str, str]], outcome: CheckOutcome
) -> None:
    let = forgiven(judged, quarantined)
    assert let.outcome is outcome
    assert ("quarantined" in let.reason) is bool(let.quarantined) is (outcome is PASS and judged.outcome is FAIL)


def test_what_is_quarantined_is_kept_as_text_and_is_a_part_of_the_contract() -> None:
    entries = (Quarantined("unit", "a", "slow", "me", 5.0), Quarantined("lint", WHOLE, "new", "me", 6.0))
    assert set(parse(as_text(entries))) == set(entries)
    assert as_text(()) is None and parse(None) == () and pairs(None) == ()
    quarantined = pairs(as_text(entries))
    assert quarantined == (("lint", ""), ("unit", "a"))
    contract = Contract("", (UNIT,), "env", quarantined)
    assert contract.key != Contract("", (UNIT,), "env").key
    assert Contract.parse(contract.text) == contract
