"""What the rollback of a feature needs next, moment by moment; and merges in the order in which they are taken back."""

from dataclasses import replace
from typing import Any

import pytest

from nobrakes.beads.model import Attempt, Outcome, Role, Status, handed_back, taken
from nobrakes.beads.proposals import Merged, as_data, is_built, newest_first, reverted_merges
from nobrakes.errors import NotAllowed
from nobrakes.features import model as keys
from nobrakes.features import planning
from nobrakes.features.actions import (
    About,
    Answered,
    Ask,
    Asked,
    DropRollback,
    FinishRollback,
    ForgeAction,
    Rolling,
    TakeBack,
)
from nobrakes.features.model import Stage, State, Step, advance
from nobrakes.git.merge import Hindered, later_work
from tests.unit.features.test_planning import FEATURE, STANDING, TURN, next_of

HELD = planning.ROLLBACK_HELD.format(feature="login")


def decided(status: Status, held: str | None = None, conflicts: bool = False, **more: Any) -> ForgeAction | None:
    feature = replace(FEATURE, state=State.PAUSED, stage=Stage.IMPLEMENTATION)
    return next_of(
        replace(STANDING, feature=feature, last=TURN, rolling=Rolling("nb-1", status, held, conflicts), **more)
    )


@pytest.mark.parametrize(("status", "held"), [(Status.NEEDS_DOER, HELD), (Status.NEEDS_DOER, None)])
def test_what_was_not_handed_in_is_built_and_nothing_else_of_the_feature_is_done(
    status: Status, held: str | None
) -> None:
    assert decided(status, held) == TakeBack("login")


def test_who_works_on_it_or_reviews_it_is_let_work() -> None:
    for status in (Status.NEEDS_REVIEW, Status.REVIEWING, Status.DOING, Status.ESCALATED):
        assert decided(status) is None
    assert decided(Status.NEEDS_DOER, taken("ada", "/w/one")) is None


def test_main_went_on_while_it_was_reviewed_and_it_is_built_again() -> None:
    assert decided(Status.ESCALATED, conflicts=True) == TakeBack("login")
    assert decided(Status.ESCALATED, taken("ada", "/w/one"), conflicts=True) is None, "a person has it in hand"


def test_what_did_not_pass_is_asked_about_once_and_the_answer_goes_first() -> None:
    held = handed_back("ada", "test: 1 failed")
    asked = decided(Status.NEEDS_DOER, held)
    assert isinstance(asked, Ask) and asked.about is About.ROLLBACK and not asked.holds
    assert "1 failed" in asked.detail and "nobrakes take nb-1" in asked.detail and asked.form is not None
    assert [one["label"] for one in asked.form["options"]] == [planning.AGAIN, planning.LEAVE]
    assert asked.form["recommended"] == [planning.AGAIN]
    assert decided(Status.NEEDS_DOER, held, asked={About.ROLLBACK: Asked(4)}) is None
    answer = decided(Status.NEEDS_DOER, held, asked={About.ROLLBACK: Asked(4, "try again")})
    assert answer == Answered("login", About.ROLLBACK, "try again")


def test_it_is_over_with_its_bead_whoever_did_that_and_off_without_it() -> None:
    assert decided(Status.DONE) == FinishRollback("login")
    off = decided(Status.CANCELLED)
    assert isinstance(off, DropRollback) and "somebody cancelled bead nb-1, which rolls the feature back" in off.why
    open_ = {About.ROLLBACK: Asked(4)}
    assert decided(Status.DONE, asked=open_) == FinishRollback("login"), "an open question does not stand before it"
    assert decided(Status.CANCELLED, asked=open_) == off
    assert decided(Status.NEEDS_DOER, asked=open_) is None


@pytest.mark.parametrize("state", [State.PAUSED, State.EXPIRED, State.ERROR])
def test_while_it_is_rolled_back_no_step_makes_it_go_on(state: State) -> None:
    feature = replace(FEATURE, state=state, data={keys.ROLLBACK: {"by": "ada", "bead": "nb-1"}})
    for step in (Step.RESUMED, Step.APPROVED):
        with pytest.raises(NotAllowed, match="bead nb-1 is rolling feature"):
            advance(feature, step)
    assert advance(feature, Step.ROLLED_BACK)[1] is State.ROLLED_BACK


def test_merges_go_the_newest_first_as_main_has_them_and_else_as_they_were_told() -> None:
    one, two, three, gone = (Merged(name, name * 3, "", seq) for seq, name in enumerate("abcd", start=1))
    assert newest_first([one, gone, three, two], ["bbb", "x", "ccc", "aaa"]) == (two, three, one, gone)
    assert newest_first([one, three, two], []) == (three, two, one)


def test_what_a_work_takes_back_is_kept_with_it_and_goes_on_with_who_mends_it_by_hand() -> None:
    merges = (Merged("one", "c1", "b1", 7), Merged("two", "c2", "", 9))
    kept = Attempt(1, "nb-1", 1, Role.PERSON, "ada", 1, "", 0.0, data=as_data(merges))
    mended = replace(kept, id=2, number=2, data={"fork": "b2"})
    assert reverted_merges([kept, mended]) == merges and reverted_merges([mended]) == () and as_data(()) == {}
    built = replace(kept, head="c", outcome=Outcome.COMPLETED, data=as_data(merges, built=True))
    byhand = replace(built, id=2, number=2, data=as_data(merges))
    assert is_built([built]) and not is_built([built, byhand]) and not is_built([])
    assert later_work(None, Hindered(merges[0], ()), "main", ()) == ()  # type: ignore[arg-type]
