"""What a feature does next, from its first turn to its expiry. Each test is a moment, and what is decided in it."""

from dataclasses import replace
from typing import Any

import pytest

from nobrakes.beads.model import Outcome
from nobrakes.config.sections import ForgeSettings
from nobrakes.features import actions, planning
from nobrakes.features.actions import (
    About,
    AgentSpec,
    Answered,
    Ask,
    AskAboutSilentTurn,
    Asked,
    BeginShaper,
    Expire,
    Fail,
    ForgeAction,
    ForgeBoard,
    LastTurn,
    Recover,
    Renew,
    Standing,
    SwitchShaper,
    TakeTurn,
    TellShaper,
    WarnOfExpiry,
)
from nobrakes.features.markers import read
from nobrakes.features.model import Feature, Stage, State
from nobrakes.sessions.model import Session, SessionKind
from nobrakes.sessions.model import State as At

HOUR = 3600.0
CLAUDE, CODEX = AgentSpec("claude", "anthropic"), AgentSpec("codex", "openai")
FEATURE = Feature("login", "Login", "People log in.", session=7, turn_at=0.0)
SESSION = Session(7, SessionKind.PLANNING, "feature:login", "Login", "claude", At.IDLE, begun=True)
STANDING = Standing(FEATURE, SESSION, specs=(CLAUDE, CODEX))
TURN = LastTurn(3, 1, Outcome.COMPLETED, frozenset({"asked"}))


def next_of(standing: Standing, now: float = HOUR, rules: ForgeSettings | None = None) -> ForgeAction | None:
    decided = planning.plan_features(ForgeBoard(now, rules or ForgeSettings(), (standing,)))
    return decided[0] if decided else None


def at(state: At, **data: Any) -> Standing:
    return replace(STANDING, feature=replace(FEATURE, data=data), session=replace(SESSION, state=state))


def test_a_feature_begins_with_the_first_agent_that_can_and_with_the_first_one_if_none_can() -> None:
    new = replace(STANDING, feature=replace(FEATURE, session=None), session=None)
    assert next_of(new) == BeginShaper("login", "claude")
    assert next_of(replace(new, specs=(replace(CLAUDE, trouble="no login"), CODEX))) == BeginShaper("login", "codex")
    assert next_of(replace(new, specs=(replace(CLAUDE, trouble="no login"),))) == BeginShaper("login", "claude")


@pytest.mark.parametrize("state", [State.PAUSED, State.COMPLETED, State.ROLLED_BACK])
def test_who_does_not_go_on_begins_nothing(state: State) -> None:
    one = replace(STANDING, feature=replace(FEATURE, state=state), last=TURN)
    assert next_of(one, now=1000 * HOUR) is None


def test_a_turn_is_dealt_with_by_what_it_did_and_by_its_words_only_where_it_did_nothing() -> None:
    words = read("Which one?\n- a\n- b")
    assert next_of(replace(STANDING, last=replace(TURN, reading=words))) == TakeTurn("login", 3)
    silent = replace(TURN, did=frozenset(), words="Hm.")
    assert next_of(replace(STANDING, last=replace(silent, reading=words))) == TakeTurn("login", 3, words)
    nothing = replace(silent, reading=read("Hm."), context=0.8)
    assert next_of(replace(STANDING, last=nothing)) == AskAboutSilentTurn("login", 3, "Hm.", 0.8)
    answer = next_of(replace(STANDING, last=replace(nothing, spoken_to=True)))
    assert answer == TakeTurn("login", 3, None, 0.8, "Hm."), "a person asked, and that is the answer"


