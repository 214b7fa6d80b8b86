"""Rounds of plan reviews, as a story: who looks, when it is enough, who failed, what it costs, who signs off."""

from collections.abc import Sequence
from typing import Any

import pytest

from nobrakes.config.sections import ForgeSettings
from nobrakes.errors import NotAllowed, UsageError
from nobrakes.features.model import ACCEPT_RISK, Finding, FindingState, PlanReview, PlanVersion, ReviewState, decision
from nobrakes.features.reviewed_plan import (
    DEFAULT_USD,
    End,
    Then,
    Tracker,
    decided_before,
    estimate,
    looks,
    sign_off,
    then,
    tracker,
    warning,
)

RULES = ForgeSettings()
WEB = {"id": "web", "title": "A page", "touches": ["web/page.tsx"]}
API = {"id": "api", "title": "An endpoint", "touches": ["server/api.py"]}
TABLE = {"id": "table", "title": "A table", "touches": ["db/users.sql"]}


def version(number: int, *beads: dict[str, Any]) -> PlanVersion:
    return PlanVersion("f", number, 0.0, "Shaper", "", beads)


def review(
    round_: int, domain: str = "backend", state: ReviewState = ReviewState.DONE, plan: int = 0, at: float = 0.0
) -> PlanReview:
    return PlanReview("f", round_, domain, plan or round_, round_ * 10, state, at)


def finding(number: int, round_: int, state: FindingState = FindingState.OPEN, **more: Any) -> Finding:
    values: dict[str, Any] = {"category": "security", "priority": 1, "issue": "No limit of tries."} | more
    return Finding(
        number, "f", round_, "backend", impact="It breaks.", options=("add one", ACCEPT_RISK), state=state, **values
    )


def seen(reviews: Sequence[PlanReview], findings: Sequence[Finding] = ()) -> Tracker:
    return tracker(RULES, reviews, findings)


def next_of(reviews: Sequence[PlanReview], findings: Sequence[Finding] = (), spent: float = 0.0, **more: Any) -> Then:
    version = more.pop("version", max((one.plan for one in reviews), default=1))
    return then(RULES, seen(reviews, findings), version, spent, more.pop("cap", RULES.review_usd), **more)


# --- who looks -------------------------------------------------------------------------------------------------------


def test_in_the_first_round_every_touched_domain_looks() -> None:
    assert looks(RULES, [version(1, WEB, API)], []) == ("frontend", "backend")
    assert looks(RULES, [version(1, API)], [], files=["Dockerfile"]) == ("backend", "devops")


def test_from_the_second_on_only_those_whose_beads_changed() -> None:
    plans = [version(1, WEB, API), version(2, {**WEB, "title": "A page with a limit"}, API)]
    assert looks(RULES, plans, [review(1, "frontend"), review(1, "backend")]) == ("frontend",)


def test_a_domain_that_the_plan_touches_now_for_the_first_time_looks() -> None:
    plans = [version(1, WEB, API), version(2, WEB, API, TABLE)]
    assert looks(RULES, plans, [review(1, "frontend"), review(1, "backend")]) == ("database",)


def test_a_domain_that_no_bead_touches_any_more_does_not_look() -> None:
    plans = [version(1, WEB, API), version(2, API)]
    done = [review(1, "frontend"), review(1, "backend")]
    assert looks(RULES, plans, done) == ("backend",)  # nothing of it changed, and somebody looks in every round


def test_what_changed_is_measured_by_the_version_that_the_domain_saw_last() -> None:
    changed_web = {**WEB, "title": "Another page"}
    plans = [version(1, WEB, API), version(2, changed_web, API), version(3, changed_web, {**API, "title": "Other"})]
    done = [review(1, "frontend"), review(1, "backend"), review(2, "frontend", ReviewState.FAILED)]
    assert looks(RULES, plans, done) == ("frontend", "backend")  # who failed has not seen it


def test_after_a_clean_round_all_look_again_with_fresh_eyes() -> None:
    assert looks(RULES, [version(1, WEB, API)], [review(1, "frontend", plan=1), review(1, "backend", plan=1)]) == (
        "frontend",
        "backend",
    )


# --- when it is enough -----------------------------------------------------------------------------------------------


