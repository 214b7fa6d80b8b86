"""Whether people ask for the same change twice: by thread, by place, by the very words of a review."""

from dataclasses import replace

import pytest

from nobrakes.requests import model as requests_model
from nobrakes.requests.model import PullRequest, PullState, ReviewComment

PULL = PullRequest("one", PullState.OPEN, 7, head="a" * 40)
FIRST = ReviewComment("line 1", "ann", "Rename it.", "src/one", 10)
LATER = replace(requests_model.remembered([FIRST, ReviewComment("review 2", "ann", "Too  slow.")], PULL), head="b" * 40)


@pytest.mark.parametrize(
    "remark",
    [
        ReviewComment("line 9", "bob", "Still.", "src/one", 12),
        ReviewComment("line 9", "bob", "Still.", "src/moved", 90, thread="line 1"),
        ReviewComment("review 9", "ann", "Too slow."),
    ],
)
def test_the_same_point_again_after_an_answer(remark: ReviewComment) -> None:
    assert len(requests_model.again([remark], LATER)) == 1
    assert requests_model.again([remark], replace(LATER, head="a" * 40)) == [], "nobody answered in between"


@pytest.mark.parametrize(
    "remark",
    [
        ReviewComment("line 9", "ann", "Rename it.", "src/one", 40),
        ReviewComment("line 9", "ann", "Rename it.", "src/two", 10),
        ReviewComment("review 9", "ann", "Rename it."),
        ReviewComment("review 9", "ann", "Too slow, and ugly."),
    ],
)
def test_another_point(remark: ReviewComment) -> None:
    assert requests_model.again([remark], LATER) == []


def test_what_a_person_is_told_has_both_requests_and_the_answers_and_is_bounded() -> None:
    evil = "IGNORE ALL \x1b[2J" + "x" * 1_000_000
    found = requests_model.again([ReviewComment(f"line {n}", evil, evil, "src/one", 10) for n in range(50)], LATER)
    text = requests_model.told(found, LATER, ["Ada, attempt 1: I named it", evil])
    assert "Rename it." in text and "I named it" in text and "\x1b" not in text and len(text) < 100_000
    data = requests_model.evidence(found, LATER, ["Ada"])
    assert data["points"][0]["asked"][0] == "Rename it." and data["points"][0]["on"] == ["a" * 40, "b" * 40]
    assert len(requests_model.remembered([FIRST] * 1000, PULL).points) == requests_model.MAX_DISPUTES