def test_a_numbered_list_without_a_marker_is_steps_only_while_the_plan_is_made() -> None:
    listed = LastTurn(3, 1, Outcome.COMPLETED, words="…", reading=read("The plan:\n1. A table\n2. A form"))
    assert isinstance(next_of(replace(STANDING, last=listed)), TakeTurn)
    reviewed = replace(STANDING, feature=replace(FEATURE, stage=Stage.REVIEW), last=listed)
    assert next_of(reviewed) == AskAboutSilentTurn("login", 3, "…")
    marked = replace(listed, reading=read('[PLAN_STEP id="1" parent="null"]\nA table\n[/PLAN_STEP]'))
    assert isinstance(next_of(replace(reviewed, last=marked)), TakeTurn)


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.KILLED, Outcome.AUTH, Outcome.CRASHED])
def test_words_of_a_turn_that_was_cut_off_decide_nothing(outcome: Outcome) -> None:
    cut_off = replace(TURN, did=frozenset(), outcome=outcome, words="Error", reading=read("[PLAN_READY]"))
    assert next_of(replace(STANDING, last=cut_off)) == TakeTurn("login", 3)


def test_who_waits_for_a_person_costs_nothing_and_who_waits_for_nobody_goes_on_but_not_for_ever() -> None:
    asking_ = at(At.ASKING)
    assert next_of(replace(asking_, questions=2)) is None
    idle = at(At.IDLE, seen=3, nudged=2)
    assert next_of(idle) == TellShaper("login", 3)
    asked = next_of(at(At.IDLE, seen=3, nudged=3))
    assert isinstance(asked, Ask) and asked.about is About.IDLE and asked.form is not None
    assert next_of(replace(at(At.IDLE, nudged=3), asked={About.IDLE: Asked(9)})) is None
    assert next_of(at(At.IDLE, held="budget")) is None
    assert next_of(at(At.RUNNING)) is None and next_of(at(At.READY)) is None


def test_an_answer_to_a_question_of_nobrakes_is_acted_by_whatever_the_feature_is() -> None:
    for state in State:
        one = replace(STANDING, feature=replace(FEATURE, state=state), asked={About.BUDGET: Asked(9, "close")})
        assert next_of(one) == Answered("login", About.BUDGET, "close")


def test_a_conversation_begins_afresh_at_each_stage_after_iterations_and_when_it_is_full() -> None:
    talk = {"stage": "discovery", "round": 0}
    assert isinstance(next_of(at(At.READY, talk=talk)), type(None))
    planned = at(At.READY, talk=talk)
    planned = replace(planned, feature=replace(planned.feature, stage=Stage.PLANNING))
    assert next_of(planned) == Renew("login", "the feature is now in planning")
    assert next_of(replace(planned, session=replace(SESSION, state=At.RUNNING))) is None
    assert next_of(replace(planned, session=replace(SESSION, state=At.READY, begun=False))) is None
    full = next_of(at(At.READY, talk=talk, context=0.95))
    assert isinstance(full, Renew) and "95%" in full.why
    assert next_of(at(At.READY, talk=talk, context=0.94)) is None
    old = at(At.READY, talk={"stage": "review", "round": 1})
    old = replace(old, feature=replace(old.feature, stage=Stage.REVIEW, round=6))
    assert next_of(old) == Renew("login", "5 rounds of plan reviews ended")


def test_a_person_is_told_at_80_percent_once_with_the_turn() -> None:
    assert next_of(replace(STANDING, last=replace(TURN, context=0.8))) == TakeTurn("login", 3, None, 0.8)
    assert next_of(replace(STANDING, last=replace(TURN, context=0.79))) == TakeTurn("login", 3)


def test_the_next_agent_goes_on_where_one_has_no_login_or_gets_nowhere_and_a_person_where_none_is_left() -> None:
    refused = replace(at(At.READY), specs=(replace(CLAUDE, trouble="its login is refused"), CODEX))
    assert next_of(refused) == SwitchShaper("login", "codex", "its login is refused")
    stuck = replace(at(At.STUCK), session=replace(SESSION, state=At.STUCK, detail="crashed"))
    assert next_of(stuck) == SwitchShaper("login", "codex", "crashed")
    assert next_of(replace(stuck, specs=(CLAUDE,))) == Fail("login", "crashed")
    assert next_of(replace(refused, specs=(CLAUDE, CODEX))) is None
    ended = replace(STANDING, session=replace(SESSION, state=At.ENDED))
    assert isinstance(next_of(ended), Fail)


