"""What people decide, in every store: escalations, undoing, several steps as one."""

import pytest

from nobrakes.beads.model import Dependency, Outcome, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import Deadlock, NoSuchBead, NoSuchEscalation, NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import bead, claim


def ask(title: str = "which?") -> NewEscalation:
    return NewEscalation(EscalationType.QUESTION, title, "detail", {"k": 1}, "guess")


def test_an_escalation_stops_its_bead_and_gives_it_back(store: Store) -> None:
    store.put([bead("a", status=Status.NEEDS_REVIEW), bead("b"), bead("c")], [Dependency("b", "a")], "me")
    filed = store.escalate(ask(), "a", None, "me")
    assert (store.bead("a").status, filed.return_to, filed.behind) == (Status.ESCALATED, Status.NEEDS_REVIEW, 1)
    assert store.escalate(ask("WHICH? "), "a", None, "me") == filed
    other = store.escalate(NewEscalation(EscalationType.CONFLICT, "x"), "a", None, "me")
    less = store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "idea"), "c", None, "me")
    assert store.bead("c").status is Status.NEEDS_DOER
    assert [e.id for e in store.escalations()] == [filed.id, other.id, less.id]
    answered = store.answer(filed.id, "that", "me")
    assert (answered.answer, answered.resolution) == ("that", "answered")
    assert store.bead("a").status is Status.ESCALATED
    for again in (lambda: store.answer(filed.id, "no", "me"), lambda: store.resolve(filed.id, "no", "me")):
        with pytest.raises(NotAllowed):
            again()
    store.resolve(other.id, "go", "me")
    assert (store.bead("a").status, store.bead("a").failures) == (Status.NEEDS_REVIEW, 0)
    assert [e.id for e in store.escalations()] == [less.id]
    assert {e.id for e in store.escalations(open_only=False)} == {filed.id, other.id, less.id}
    with pytest.raises(NoSuchEscalation):
        store.escalation(99)
    # what was resolved may be asked again
    assert store.escalate(ask(), "a", None, "me").id not in (filed.id, other.id, less.id)


def test_what_was_asked_before_is_told_again_when_it_stops_the_bead(store: Store) -> None:
    store.put([bead("a", status=Status.DRAFT)], [], "me")
    filed = store.escalate(ask(), "a", None, "me")  # nothing is stopped: a draft does not move
    store.record(Event(Kind.APPROVED, "a", actor="me"))
    before = store.position().seq
    again = store.escalate(ask(), "a", None, "me")
    assert (again.id, again.return_to, store.bead("a").status) == (filed.id, Status.NEEDS_DOER, Status.ESCALATED)
    assert [(e.kind, e.data["escalation"]) for e in store.events(before)] == [(Kind.ESCALATED, filed.id)]
    store.escalate(ask(), "a", None, "me")
    assert len(store.events(before)) == 1


def test_a_person_may_send_the_bead_elsewhere(store: Store) -> None:
    store.put([bead("a", failures=3)], [], "me")
    number = store.escalate(ask(), "a", None, "me").id
    with pytest.raises(NotAllowed):
        store.resolve(number, "x", "me", Status.DOING)
    assert store.escalation(number).resolved_at is None
    store.resolve(number, "x", "me", Status.NEEDS_TESTS)
    assert (store.bead("a").status, store.bead("a").failures) == (Status.NEEDS_TESTS, 0)


def test_a_question_stops_the_bead_when_the_attempt_ends(store: Store) -> None:
    store.put([bead("a"), bead("b")], [], "me")
    attempt = claim(store, "a")
    asked = store.escalate(ask(), "a", attempt.id, attempt.name)
    assert store.bead("a").status is Status.DOING
    after = store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED)
    assert (after.status, after.return_to) == (Status.ESCALATED, Status.NEEDS_REVIEW)
    store.answer(asked.id, "this", "me")
    assert store.bead("a").status is Status.NEEDS_REVIEW
    # answered while the agent still works: nothing is stopped
    attempt = claim(store, "b")
    store.answer(store.escalate(ask(), "b", attempt.id, attempt.name).id, "now", "me")
    assert store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED).status is Status.NEEDS_REVIEW


