"""Answers in every store: given once, taken back until somebody acts by them, and never read by halves."""

from typing import Any

import pytest

from nobrakes.beads.model import Outcome, Role, Status
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NoSuchEscalation, NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import bead, claim


def form(priority: int = 2, *options: str) -> dict[str, Any]:
    return forms.as_values(forms.made("radio", options or ("UTC", "CET"), ["UTC"], priority=priority))


def ask(title: str = "which?", values: dict[str, Any] | None = None) -> NewEscalation:
    return NewEscalation(EscalationType.QUESTION, title, form=values)


def kinds(store: Store, after: int) -> list[Kind]:
    return [event.kind for event in store.events(after)]


def test_a_question_keeps_its_form_and_the_value_of_its_answer(store: Store) -> None:
    store.put([bead("a")], [], "me")
    asked = store.escalate(ask(values=form()), "a", None, "me")
    assert (asked.form, asked.value) == (form(), None)
    answered = store.answer(asked.id, "UTC", "me", "UTC")
    assert (answered.answer, answered.value, answered.read_at) == ("UTC", "UTC", None)
    assert store.escalations_as_filed() == [answered]


@pytest.mark.parametrize("value", [True, False, ["UTC", "CET"], [], "a text", None])
def test_every_kind_of_value_is_kept(store: Store, value: Any) -> None:
    number = store.escalate(ask(), None, None, "me").id
    assert store.answer(number, "x", "me", value).value == value == store.escalation(number).value


def test_the_same_words_with_another_form_are_another_question(store: Store) -> None:
    store.put([bead("a")], [], "me")
    first = store.escalate(ask(values=form()), "a", None, "me").id
    assert store.escalate(ask("WHICH? ", form()), "a", None, "me").id == first
    others = {store.escalate(ask(values=v), "a", None, "me").id for v in (None, form(1), form(2, "UTC", "EST"))}
    assert len(others - {first}) == 3


def test_the_urgent_comes_first_and_then_what_most_wait_for(store: Store) -> None:
    store.put([bead("a"), bead("b"), bead("c"), bead("d")], [], "me")
    late = store.escalate(ask(values=form(3)), "a", None, "me").id
    free = store.escalate(ask(), "b", None, "me").id
    usual = store.escalate(ask(values=form(2)), "c", None, "me").id
    urgent = store.escalate(ask(values=form(1)), "d", None, "me").id
    assert [one.id for one in store.escalations()] == [urgent, free, usual, late]


def test_an_answer_that_nobody_read_is_taken_back_and_asks_again(store: Store) -> None:
    store.put([bead("a")], [], "me")
    asked = store.escalate(ask(values=form()), "a", None, "me").id
    store.answer(asked, "CET", "me", "CET")
    assert store.bead("a").status is Status.NEEDS_DOER
    before = store.position().seq
    found = store.take_back(asked, "me")
    assert (found.answer, found.value, found.answered_at, found.resolved_at, found.resolution) == (None,) * 4 + ("",)
    assert (store.bead("a").status, found.return_to) == (Status.ESCALATED, Status.NEEDS_DOER)
    assert kinds(store, before) == [Kind.ANSWER_TAKEN_BACK, Kind.ESCALATED]
    assert store.events(before)[0].data == {"escalation": asked, "answer": "CET"}
    assert [one.id for one in store.escalations()] == [asked]
    store.answer(asked, "UTC", "me", "UTC")
    assert (store.bead("a").status, store.escalation(asked).value) == (Status.NEEDS_DOER, "UTC")


def test_an_answer_that_somebody_acts_by_stays(store: Store) -> None:
    store.put([bead("a")], [], "me")
    asked = store.escalate(ask(), "a", None, "me").id
    store.answer(asked, "CET", "me")
    attempt = claim(store, "a")
    before = store.position().seq
    assert store.journal(attempt.id, {"phase": "agent"}, {asked: "CET"})
    (read,) = store.events(before)
    assert (read.kind, read.actor, read.attempt, read.data) == (
        Kind.ANSWER_READ,
        attempt.name,
        attempt.id,
        {"escalation": asked},
    )
    since = store.escalation(asked).read_at
    assert since is not None and store.attempt(attempt.id).data == {"phase": "agent"}
    with pytest.raises(NotAllowed, match=f"{attempt.name} read the answer to escalation {asked} at 20"):
        store.take_back(asked, "me")
    assert store.journal(attempt.id, {}, {asked: "CET"}), "a crash may have the start done again"
    assert len(store.events(before)) == 1 and store.escalation(asked).read_at == since


