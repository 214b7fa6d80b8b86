"""A feature's stages and states: each step is in a row or refused, and nothing but a yes begins to build."""

from dataclasses import replace

import pytest

from nobrakes.errors import NotAllowed
from nobrakes.features.model import PLANNED, STAGES, STATES, Feature, Stage, State, Step, advance

ONE = Feature("windows", "Windows", "Support Windows")


def test_from_an_idea_to_main() -> None:
    one = ONE
    for step in (Step.PROPOSED, Step.PLAN_READY, Step.APPROVED, Step.CHECKPOINT, Step.APPROVED, Step.MERGED):
        stage, state = advance(one, step)
        one = replace(one, stage=stage, state=state)
    assert (one.stage, one.state) == (Stage.DONE, State.COMPLETED)


@pytest.mark.parametrize("stage", sorted(PLANNED))
def test_only_a_yes_begins_to_build(stage: Stage) -> None:
    assert {step for step, after in STAGES[stage].items() if after not in PLANNED} == {Step.APPROVED}


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("state", list(State))
def test_each_step_is_in_a_row_or_refused(stage: Stage, state: State) -> None:
    for step in Step:
        is_in_a_row_or_refused(stage, state, step)


def is_in_a_row_or_refused(stage: Stage, state: State, step: Step) -> None:
    one = replace(ONE, stage=stage, state=state)
    try:
        after = advance(one, step)
    except NotAllowed as refused:
        assert one.id in str(refused)
        return
    assert after == (STAGES[stage].get(step, stage), STATES[state].get(step, state))
    assert state is not State.ROLLED_BACK
    assert after[1] is not State.EXPIRED or stage in PLANNED


def test_what_is_over_only_rolls_back() -> None:
    assert {step for state in (State.COMPLETED, State.ROLLED_BACK) for step in STATES[state]} == {Step.ROLLED_BACK}


@pytest.mark.parametrize(
    ("stage", "state", "holds"),
    [
        (Stage.REVIEW, State.ACTIVE, True),
        (Stage.REVIEW, State.ERROR, True),
        (Stage.REVIEW, State.PAUSED, False),
        (Stage.PLANNING, State.EXPIRED, False),
        (Stage.IMPLEMENTATION, State.ACTIVE, False),
    ],
)
def test_who_has_the_repositorys_turn(stage: Stage, state: State, holds: bool) -> None:
    assert replace(ONE, stage=stage, state=state).has_turn is holds
