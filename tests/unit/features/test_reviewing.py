"""What the reviews of a plan need next, as a story on the Forge's board."""

from dataclasses import replace
from typing import Any

from nobrakes.config.sections import ForgeSettings
from nobrakes.features import model as keys
from nobrakes.features import planning
from nobrakes.features.actions import (
    About,
    Ask,
    Asked,
    AskFindings,
    AskSignOff,
    BeginRound,
    CloseRound,
    EndReview,
    ForgeAction,
    ForgeBoard,
    Standing,
)
from nobrakes.features.model import Feature, Finding, FindingState, PlanReview, PlanVersion, ReviewState, Stage, State
from nobrakes.sessions.model import Session, SessionKind
from nobrakes.sessions.model import State as Of

RUNNING, DONE, FAILED = ReviewState.RUNNING, ReviewState.DONE, ReviewState.FAILED
BEADS = ({"id": "a", "title": "A page", "touches": ["web/a.tsx"]}, {"id": "b", "title": "x", "touches": ["b.py"]})


def session(number: int, state: Of, at: float = 0.0, detail: str = "") -> Session:
    kind = SessionKind.PLANNING if number == 1 else SessionKind.CHAT
    return Session(number, kind, "bead:f", "t", "script", state, updated_at=at, detail=detail)


def standing(*reviews: PlanReview, findings: tuple[Finding, ...] = (), **more: Any) -> Standing:
    data = more.pop("data", {})
    last = max((one.round for one in reviews), default=0)
    feature = Feature("f", "Login", "", stage=Stage.REVIEW, session=1, plan=1, round=last, data=data)
    values: dict[str, Any] = {"session": session(1, Of.IDLE), "plans": (PlanVersion("f", 1, 0.0, "", "", BEADS),)}
    return replace(Standing(feature, reviews=reviews, findings=findings), **(values | more))


def next_of(one: Standing, now: float = 0.0, rules: ForgeSettings = ForgeSettings(), **more: Any) -> list[ForgeAction]:  # noqa: B008
    board = ForgeBoard(now, rules, (one,), **more)
    return [*planning.reviewing_ended(board, one)] or planning.plan_reviews(board, one)


def review(round_: int, domain: str, state: ReviewState, of: int = 0) -> PlanReview:
    return PlanReview("f", round_, domain, 1, of or None, state, 0.0)


def finding(number: int, round_: int, priority: int = 2, **more: Any) -> Finding:
    return Finding(number, "f", round_, "backend", "security", priority, f"issue {number}", "i", ("a",), **more)


def test_a_plan_that_is_ready_has_its_reviewers_and_each_round_other_eyes() -> None:
    first = next_of(standing(), rules=ForgeSettings(reviewers=("claude", "codex")))
    assert first == [BeginRound("f", 1, ("frontend", "backend"), {"frontend": "claude", "backend": "codex"})]
    clean = standing(review(1, "frontend", DONE), review(1, "backend", DONE), data={keys.CLOSED_ROUND: 1})
    second = next_of(clean, rules=ForgeSettings(reviewers=("claude", "codex")))
    assert second == [BeginRound("f", 2, ("frontend", "backend"), {"frontend": "codex", "backend": "claude"})]
    assert next_of(standing()) == [
        BeginRound("f", 1, ("frontend", "backend"), dict.fromkeys(("frontend", "backend"), "script"))
    ]


def test_nothing_begins_while_the_plan_is_revised_or_the_feature_rests() -> None:
    assert next_of(standing(data={keys.REVISING: 1})) == []
    one = standing()
    for feature in (replace(one.feature, state=State.PAUSED), replace(one.feature, stage=Stage.PLANNING)):
        assert next_of(replace(one, feature=feature)) == []
    assert next_of(one, paused=True) == []


def test_a_reviewer_is_done_with_its_turn_and_fails_in_six_ways() -> None:
    def ends(state: Of, now: float = 0.0, detail: str = "") -> list[ForgeAction]:
        one = standing(review(1, "backend", RUNNING, 7), reviewers={7: session(7, state, 0.0, detail)})
        return next_of(one, now)

    assert ends(Of.IDLE) == [EndReview("f", 1, "backend", DONE, "")]
    assert ends(Of.RUNNING, 299.0) == []
    assert ends(Of.RUNNING, 300.0) == [EndReview("f", 1, "backend", FAILED, "the reviewer took longer than 5 minutes")]
    assert ends(Of.READY, 1799.0) == []  # it waits for a place or a provider
    assert ends(Of.READY, 1800.0, "busy") == [
        EndReview("f", 1, "backend", FAILED, "the reviewer did not start within 30 minutes: busy")
    ]
    assert ends(Of.STUCK, 0.0, "no login") == [EndReview("f", 1, "backend", FAILED, "no login")]
    assert ends(Of.ASKING) == [EndReview("f", 1, "backend", FAILED, "the reviewer asked a person instead of reviewing")]
    assert ends(Of.ENDED) == [EndReview("f", 1, "backend", FAILED, "the reviewer's session was ended")]
    gone = standing(review(1, "backend", RUNNING, 7))
    assert next_of(gone) == [EndReview("f", 1, "backend", FAILED, "the reviewer's session was ended")]


