"""How attempts end: the table says for every ending what follows."""

import pytest

from nobrakes.core.escalations import _HYPOTHESES
from nobrakes.core.outcomes import TABLE, Outcome, retry_after

NOT_THE_BEADS_FAULT = {
    Outcome.COMPLETED, Outcome.BLOCKED, Outcome.CONFLICT, Outcome.BROKEN_CHECKS, Outcome.WORKSPACE_FAILED,
    Outcome.MISSING_EXECUTABLE, Outcome.BAD_CONFIGURATION, Outcome.AUTH, Outcome.BILLING, Outcome.RATE_LIMITED,
    Outcome.PROVIDER_DOWN, Outcome.NETWORK, Outcome.MODEL_UNAVAILABLE, Outcome.INTERRUPTED, Outcome.CANCELLED,
}  # fmt: skip


def test_every_outcome_has_its_row() -> None:
    assert set(TABLE) == set(Outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_the_machine_the_provider_and_people_are_not_the_beads_failure(outcome: Outcome) -> None:
    assert TABLE[outcome].counts is (outcome not in NOT_THE_BEADS_FAULT)


@pytest.mark.parametrize("outcome", Outcome)
def test_no_outcome_both_waits_and_asks_a_person(outcome: Outcome) -> None:
    row = TABLE[outcome]
    assert not (row.backoff and row.needs_person) and not (row.counts and row.needs_person)


def test_every_guess_at_a_cause_is_for_an_outcome_that_counts() -> None:
    assert all(TABLE[outcome].counts for outcome in _HYPOTHESES)


def test_waiting_doubles_up_to_a_quarter_of_an_hour() -> None:
    waits = [retry_after(Outcome.NETWORK, repeats) for repeats in range(8)]
    assert waits == [30, 30, 60, 120, 240, 480, 900, 900]
    assert retry_after(Outcome.NETWORK, 10_000) == 900


def test_a_failed_bead_is_tried_again_at_once() -> None:
    assert retry_after(Outcome.FAILED, 3) == 0