def test_a_ready_plan_is_reviewed_until_two_rounds_in_a_row_find_nothing() -> None:
    assert next_of([]) is Then.BEGIN
    assert next_of([review(1, state=ReviewState.RUNNING)]) is Then.WAIT
    assert next_of([review(1)]) is Then.BEGIN
    assert next_of([review(1), review(2, plan=1)]) is Then.SIGN_OFF


def test_what_was_clean_before_the_plan_changed_says_nothing_of_the_plan_as_it_is() -> None:
    clean = [review(1), review(2, plan=1)]
    assert next_of(clean, version=2) is Then.BEGIN
    changed = [*clean, review(3, plan=2)]
    assert (seen(changed).clean, next_of(changed)) == (1, Then.BEGIN)
    assert next_of([*changed, review(4, plan=2)]) is Then.SIGN_OFF
    assert next_of([review(n, plan=1) for n in range(1, 11)], version=2) is Then.SIGN_OFF  # ten are ten


def test_a_round_of_the_changed_plan_in_which_nobody_came_through_leaves_it_unseen() -> None:
    nobody = review(3, state=ReviewState.FAILED, plan=2)
    assert next_of([review(1), review(2, plan=1), nobody]) is Then.BEGIN
    assert next_of([review(1), review(2, plan=1), nobody, review(4, plan=2), review(5, plan=2)]) is Then.SIGN_OFF


def test_findings_wait_for_people_and_begin_the_count_of_clean_rounds_again() -> None:
    rounds = [review(1), review(2)]
    assert next_of(rounds, [finding(1, 2)]) is Then.DECIDE
    decided = [finding(1, 2, FindingState.ANSWERED)]
    assert next_of(rounds, decided) is Then.BEGIN
    assert next_of([*rounds, review(3)], decided) is Then.BEGIN
    assert next_of([*rounds, review(3), review(4, plan=3)], decided) is Then.SIGN_OFF


def test_there_are_ten_rounds_at_most_whatever_they_find() -> None:
    rounds = [review(n) for n in range(1, 11)]
    found = [finding(n, n, FindingState.ANSWERED) for n in range(1, 11)]
    assert next_of(rounds[:9], found[:9]) is Then.BEGIN
    assert next_of(rounds, found) is Then.SIGN_OFF
    assert next_of(rounds, [*found[:9], finding(10, 10)]) is Then.DECIDE


def test_a_reviewer_that_fails_degrades_the_round_and_blocks_nothing() -> None:
    rounds = [review(1, "frontend", ReviewState.FAILED), review(1, "backend")]
    first = seen(rounds).iterations[0]
    assert (first.end, first.failed) == (End.CLEAN, ("frontend",))
    assert next_of(rounds) is Then.BEGIN


def test_a_round_in_which_nobody_came_through_is_neither_clean_nor_a_review() -> None:
    nobody = review(2, state=ReviewState.FAILED)
    after = seen([review(1), nobody])
    assert after.iterations[1].end is End.DEGRADED
    assert (after.done, after.clean, after.degraded) == (1, 1, 1)
    assert next_of([review(1), nobody]) is Then.BEGIN


def test_after_two_such_rounds_a_person_is_asked_and_a_yes_is_good_for_two_more() -> None:
    nobody = [review(n, state=ReviewState.FAILED) for n in range(1, 11)]
    assert next_of(nobody[:2]) is Then.ASK_DEGRADED
    assert next_of(nobody[:2], forgiven=2) is Then.BEGIN
    assert next_of(nobody[:3], forgiven=2) is Then.BEGIN
    assert next_of(nobody[:4], forgiven=2) is Then.ASK_DEGRADED
    assert next_of(nobody) is Then.SIGN_OFF  # no endless loop: as n of ten, with none done


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_no_round_begins_once_the_cap_is_spent_until_a_person_raises_it() -> None:
    assert next_of([review(1)], spent=4.99) is Then.BEGIN
    assert next_of([review(1)], spent=5.0) is Then.ASK_COST
    assert next_of([review(1)], spent=5.0, cap=10.0) is Then.BEGIN
    assert next_of([review(1), review(2, plan=1)], spent=50.0) is Then.SIGN_OFF  # nothing more is to be spent


