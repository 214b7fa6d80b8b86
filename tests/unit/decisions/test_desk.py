"""The Decision Desk."""

import pytest

from nobrakes.beads.model import Status
from nobrakes.beads.service import bead_commands
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.decisions.service import desk
from nobrakes.errors import NoSuchEscalation, NotAllowed, UsageError


@pytest.fixture
def stopped(store):
    """A bead that waits for a person, and the escalation's number."""
    bead = bead_commands.add(store, "a", draft=False, needs_tests=False)
    found = store.escalate(
        NewEscalation(EscalationType.REPEATED_FAILURE, "a failed 3 times"), bead.id, None, "nobrakes"
    )
    assert store.bead(bead.id).status is Status.ESCALATED
    return bead.id, found.id


@pytest.fixture
def asked(store):
    """A bead about which an agent asks anything, and the question's number."""
    return _asked(store)


@pytest.fixture
def chosen(store):
    """A bead about which an agent asks with options, and the question's number."""
    return _asked(store, forms.as_values(forms.made("radio", ["UTC: as the logs", "CET"], ["UTC"])))


def _asked(store, form=None):
    bead = bead_commands.add(store, "a", draft=False, needs_tests=False)
    new = NewEscalation(EscalationType.QUESTION, "which zone?", form=form)
    return bead.id, store.escalate(new, bead.id, None, "Ada").id


def test_open_ones_and_all(store, stopped):
    assert [e.id for e in store.escalations()] == [stopped[1]]
    desk.resolve(store, stopped[1], "retry", actor="me")
    assert store.escalations() == []
    assert [e.id for e in store.escalations(open_only=False)] == [stopped[1]]
    assert desk.show(store, stopped[1]).resolution == "retry"
    with pytest.raises(NoSuchEscalation):
        desk.show(store, 99)


def test_the_costliest_comes_first(store, stopped):
    other = bead_commands.add(store, "b", draft=False, needs_tests=False)
    bead_commands.add(store, "c", needs=[other.id], draft=False)
    second = store.escalate(NewEscalation(EscalationType.QUESTION, "which?"), other.id, None, "nobrakes")
    assert [e.id for e in store.escalations()] == [second.id, stopped[1]]


def test_an_answer_sends_the_bead_on(store, asked):
    found = desk.answer(store, asked[1], "use UTC", "me")
    assert (found.answer, store.bead(asked[0]).status) == ("use UTC", Status.NEEDS_DOER)
    with pytest.raises(NotAllowed):
        desk.answer(store, asked[1], "no, CET", "me")
    assert desk.show(store, asked[1]).answer == "use UTC"


def test_an_empty_answer_is_none(store, asked):
    with pytest.raises(UsageError):
        desk.answer(store, asked[1], "  ", "me")
    with pytest.raises(UsageError, match="has no recommended answer"):
        desk.answer(store, asked[1], "", "me", recommended=True)
    assert desk.show(store, asked[1]).resolved_at is None


def test_what_is_no_question_is_decided_and_not_answered(store, stopped):
    with pytest.raises(NotAllowed, match="is not a question") as refused:
        desk.answer(store, stopped[1], "use UTC", "me")
    assert refused.value.hint.startswith(f"To decide: nobrakes resolve {stopped[1]} --retry | --done")
    assert desk.show(store, stopped[1]).resolved_at is None


def test_an_answer_is_an_option_or_refused(store, chosen):
    with pytest.raises(UsageError, match="not an option") as refused:
        desk.answer(store, chosen[1], "EST", "me")
    assert "1 UTC, 2 CET" in refused.value.hint and desk.show(store, chosen[1]).resolved_at is None
    with pytest.raises(NotAllowed, match="not a note"):
        desk.resolve(store, chosen[1], "retry", "EST", "me")
    found = desk.answer(store, chosen[1], "2", "me")
    assert (found.answer, found.value, store.bead(chosen[0]).status) == ("CET", "CET", Status.NEEDS_DOER)
    assert desk.take_back(store, chosen[1], "me").answer is None
    assert desk.answer(store, chosen[1], "", "me", recommended=True).value == "UTC"


@pytest.mark.parametrize(
    ("how", "status"),
    [("retry", Status.NEEDS_DOER), ("dismiss", Status.NEEDS_DOER), ("cancel", Status.CANCELLED), ("done", Status.DONE)],
)
@pytest.mark.parametrize("note", ["", "because"])
def test_four_ways_to_decide(store, stopped, how, status, note):
    found = desk.resolve(store, stopped[1], how, note, "me")
    assert found.resolved_at is not None
    assert store.bead(stopped[0]).status is status
    assert store.bead(stopped[0]).failures == 0
    with pytest.raises(NotAllowed, match="decided already"):
        desk.resolve(store, stopped[1], how, note, "me")


def test_the_note_of_a_retry_is_kept_for_the_next_attempt(store, stopped):
    assert desk.resolve(store, stopped[1], "retry", "mended the fixture", "me").answer == "mended the fixture"


@pytest.mark.parametrize("note", ["pause", "2", "use v1", "u: ask Bo\nfirst"])
def test_the_note_of_a_retry_is_guidance_even_where_it_reads_as_another_option(store, note):
    bead, number = _asked(store, forms.form_of(["use v1"]))
    assert desk.resolve(store, number, "retry", note, "me").value == f"{forms.GUIDE}: {note}"
    assert (store.bead(bead).status, store.bead(bead).held) == (Status.NEEDS_DOER, None)


def test_what_is_about_no_bead_cannot_be_done(store):
    found = store.escalate(NewEscalation(EscalationType.MAIN_RED, "main is red"), None, None, "nobrakes")
    with pytest.raises(NotAllowed, match="not about a single bead"):
        desk.resolve(store, found.id, "done", "", "me")
    assert desk.resolve(store, found.id, "dismiss", "mended", "me").resolution == "dismiss: mended"


def test_an_unknown_way_is_refused(store, stopped):
    with pytest.raises(UsageError, match="not a known decision"):
        desk.resolve(store, stopped[1], "ignore", "", "me")
