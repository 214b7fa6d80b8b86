"""What a review's journal says about whether its bead may still be taken away."""

import pytest

from nobrakes.review.journal import Journal, Step, is_landing


@pytest.mark.parametrize(
    ("journal", "landing"),
    [
        (Journal(Step.VALIDATE_REBASED), False),
        (Journal(Step.SWAP), True),
        (Journal(Step.VALIDATE_REBASED).with_values(waiting="edits"), False),
        (Journal(Step.SWAP).with_values(waiting="no answer", published=True), True),
        (Journal(Step.VALIDATE_MAIN), True),
        (Journal(Step.CLEAN_UP), True),
    ],
)
def test_what_is_on_main_or_may_be_is_nobodys_to_take_away(journal: Journal, landing: bool) -> None:
    assert is_landing(journal.as_data()) is landing
