"""The usual criteria speak of the project; a person takes away, and adds their own."""

import pytest

from nobrakes.errors import UsageError
from nobrakes.features.reviewed_plan import AUTOMATED, MANUAL, REVIEW, Stack, chosen, default_criteria

WEB = Stack("npm test", "npx tsc --noEmit", "npx eslint .", is_web=True, language="typescript")


def test_checks_say_what_they_can_and_people_the_rest() -> None:
    eight = default_criteria(WEB)
    assert [one.how for one in eight] == [AUTOMATED] * 3 + [MANUAL] * 3 + [REVIEW, MANUAL]
    assert "npm test" in eight[0].text and "TypeScript" in eight[1].text and "console" in eight[3].text


def test_a_project_without_a_browser_or_a_check_is_spoken_of_so() -> None:
    eight = default_criteria(Stack(tests="pytest -q"))
    assert [one.how for one in eight] == [AUTOMATED] + [MANUAL] * 5 + [REVIEW, MANUAL]
    assert "browser" not in " ".join(one.text for one in eight) and "stderr" in eight[3].text


def test_a_person_chooses() -> None:
    made = chosen(default_criteria(WEB), {1, 8}, ["review: the API stays", "It  is fast", "Note: this"])
    assert len(made) == 9 and [one.usual for one in made[-3:]] == [False] * 3
    assert [(one.text, one.how) for one in made[-3:]] == [
        ("the API stays", REVIEW),
        ("It is fast", MANUAL),
        ("Note: this", MANUAL),
    ]


@pytest.mark.parametrize(
    ("without", "own"), [({9}, []), ({0}, []), (set(range(1, 9)), []), ((), ["review: "]), ((), ["x" * 501])]
)
def test_what_cannot_be_is_refused(without: set[int], own: list[str]) -> None:
    with pytest.raises(UsageError):
        chosen(default_criteria(WEB), without, own)


def test_what_a_person_calls_automated_is_decided_by_no_check() -> None:
    [usual, own] = chosen(default_criteria(WEB), set(range(2, 9)), ["automated: it starts in a second"])
    assert (usual.judged, own.how, own.judged) == (AUTOMATED, AUTOMATED, MANUAL), "no claim becomes evidence"