def test_in_error_it_goes_on_when_a_person_said_something_to_it() -> None:
    failed = replace(STANDING, feature=replace(FEATURE, state=State.ERROR))
    assert next_of(failed) is None
    assert next_of(replace(failed, session=replace(SESSION, state=At.READY, waiting=1))) == Recover("login")
    again = replace(failed, session=replace(SESSION, state=At.STUCK, waiting=1))
    assert next_of(again) is None, "what the turn was told that failed is no word of anybody"


def test_a_spent_budget_asks_once_before_the_next_turn_and_more_of_it_may_be_allowed() -> None:
    spent = replace(at(At.READY), spent_usd=10.0)
    asked = next_of(spent)
    assert isinstance(asked, Ask) and asked.about is About.BUDGET and "10.00 USD" in asked.title
    assert next_of(replace(spent, asked={About.BUDGET: Asked(4)})) is None
    assert next_of(replace(at(At.READY, allowed_usd=20.0), spent_usd=10.0)) is None
    assert next_of(spent, rules=ForgeSettings(shaper_usd=0.0)) is None


def test_after_a_day_of_silence_it_expires_two_hours_after_the_warning_and_only_while_it_is_planned() -> None:
    waits = replace(at(At.ASKING), questions=1)
    board = ForgeBoard(HOUR, ForgeSettings(), (waits,))
    assert planning.wake_at(board) == 22 * HOUR
    assert next_of(waits, 22 * HOUR - 1) is None
    assert next_of(waits, 22 * HOUR) == WarnOfExpiry("login", 24 * HOUR)
    warned = replace(waits, feature=replace(waits.feature, data={"warned": 0.0}))
    assert next_of(warned, 23 * HOUR) is None
    assert next_of(warned, 24 * HOUR) == Expire("login")
    assert next_of(replace(warned, session=replace(SESSION, state=At.RUNNING)), 30 * HOUR) is None
    built = replace(warned, feature=replace(FEATURE, stage=Stage.IMPLEMENTATION))
    assert next_of(built, 30 * HOUR) is None
    reviewed = replace(warned, reviewers={8: replace(SESSION, id=8, kind=SessionKind.REVIEW, state=At.READY)})
    assert next_of(reviewed, 30 * HOUR) is None, "it waits for reviewers, and for nobody"
    assert next_of(warned, 30 * HOUR, ForgeSettings(expire_hours=0.0)) is None


def test_a_later_answer_to_an_expired_feature_asks_once_how_it_goes_on() -> None:
    expired = replace(STANDING, feature=replace(FEATURE, state=State.EXPIRED))
    assert next_of(expired) is None
    answered = replace(expired, session=replace(SESSION, waiting=1))
    asked = next_of(answered)
    assert isinstance(asked, Ask) and asked.about is About.EXPIRED and asked.form is not None
    assert [option["label"] for option in asked.form["options"]] == [
        actions.FRESH,
        actions.FROM_BASE,
        actions.VIEW_ONLY,
    ]
    assert asked.form["recommended"] == [actions.FRESH]
    assert next_of(replace(answered, asked={About.EXPIRED: Asked(5)})) is None


def test_what_is_built_takes_no_plan_by_words_and_asks_nothing_but_their_questions() -> None:
    built = replace(STANDING, feature=replace(FEATURE, stage=Stage.IMPLEMENTATION))
    ready = replace(TURN, did=frozenset(), words="[PLAN_READY]", reading=read("[PLAN_READY]"))
    told = TakeTurn("login", 3, None, None, "[PLAN_READY]")
    assert next_of(replace(built, last=ready)) == told, "nothing is refused or asked, which would begin another turn"
    silent = replace(ready, words="", reading=None)
    assert next_of(replace(built, last=silent)) == TakeTurn("login", 3), "nobody waits for its Shaper"
    asks = read('[DECISION_NEEDED priority="1"]\nWhich?\n[/DECISION_NEEDED]\n[PLAN_READY]')
    taken = next_of(replace(built, last=replace(ready, reading=asks)))
    assert isinstance(taken, TakeTurn) and taken.reading is not None
    assert (len(taken.reading.questions), taken.reading.ready) == (1, False)