def test_what_is_more_of_an_open_question_is_added_and_becomes_its_beads(store: Store) -> None:
    def red(title: str, adds_to: int = 0, **evidence: str) -> NewEscalation:
        return NewEscalation(EscalationType.MAIN_RED, title, f"{title}!", evidence, adds_to=adds_to)

    store.put([bead("a"), bead("b")], [], "me")
    first = store.escalate(red("red", main="1"), None, None, "me").id
    store.escalate(red("red since 1", first, culprit="1"), None, None, "me")
    after = store.close_attempt(
        claim(store, "a"), Kind.DOER_STOPPED, Outcome.FAILED, escalation=red("a did it", first, revert="2")
    )
    assert (after.status, after.return_to) == (Status.ESCALATED, Status.NEEDS_DOER)
    store.escalate(red("still red", first), None, None, "me")
    (asked,) = store.escalations()
    assert (asked.id, asked.bead, asked.title) == (first, "a", "a did it")
    assert asked.evidence == {"main": "1", "culprit": "1", "revert": "2"}
    assert [word in asked.detail for word in ("still red!", "a did it!", "red since 1!", "red!")] == [True] * 4
    told = [e.data["title"] for e in store.events() if e.kind is Kind.ESCALATED]
    assert told == ["red", "red since 1", "a did it"]
    other = store.escalate(red("b too", first), "b", None, "me")
    assert other.id != first and store.bead("b").status is Status.ESCALATED, "one bead's question stops no other"
    store.resolve(first, "retry", "me", None)
    assert store.bead("a").status is Status.NEEDS_DOER
    assert store.escalate(red("red again", first), None, None, "me").id not in (first, other.id)


def test_an_attempt_ends_with_its_escalation(store: Store) -> None:
    store.put([bead("a")], [], "me")
    new = NewEscalation(EscalationType.REPEATED_FAILURE, "three times")
    after = store.close_attempt(claim(store, "a"), Kind.DOER_STOPPED, Outcome.FAILED, counts=True, escalation=new)
    assert (after.status, after.return_to) == (Status.ESCALATED, Status.NEEDS_DOER)
    (filed,) = store.escalations()
    assert (filed.type, filed.return_to, filed.attempt) == (EscalationType.REPEATED_FAILURE, Status.NEEDS_DOER, 1)
    assert [e.kind for e in store.events()][-2:] == [Kind.DOER_STOPPED, Kind.ESCALATED]


def test_closing_a_bead_settles_what_it_asked(store: Store) -> None:
    store.put([bead("a")], [], "me")
    store.escalate(ask(), "a", None, "me")
    store.record(Event(Kind.CANCELLED, "a"))
    assert store.escalations() == []


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.DONE_BY_HAND])
@pytest.mark.parametrize("status", [Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW])
def test_a_closed_bead_remembers_where_it_was(store: Store, kind: Kind, status: Status) -> None:
    store.put([bead("a", status=status, failures=2)], [], "me")
    store.record(Event(kind, "a", data={"reason": "because"}))
    closed = store.bead("a")
    assert (closed.close_reason, closed.closed_at) == ("because", store.now())
    assert store.events()[-1].data == {"reason": "because", "before": status.value, "return_to": None}
    store.record(Event(Kind.UNDONE, "a"))
    back = store.bead("a")
    assert (back.status, back.closed_at, back.close_reason, back.failures) == (status, None, "", 2)


@pytest.mark.parametrize("close", [Kind.CANCELLED, Kind.DONE_BY_HAND])
def test_who_asked_when_it_was_closed_asks_again_when_that_is_taken_back(store: Store, close: Kind) -> None:
    store.put([bead("a", status=Status.NEEDS_REVIEW, failures=2), bead("b")], [], "me")
    before = store.escalate(ask("before?"), "a", None, "me").id
    store.answer(before, "answered before it was closed", "me")
    asked = store.escalate(ask(), "a", None, "me").id
    idea = store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "idea"), "a", None, "me").id
    other = store.escalate(ask(), "b", None, "me").id
    failures = store.bead("a").failures
    store.record(Event(close, "a"))
    assert [one.id for one in store.escalations()] == [other]
    store.record(Event(Kind.UNDONE, "a"))
    assert (store.bead("a").status, store.bead("a").failures) == (Status.ESCALATED, failures)
    assert sorted(one.id for one in store.escalations()) == [asked, idea, other]
    assert store.events()[-1].data["asked"] == [asked]
    assert (store.escalation(asked).resolution, store.escalation(before).resolution) == ("", "answered")
    store.answer(asked, "this", "me")
    assert store.bead("a").status is Status.NEEDS_REVIEW


def test_undone_may_name_where_it_goes(store: Store) -> None:
    store.put([bead("a", status=Status.DRAFT)], [], "me")
    store.record(Event(Kind.CANCELLED, "a"))
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.UNDONE, "a", data={"to": "doing"}))
    store.escalate(ask(), "a", None, "me")
    store.record(Event(Kind.UNDONE, "a", data={"to": "draft"}))
    assert store.bead("a").status is Status.DRAFT
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.UNDONE, "a"))


def test_together_is_all_or_nothing_and_its_parts_are_too(store: Store) -> None:
    store.put([bead("a")], [], "me")
    with pytest.raises(NoSuchBead), store.write():
        store.put([bead("b")], [], "me")
        store.bead("ghost")
    assert len(store.beads()) == 1
    with store.write():
        store.put([bead("c")], [], "me")
        with pytest.raises(Deadlock):
            store.put([bead("d")], [Dependency("d", "d")], "me")
    assert [one.id for one in store.beads()] == ["a", "c"]