def test_whoever_was_to_begin_with_an_answer_that_was_taken_back_does_not(store: Store) -> None:
    store.put([bead("a"), bead("b")], [], "me")
    asked = store.escalate(ask(), "a", None, "me").id
    other = store.escalate(ask("other?"), "a", None, "me").id
    store.answer(asked, "CET", "me")
    store.answer(other, "so", "me")
    attempt = claim(store, "a")
    store.take_back(asked, "me")
    assert store.bead("a").status is Status.DOING, "whoever works is not stopped"
    before = store.position()
    for answers in ({asked: "CET", other: "so"}, {asked: "CET"}, {99: "CET"}):
        assert not store.journal(attempt.id, {"phase": "agent"}, answers)
        assert not store.act_by(answers, attempt.name, attempt.id)
    assert (store.position(), store.attempt(attempt.id).data) == (before, {})
    assert store.escalation(other).read_at is None
    store.answer(asked, "UTC", "me")
    assert not store.journal(attempt.id, {"phase": "agent"}, {asked: "CET", other: "so"})
    assert store.journal(attempt.id, {"phase": "agent"}, {asked: "UTC", other: "so"})


def test_a_question_that_is_open_again_stops_the_bead_when_the_attempt_ends(store: Store) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    asked = store.escalate(ask(), "a", attempt.id, attempt.name).id
    store.answer(asked, "CET", "me")
    store.take_back(asked, "me")
    after = store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.BLOCKED)
    assert (after.status, after.return_to) == (Status.ESCALATED, Status.NEEDS_DOER)
    store.answer(asked, "UTC", "me")
    assert store.bead("a").status is Status.NEEDS_DOER


def test_a_bead_that_waits_for_another_answer_waits_for_both_again(store: Store) -> None:
    store.put([bead("a")], [], "me")
    asked, other = (store.escalate(ask(title), "a", None, "me").id for title in ("one?", "two?"))
    store.answer(asked, "CET", "me")
    store.take_back(asked, "me")
    store.answer(other, "so", "me")
    assert store.bead("a").status is Status.ESCALATED
    store.answer(asked, "UTC", "me")
    assert store.bead("a").status is Status.NEEDS_DOER


def test_what_has_no_answer_or_is_past_cannot_be_taken_back(store: Store) -> None:
    store.put([bead(name) for name in "abcd"], [], "me")
    with pytest.raises(NoSuchEscalation):
        store.take_back(99, "me")
    numbers = {name: store.escalate(ask(), name, None, "me").id for name in "abcd"}
    store.resolve(numbers["b"], "retry", "me")
    for name in "acd":
        if name != "a":
            store.answer(numbers[name], "so", "me")
    store.record(Event(Kind.CANCELLED, "c", actor="me"))
    again = store.escalate(ask(), "d", None, "me").id
    before = store.position()
    said = {
        "a": "no answer",
        "b": "without an answer",
        "c": "cannot be withdrawn: bead c is cancelled",
        "d": f"escalation {again}",
    }
    for name, why in said.items():
        with pytest.raises(NotAllowed, match=why):
            store.take_back(numbers[name], "me")
    assert store.position() == before


def test_an_answer_is_past_once_the_review_has_begun(store: Store) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    asked = store.escalate(ask(), "a", attempt.id, attempt.name).id
    store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED)
    store.answer(asked, "so", "me")
    store.take_back(asked, "me")
    assert (store.bead("a").status, store.bead("a").return_to) == (Status.ESCALATED, Status.NEEDS_REVIEW)
    store.answer(asked, "so", "me")
    claim(store, "a", Role.REVIEWER)
    with pytest.raises(NotAllowed, match="cannot be withdrawn"):
        store.take_back(asked, "me")


def test_a_question_about_no_bead_is_answered_read_and_taken_back(store: Store) -> None:
    number = store.escalate(ask(values=form()), None, None, "me").id
    store.answer(number, "CET", "me", "CET")
    assert store.take_back(number, "me").resolved_at is None
    store.answer(number, "UTC", "me", "UTC")
    assert store.act_by({number: "UTC"}, "Planner")
    with pytest.raises(NotAllowed, match="Planner read the answer"):
        store.take_back(number, "me")
