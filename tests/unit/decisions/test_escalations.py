"""What only a person can decide: asked once, with what was tried."""

import pytest

from nobrakes.beads.model import Attempt, AttemptLog, Outcome, Role
from nobrakes.beads.progress import approaches
from nobrakes.decisions.model import STOPS_BEAD, WAIT_ESCALATIONS, EscalationType, fingerprint, too_many_failures


def tried(*outcomes: Outcome | None) -> list[Attempt]:
    return [
        Attempt(n, "b", n, Role.DOER, "Ada", fence=n, token="t", started_at=0.0, outcome=outcome)
        for n, outcome in enumerate(outcomes, start=1)
    ]


def test_a_bead_goes_to_a_person_at_the_last_failure_it_may_have() -> None:
    assert [too_many_failures(failures, 3) for failures in range(5)] == [False, False, False, True, True]


def test_a_conflict_is_one_escalation_however_it_is_worded() -> None:
    a = fingerprint(EscalationType.CONFLICT, "b", "2 files")
    assert a == fingerprint(EscalationType.CONFLICT, "b", "3 files")
    assert a != fingerprint(EscalationType.CONFLICT, "c", "2 files")
    assert a != fingerprint(EscalationType.MAIN_RED, "b", "2 files")


@pytest.mark.parametrize("type_", [EscalationType.QUESTION, EscalationType.DOER_SUGGESTION])
def test_two_questions_are_two_unless_they_differ_in_spaces_and_case_only(type_: EscalationType) -> None:
    a = fingerprint(type_, "b", "Which  port?")
    assert a == fingerprint(type_, "b", "which port?\n")
    assert a != fingerprint(type_, "b", "Which host?")


def test_no_bead_and_a_beads_name_are_not_confused() -> None:
    assert fingerprint(EscalationType.QUESTION, None, "b x") != fingerprint(EscalationType.QUESTION, "b", "x")


def test_a_suggestion_and_a_checkout_that_is_behind_stop_nobody() -> None:
    assert set(EscalationType) - STOPS_BEAD == {EscalationType.DOER_SUGGESTION, *WAIT_ESCALATIONS}


def test_what_was_tried_is_told_oldest_first_with_the_logs() -> None:
    log = AttemptLog("did x", "no key", "ask first")
    attempt = Attempt(4, "b", 2, Role.DOER, "Bowie", 3, "secret", 0.0, outcome=Outcome.FAILED, detail="no", log=log)
    told = approaches([*tried(None), attempt])
    assert [entry["attempt"] for entry in told] == [1, 2]
    assert told[0]["outcome"] is None
    assert (told[1]["name"], told[1]["outcome"], told[1]["blockers"]) == ("Bowie", "failed", "no key")
    assert "secret" not in str(told), "an attempt's token is nobody's business"