def test_the_estimate_is_of_the_reviewers_that_came_through_and_never_above_the_cap() -> None:
    first = estimate(RULES, 3, 0, [], 0.0, 5.0)
    assert (first.round_usd, first.all_usd, first.known) == (3 * DEFAULT_USD, 5.0, False)
    later = estimate(RULES, 2, 8, [0.2, 0.4, 0.0], 0.6, 5.0)
    assert (later.round_usd, later.all_usd, later.known) == (pytest.approx(0.6), pytest.approx(1.2), True)
    assert estimate(RULES, 2, 10, [0.2], 9.0, 5.0).all_usd == 0.0


# --- findings --------------------------------------------------------------------------------------------------------


def test_an_option_is_an_answer_and_a_risk_needs_its_reason() -> None:
    assert decision(finding(1, 1), "add one") == (FindingState.ANSWERED, "add one")
    assert decision(finding(1, 1), "Accept the risk: it is behind a login") == (
        FindingState.RISK_ACCEPTED,
        "it is behind a login",
    )
    for empty in ("accept the risk", "accept the risk:  ", "ACCEPT THE RISK - "):
        with pytest.raises(UsageError, match="give a reason"):
            decision(finding(1, 1), empty)


def test_an_accepted_risk_is_not_asked_again_and_an_answered_finding_is() -> None:
    accepted = finding(1, 1, FindingState.RISK_ACCEPTED, bead="a", answer="internal")
    assert decided_before(finding(2, 2, bead="a", issue="  no limit of TRIES "), [accepted]) == accepted
    assert decided_before(finding(2, 2, bead="b"), [accepted]) is None
    assert decided_before(finding(2, 2, bead="a", issue="No index."), [accepted]) is None
    assert decided_before(finding(2, 2, bead="a"), [finding(1, 1, FindingState.ANSWERED, bead="a")]) is None


def test_the_tracker_counts_findings_of_each_round_by_category_and_priority() -> None:
    found = [
        finding(1, 1, FindingState.ANSWERED),
        finding(2, 1, category="performance", priority=3),
        finding(3, 1, FindingState.RISK_ACCEPTED, category="performance", priority=3),
    ]
    one = seen([review(1)], found).iterations[0]
    assert one.categories == {"security": 1, "performance": 2}
    assert one.priorities == {1: 1, 3: 2}
    assert (one.found, one.open, one.accepted) == (3, 1, 1)


# --- signing off -----------------------------------------------------------------------------------------------------


def test_below_ten_rounds_the_risk_is_taken_in_so_many_words() -> None:
    three = seen([review(n) for n in (1, 2, 3)])
    assert warning(three) == "3 of 10 reviews"
    with pytest.raises(NotAllowed, match="only 3 of 10 reviews"):
        sign_off(three, 3, "ada", 5.0, risk=False, reason="")
    kept = sign_off(three, 3, "ada", 5.0, risk=True, reason="")
    assert (kept.version, kept.reviews, kept.most, kept.actor, kept.risk) == (3, 3, 10, "ada", True)


def test_after_ten_rounds_nothing_has_to_be_said() -> None:
    ten = seen([review(n) for n in range(1, 11)])
    assert warning(ten) == ""
    assert not sign_off(ten, 4, "ada", 5.0, risk=True, reason="").risk


def test_open_findings_need_a_reason_which_is_kept() -> None:
    reviews = [review(n) for n in range(1, 11)]
    open_ = seen(reviews, [finding(1, 10)])
    with pytest.raises(NotAllowed, match="1 finding is undecided"):
        sign_off(open_, 4, "ada", 5.0, risk=False, reason="  ")
    kept = sign_off(open_, 4, "ada", 5.0, risk=False, reason=" it is \n a prototype ")
    assert (kept.open, kept.reason) == (1, "it is a prototype")


def test_there_is_nothing_to_sign_before_the_plan_is_ready_or_while_a_round_runs() -> None:
    with pytest.raises(NotAllowed, match="no plan to sign off"):
        sign_off(seen([]), 0, "ada", 5.0, risk=True, reason="x")
    with pytest.raises(NotAllowed, match="round 1 of the plan reviews is still running"):
        sign_off(seen([review(1, state=ReviewState.RUNNING)]), 1, "ada", 5.0, risk=True, reason="x")


def test_the_yes_says_who_did_not_come_through() -> None:
    reviews = [review(1, "frontend", ReviewState.FAILED), review(1), review(2, "frontend", ReviewState.FAILED)]
    assert sign_off(seen(reviews), 1, "ada", 5.0, risk=True, reason="").degraded == ("frontend",)