def test_the_reviewers_of_a_paused_feature_end_and_nothing_follows() -> None:
    one = standing(review(1, "backend", RUNNING, 7), reviewers={7: session(7, Of.IDLE)})
    paused = replace(one, feature=replace(one.feature, state=State.PAUSED))
    assert next_of(paused) == [EndReview("f", 1, "backend", DONE, "")]
    (stopped,) = next_of(replace(paused, halted=frozenset({7})))
    assert isinstance(stopped, EndReview) and stopped.state is FAILED, "who was stopped has not found nothing"
    assert next_of(replace(paused, reviewers={7: session(7, Of.RUNNING)})) == []
    (unbegun,) = next_of(replace(paused, reviewers={7: session(7, Of.READY)}))
    assert unbegun == EndReview(
        "f", 1, "backend", FAILED, "the reviewer had not started when the feature stopped (paused)"
    )
    opened = replace(one, feature=replace(one.feature, stage=Stage.PLANNING))
    (late,) = next_of(opened)
    assert isinstance(late, EndReview) and late.state is FAILED, "it looked at what is no plan any more"


def test_what_a_round_found_is_asked_together_once_its_last_reviewer_ended() -> None:
    found = (finding(1, 1, 3), finding(2, 1, 1), finding(3, 1, 2))
    running = standing(
        review(1, "frontend", DONE),
        review(1, "backend", RUNNING, 7),
        findings=found,
        reviewers={7: session(7, Of.RUNNING)},
    )
    assert next_of(running) == []
    over = standing(review(1, "frontend", DONE), review(1, "backend", DONE), findings=found)
    assert next_of(over) == [AskFindings("f", 1, (2, 3, 1))]
    ended = replace(over, session=session(1, Of.ENDED))
    assert next_of(ended) == []  # nobody would hear the answers: planning says what is wrong


def test_a_question_that_was_closed_unanswered_is_asked_again() -> None:
    asked = finding(1, 1, escalation=5)
    one = standing(review(1, "backend", DONE), findings=(asked,), data={keys.REVISING: 1})
    assert next_of(replace(one, open_questions=frozenset({5}))) == []
    assert next_of(one) == [AskFindings("f", 1, (1,))]


def test_a_decided_round_is_closed_and_the_next_begins_once_the_plan_is_ready_again() -> None:
    answered = (finding(1, 1, state=FindingState.ANSWERED, escalation=5),)
    revising = standing(review(1, "backend", DONE), findings=answered, data={keys.REVISING: 1})
    assert next_of(revising) == [CloseRound("f", 1)]
    closed = {keys.CLOSED_ROUND: 1}
    assert next_of(replace(revising, feature=replace(revising.feature, data={**closed, keys.REVISING: 1}))) == []
    ready = replace(revising, feature=replace(revising.feature, data=closed))
    assert [type(one) for one in next_of(ready)] == [BeginRound]


def test_two_clean_rounds_ask_for_the_sign_off_once() -> None:
    clean = (review(1, "backend", DONE), review(2, "backend", DONE))
    assert next_of(standing(*clean, data={keys.CLOSED_ROUND: 1})) == [CloseRound("f", 2)]
    assert next_of(standing(*clean, data={keys.CLOSED_ROUND: 2})) == [AskSignOff("f", 1)]
    assert next_of(standing(*clean, data={keys.CLOSED_ROUND: 2, keys.SIGN_OFF_ASKED: 1})) == []


def test_after_two_rounds_that_nobody_came_through_a_person_is_asked_once() -> None:
    failed = (review(1, "backend", FAILED), review(2, "backend", FAILED))
    one = standing(*failed, data={keys.CLOSED_ROUND: 2})
    (asked,) = next_of(one)
    assert isinstance(asked, Ask) and asked.about is About.DEGRADED and "backend" in asked.detail
    assert next_of(replace(one, asked={About.DEGRADED: Asked(3)})) == []
    forgiven = replace(one, feature=replace(one.feature, data={keys.CLOSED_ROUND: 2, keys.FORGIVEN: 2}))
    assert [type(each) for each in next_of(forgiven)] == [BeginRound]
    enough = replace(one, feature=replace(one.feature, data={keys.CLOSED_ROUND: 2, keys.ENOUGH: True}))
    assert next_of(enough) == [AskSignOff("f", 1)]


def test_what_the_reviews_may_cost_is_asked_before_more_is_spent() -> None:
    one = standing(review(1, "backend", DONE), data={keys.CLOSED_ROUND: 1}, reviews_usd=5.2)
    (asked,) = next_of(one)
    assert isinstance(asked, Ask) and asked.about is About.REVIEW_BUDGET and "$5.20" in asked.title
    raised = replace(one, feature=replace(one.feature, data={keys.CLOSED_ROUND: 1, keys.REVIEWS_USD: 10.0}))
    assert [type(each) for each in next_of(raised)] == [BeginRound]


def test_a_plan_that_was_opened_again_is_reviewed_whole_and_counted_from_one() -> None:
    old = (review(1, "backend", DONE), review(2, "backend", DONE))
    one = standing(*old, data={keys.CLOSED_ROUND: 2, keys.SINCE: 2})
    (begun,) = next_of(one)
    assert isinstance(begun, BeginRound) and (begun.round, begun.domains) == (3, ("frontend", "backend"))


def test_the_board_wakes_for_who_takes_too_long() -> None:
    one = standing(review(1, "backend", RUNNING, 7), reviewers={7: session(7, Of.RUNNING, 50.0)})
    assert planning.reviewing_wake_at(ForgeBoard(0.0, ForgeSettings(), (one,))) == 350.0
    assert planning.reviewing_wake_at(ForgeBoard(0.0, ForgeSettings(), (standing(),))) is None
    waits = replace(one, reviewers={7: session(7, Of.READY)})
    assert planning.reviewing_wake_at(ForgeBoard(0.0, ForgeSettings(), (waits,))) == 1800.0
    assert planning.reviewing_wake_at(ForgeBoard(9999.0, ForgeSettings(), (waits,), paused=True)) is None, (
        "it waits for the resume"
    )
