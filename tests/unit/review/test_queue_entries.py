"""Which open reviews stand on one another, how many there may be, and who lands together."""

from nobrakes.review.journal import Journal, Pace, Rules, Step
from nobrakes.review.queue import Entry, at_once, joined, may_join, to_land


def entry(number: int, base: str, candidate: str, **said: object) -> Entry:
    step = Step.VALIDATE_REBASED
    journal = Journal(step).with_values(base=base, candidate=candidate, contract="now", **said)  # type: ignore[arg-type]
    return Entry(number, f"b{number}", journal)


FIRST, SECOND, THIRD = entry(1, "main", "c1"), entry(2, "c1", "c2"), entry(3, "c2", "c3")


def test_candidates_stand_on_main_or_on_one_another_in_whatever_order_they_were_opened() -> None:
    assert joined("main", [THIRD, FIRST, SECOND], lambda _: "now") == [FIRST, SECOND, THIRD]


def test_who_stands_on_something_that_is_gone_is_not_on_the_train() -> None:
    assert joined("main", [FIRST, THIRD], lambda _: "now") == [FIRST]
    assert joined("elsewhere", [FIRST, SECOND, THIRD], lambda _: "now") == []


def test_when_the_head_has_landed_the_next_one_is_the_head() -> None:
    assert joined("c1", [SECOND, THIRD], lambda _: "now") == [SECOND, THIRD]


def test_of_two_on_the_same_place_one_is_taken() -> None:
    assert joined("main", [FIRST, entry(4, "main", "c4")], lambda _: "now") == [FIRST]


def test_other_checks_or_no_candidate_are_no_place_to_stand_on() -> None:
    assert joined("main", [FIRST, SECOND], lambda _: "later") == []
    assert joined("", [Entry(1, "b1", Journal())], lambda _: "") == []


def test_as_many_reviews_are_open_as_can_be_tried_together() -> None:
    each = Rules(validators=2, every_commit_green=True)
    assert at_once(each, Pace(size=8)) == 2
    assert at_once(Rules(validators=1), Pace(size=8)) == 8
    assert at_once(Rules(validators=3), Pace(size=8)) == 24, "batches on one another"
    assert at_once(Rules(validators=3, is_serial=True), Pace(size=8)) == 1
    assert may_join([FIRST], each, Pace())
    assert not may_join([FIRST, SECOND], each, Pace())


def test_validators_follow_the_cores_that_checks_leave_free() -> None:
    assert [Rules().on(8, used).validators for used in (8.0, 9.5, 4.0, 3.0, 1.0, 0.0)] == [1, 1, 2, 2, 4, 4]
    assert [Rules().on(cores, 1.0).validators for cores in (1, 2, 3, 64)] == [1, 2, 3, 4]


def test_nothing_stands_on_what_may_prove_less_than_before() -> None:
    assert not may_join([entry(1, "main", "c1", is_scaffolding=True)], Rules(validators=4), Pace())


def test_those_up_to_the_tip_land_together_or_none_does() -> None:
    assert to_land([FIRST, SECOND, THIRD], "c2") == [FIRST, SECOND]
    assert to_land([FIRST], "c2") == []
