"""How a bead stands, event by event: what was seen, and what its agent claims."""

from typing import Any

from nobrakes.beads.work_status import SAYS, WorkStatus, passes, statuses
from nobrakes.events.kinds import Event, Kind


def told(*happened: tuple[Kind, dict[str, Any]]) -> list[WorkStatus]:
    events = [Event(kind, "b", 1, "Ada", data, seq) for seq, (kind, data) in enumerate(happened, 1)]
    return list(statuses(events).values())


def test_from_its_beginning_to_main() -> None:
    found = told(
        (Kind.PROPOSED, {}),
        (Kind.TEST_WRITER_STARTED, {"name": "Bea", "number": 1}),
        (Kind.TESTS_PROVEN_RED, {"outcome": "completed"}),
        (Kind.DOER_STARTED, {"name": "Ada", "number": 2}),
        (Kind.FILES_CHANGED, {"changed": 3}),
        (Kind.PROGRESSED, {"text": "the parser", "data": {"step": 2, "of": 5, "work_type": "refactoring"}}),
        (Kind.TESTS_RUN, {"passed": False, "call": "1"}),
        (Kind.TESTED, {"text": "unit: pass; style: pass"}),
        (Kind.PROGRESSED, {"text": "all of it", "data": {"percent": 90}}),
        (Kind.WORK_SUBMITTED, {"outcome": "completed"}),
        (Kind.MERGED, {}),
    )
    shown = [
        (one.status, one.files_modified, one.tests_status, one.work_type, one.progress, one.message) for one in found
    ]
    going = "IN_PROGRESS"
    assert shown == [
        (going, 0, "NOT_RUN", "TESTING", 0, "Bea started attempt 1"),
        (going, 0, "NOT_RUN", "TESTING", 0, "the new tests fail, as they should: a Doer is next"),
        (going, 0, "NOT_RUN", "IMPLEMENTATION", 0, "Ada started attempt 2"),
        (going, 3, "NOT_RUN", "IMPLEMENTATION", 0, "3 files changed"),
        (going, 3, "NOT_RUN", "REFACTORING", 40, "the parser"),
        (going, 3, "FAILING", "REFACTORING", 40, "tests run: failed"),
        (going, 3, "PASSING", "REFACTORING", 40, "tests run: passed"),
        (going, 3, "PASSING", "REFACTORING", 90, "all of it"),
        (going, 3, "PASSING", "REFACTORING", 90, "the work is handed in: the Reviewer is next"),
        ("COMPLETE", 3, "PASSING", "REFACTORING", 100, "the work is on main"),
    ]


def test_who_waits_for_a_person_is_blocked_until_that_is_decided() -> None:
    found = told(
        (Kind.DOER_STARTED, {"name": "Ada", "number": 1}),
        (Kind.ESCALATED, {"title": "No\nendpoint"}),
        (Kind.DOER_STOPPED, {"outcome": "blocked"}),
        (Kind.RESOLVED, {"resolution": "answered"}),
        (Kind.DOER_STARTED, {"name": "Bo", "number": 2}),
        (Kind.REVIEW_REJECTED, {"outcome": "failed_review"}),
    )
    assert [one.status for one in found] == ["IN_PROGRESS", "BLOCKED", "BLOCKED", *["IN_PROGRESS"] * 3]
    assert found[2].message == "No endpoint" and found[-1].tests_status == "FAILING"


def test_what_no_attempt_of_it_said_is_whole_too_and_claims_are_bounded() -> None:
    (alone,) = told((Kind.DONE_BY_HAND, {}))
    assert (alone.step_id, alone.status, alone.tests_status) == ("b", "COMPLETE", "NOT_RUN")
    claims = [{"percent": 900}, {"percent": -3}, {"step": 1, "of": 0}, {"work_type": "lunch"}]
    found = told(*((Kind.PROGRESSED, {"text": "x" * 900, "data": claim}) for claim in claims))
    assert [one.progress for one in found] == [100, 0, 0, 0] and len(found[0].message) <= 500
    assert {one.work_type for one in found} == {"IMPLEMENTATION"}
    assert [passes(text) for text in ("unit: pass", "unit: pass; a: fail: exit code 1", "")] == [True, False, False]
    assert Kind.LOGGED not in SAYS


def test_what_is_seen_of_a_blocked_bead_leaves_it_blocked() -> None:
    seen = [
        (Kind.TESTS_RUN, {"passed": False}),
        (Kind.FILES_CHANGED, {"changed": 2}),
        (Kind.TESTED, {"text": "a: pass"}),
    ]
    found = told((Kind.DOER_STARTED, {}), (Kind.ESCALATED, {"title": "No endpoint", "escalation": 3}), *seen)
    assert {(one.status, one.message) for one in found[1:]} == {("BLOCKED", "No endpoint")}
    assert (found[2].tests_status, found[3].files_modified, found[4].tests_status) == ("FAILING", 2, "PASSING")
    done = told((Kind.DONE_BY_HAND, {}), *seen)
    assert {(one.status, one.message) for one in done} == {("COMPLETE", "a person marked it as done")}


def test_only_the_last_question_of_a_blocked_bead_frees_it() -> None:
    def decided(number: int) -> tuple[Kind, dict[str, Any]]:
        return Kind.RESOLVED, {"escalation": number, "resolution": f"decided {number}"}

    asked = [(Kind.ESCALATED, {"title": f"Question {number}", "escalation": number}) for number in (3, 4)]
    found = told((Kind.DOER_STARTED, {}), *asked, decided(2), decided(4), decided(3))
    standing = [(one.status, one.message) for one in found[2:]]
    assert standing == [("BLOCKED", "Question 4")] * 3 + [("IN_PROGRESS", "decided 3")]
    begun = told(asked[0], (Kind.DOER_STARTED, {}), asked[1], decided(4))
    assert begun[-1].status == "IN_PROGRESS", "a new attempt begins anew"
    (*_, dismissed) = told((Kind.MERGED, {}), decided(9))
    assert (dismissed.status, dismissed.message) == ("COMPLETE", "the work is on main")
