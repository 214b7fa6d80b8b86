"""How attempts end: the table says for every ending what follows."""

import pytest

from nobrakes.beads.model import TABLE, Outcome, Retry, Session, Told, retry_after

OF_THE_PROVIDER = {
    Outcome.AUTH, Outcome.BILLING, Outcome.RATE_LIMITED, Outcome.PROVIDER_DOWN, Outcome.NETWORK
}  # fmt: skip
NOT_THE_BEADS_FAULT = OF_THE_PROVIDER | {
    Outcome.COMPLETED, Outcome.BLOCKED, Outcome.CONFLICT, Outcome.BROKEN_CHECKS, Outcome.WORKSPACE_FAILED,
    Outcome.CHECKS_CHANGED,
    Outcome.UNUSUAL_CONTENT,
    Outcome.MISSING_EXECUTABLE, Outcome.BAD_CONFIGURATION, Outcome.VERSION_UNSUPPORTED, Outcome.SESSION_LOST,
    Outcome.MODEL_UNAVAILABLE, Outcome.INTERRUPTED, Outcome.CANCELLED, Outcome.LOST, Outcome.GUARD_FAILED,
    Outcome.NOBRAKES_FAILED,
    Outcome.CAPPED, Outcome.CHECKS_CHANGED, Outcome.MERGE_REVIEW, Outcome.REMARKS, Outcome.PULL_CLOSED, Outcome.ASKED_AGAIN,
    Outcome.UNUSUAL_CONTENT, Outcome.FILTER_NOT_ALLOWED, Outcome.CODE_REVIEW, Outcome.FINDINGS,
}  # fmt: skip


def test_every_outcome_has_its_row() -> None:
    assert set(TABLE) == set(Outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_the_machine_the_provider_and_people_are_not_the_beads_failure(outcome: Outcome) -> None:
    assert TABLE[outcome].counts is (outcome not in NOT_THE_BEADS_FAULT)


@pytest.mark.parametrize("outcome", Outcome)
def test_what_counts_is_tried_again_at_once_and_told_at_the_last_one(outcome: Outcome) -> None:
    row = TABLE[outcome]
    assert row.counts == (row.retry is Retry.AT_ONCE and row.told is Told.LAST)


@pytest.mark.parametrize("outcome", Outcome)
def test_the_provider_alone_closes_a_gate_and_says_for_how_long(outcome: Outcome) -> None:
    row = TABLE[outcome]
    assert row.starts_cooldown == (outcome in OF_THE_PROVIDER)
    assert (row.gate_seconds > 0) == (row.starts_cooldown or row.is_of_start or row.is_of_model)


@pytest.mark.parametrize("outcome", [Outcome.CONTEXT_OVERFLOW, Outcome.INVALID_REQUEST, Outcome.SESSION_LOST])
def test_a_session_that_cannot_go_on_is_never_resumed(outcome: Outcome) -> None:
    assert TABLE[outcome].session is Session.FRESH


def test_a_person_is_told_of_whatever_waits_for_one() -> None:
    assert {row.told for row in TABLE.values() if row.needs_person} == {Told.EACH}


def test_waiting_doubles_up_to_a_quarter_of_an_hour() -> None:
    waits = [retry_after(Outcome.WORKSPACE_FAILED, repeats) for repeats in range(8)]
    assert waits == [30, 30, 60, 120, 240, 480, 900, 900]
    assert retry_after(Outcome.NETWORK, 10_000) == 900


def test_a_failed_bead_is_tried_again_at_once() -> None:
    assert retry_after(Outcome.FAILED, 3) == 0
