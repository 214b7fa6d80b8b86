"""What a validation's results mean for the review that wanted them."""

import pytest

from nobrakes.checks.contract import CheckOutcome, CheckResult
from nobrakes.review import machine
from nobrakes.review.journal import Journal, Step
from nobrakes.review.machine import Fact


def ran(*outcomes: str) -> list[CheckResult]:
    return [CheckResult(f"check{n}", CheckOutcome(one), "", None, 0.0) for n, one in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "fact"),
    [
        (("pass", "pass"), Fact.RAN_GREEN),
        (("pass", "fail"), Fact.RAN_RED),
        (("fail", "broken"), Fact.RAN_UNSURE),
        (("pass", "not-run"), Fact.RAN_UNSURE),
        ((), Fact.RAN_UNSURE),
    ],
)
def test_only_a_pass_is_green_and_only_a_failed_check_is_red(outcomes: tuple[str, ...], fact: Fact) -> None:
    assert machine.run_fact(ran(*outcomes)) is fact


def failed_in(*names: str) -> Journal:
    rows = [{"name": f"check{n}", "outcome": "fail" if f"check{n}" in names else "pass"} for n in range(3)]
    return Journal(Step.VALIDATE_BASE).with_values(results=tuple(rows))


@pytest.mark.parametrize(
    ("main", "is_repair", "fact"),
    [
        (("pass", "pass", "pass"), False, Fact.MAIN_PASSES),
        (("fail", "pass", "pass"), False, Fact.MAIN_RED),
        (("fail", "pass", "pass"), True, Fact.MAIN_PASSES),
        (("pass", "fail", "pass"), False, Fact.MAIN_PASSES),
        (("fail", "fail", "fail"), False, Fact.MAIN_RED),
    ],
)
def test_main_is_to_blame_for_what_fails_there_too(main: tuple[str, ...], is_repair: bool, fact: Fact) -> None:
    assert machine.main_fact(failed_in("check0"), ran(*main), is_repair) is fact


@pytest.mark.parametrize("neither_runs", [False, True])
def test_what_has_to_turn_main_green_does_not_wait_for_a_green_main(neither_runs: bool) -> None:
    fact = Fact.MAIN_RED if neither_runs else Fact.MAIN_PASSES
    scaffolding, repair = failed_in("check0").with_values(is_scaffolding=True), failed_in("check0")
    assert machine.main_fact(scaffolding, ran("fail"), False, neither_runs) is fact
    assert machine.main_fact(repair, ran("fail"), True, neither_runs) is fact


def test_where_nothing_is_known_of_the_work_a_red_main_is_to_blame() -> None:
    assert machine.main_fact(Journal(Step.VALIDATE_BASE), ran("fail"), is_repair=False) is Fact.MAIN_RED


@pytest.mark.parametrize("step", [Step.VALIDATE_REBASED, Step.VALIDATE_BASE, Step.COUNT_BASE, Step.VALIDATE_MAIN])
def test_checks_that_were_edited_meanwhile_decide_nothing(step: Step) -> None:
    journal = Journal(step).with_values(base="m")
    assert machine.outdated(journal, ran("fail"), was_edited=True) is Fact.RAN_OUTDATED
    assert machine.outdated(journal, ran("fail"), was_edited=False) is None


def test_main_that_passed_what_it_was_merged_under_is_good_news() -> None:
    assert machine.outdated(Journal(Step.VALIDATE_MAIN), ran("pass"), was_edited=True) is None
    assert machine.outdated(Journal(Step.VALIDATE_REBASED), ran("pass"), was_edited=True) is Fact.RAN_OUTDATED
