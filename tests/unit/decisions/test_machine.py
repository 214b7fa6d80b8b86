"""The table of decisions: each row does what it says, what is in no row is refused, and nothing waits for ever."""

import itertools
from typing import get_args

import pytest

from nobrakes.beads.model import Bead, BeadType, Status
from nobrakes.beads.service import bead_commands
from nobrakes.decisions import forms, table
from nobrakes.decisions.model import (
    DECISIONS,
    STARTS,
    STOPS_BEAD,
    TEST_DIGEST,
    Escalation,
    EscalationType,
    NewEscalation,
)
from nobrakes.decisions.service import desk
from nobrakes.decisions.service.view import Stakes, choices
from nobrakes.decisions.table import OPTIONS, TABLE, About, Effect, Word
from nobrakes.errors import NotAllowed, UsageError
from nobrakes.events.kinds import Kind
from nobrakes.sessions.model import SessionKind
from nobrakes.store import open_memory
from tests.support.tables import failing

EVIDENCE = {About.TESTS: {TEST_DIGEST: "d"}, About.CONTRACT: {"contract": "c"}, About.AGENT: {STARTS: "anthropic"}}
ROWS = [(type_, word, about) for type_, words in TABLE.items() for word, row in words.items() for about in row]


def filed(store, type_, about, evidence=None, form=None):
    """An open escalation about that, and the bead that it names."""
    bead = session = None
    if about is About.SESSION:
        session = store.begin_session(SessionKind.CHAT, "me", "look", ("claude", "anthropic", ""), "look", "me").id
    elif about not in (About.AGENT, About.MACHINE):
        kind = BeadType.EPIC if about is About.EPIC else BeadType.TASK
        bead = bead_commands.add(store, "a", kind, draft=False, needs_tests=False).id
    evidence = EVIDENCE.get(about, {}) if evidence is None else evidence
    new = NewEscalation(type_, "it is asked", "what was seen", evidence, session=session, form=form)
    return store.escalate(new, bead, None, "nobrakes").id, bead


def decided(store, number, word, note="because"):
    return desk.answer(store, number, note, "me") if word == "answer" else desk.resolve(store, number, word, note, "me")


def test_a_row_does_what_it_says(now):
    assert failing(ROWS, lambda row: does_what_it_says(open_memory(now), *row)) == []


def does_what_it_says(store, type_, word, about):
    number, bead = filed(store, type_, about)
    effect = TABLE[type_][word][about].effect
    before = store.bead(bead).status if bead else None
    found = decided(store, number, word)
    assert found.resolved_at is not None
    text = {Effect.END: f"{word}: because", Effect.WORK: f"{word}: because", Effect.OPEN_GATE: f"{word}: because"}
    told = (Effect.ANSWER, Effect.BACK, Effect.HAND_BACK, Effect.TO_TESTS, Effect.MEND)
    if effect in told:
        assert (found.answer, found.resolution) == ("because", "answered")
    elif effect in (Effect.GO_ON, Effect.AFTER_TESTS):
        assert found.resolution == "approve: because"
    elif effect in text:
        assert (found.answer, found.resolution) == (None, text[effect])
    if bead is None:
        return
    goes_to = {
        Effect.DONE: Status.DONE,
        Effect.CANCEL: Status.CANCELLED,
        Effect.GO_ON: Status.NEEDS_REVIEW,
        Effect.AFTER_TESTS: Status.NEEDS_REVIEW,
        Effect.TO_TESTS: Status.NEEDS_TESTS,
    }
    usual = before if type_ not in STOPS_BEAD else Status.OPEN if about is About.EPIC else Status.NEEDS_DOER
    assert store.bead(bead).status is goes_to.get(effect, usual)
    mends = [one for one in store.beads() if one.epic == bead]
    assert len(mends) == (effect is Effect.MEND)
    drafts = [one for one in store.beads() if one.status is Status.DRAFT]
    assert len(drafts) == (effect is Effect.DRAFT)
    with pytest.raises(NotAllowed):
        decided(store, number, word)


def test_every_word_but_answer_is_an_option_of_resolve():
    assert set(get_args(Word)) - {"answer"} == DECISIONS.keys()


def test_what_is_in_no_row_is_refused_and_leaves_it_open(now):
    cells = itertools.product(EscalationType, About)
    assert failing(cells, lambda cell: refuses_what_is_in_no_row(open_memory(now), *cell)) == []


def refuses_what_is_in_no_row(store, type_, about):
    number, bead = filed(store, type_, about)
    found = store.escalation(number)
    left = {"answer", *DECISIONS} - set(table.ways(found, store.bead(bead) if bead else None))
    events = len(store.events())
    for word in left:
        with pytest.raises(NotAllowed):
            decided(store, number, word)
    assert store.escalation(number) == found and len(store.events()) == events


def test_whatever_is_open_can_be_decided(now):
    def look(cell):
        store = open_memory(now)
        number, _ = filed(store, *cell)
        assert table.ways(store.escalation(number))

    cells = itertools.product(EscalationType, [one for one in About if one is not About.SESSION])
    assert failing(cells, look) == []


def test_every_effect_is_done_and_is_in_a_table():
    named = {way.effect for words in TABLE.values() for row in words.values() for way in row.values()}
    named |= {effect for options in OPTIONS.values() for effect in options.values()}
    assert named == set(Effect)
    assert set(desk._EFFECTS) == named - {Effect.ANSWER}, "an answer is the answer, and nothing more"


def test_what_is_shown_is_what_can_be_done():
    for type_, about, status in itertools.product(EscalationType, About, (Status.NEEDS_DOER, Status.NEEDS_REVIEW)):
        of_bead = about not in (About.SESSION, About.AGENT, About.MACHINE)
        bead = Bead("b", "B", BeadType.EPIC if about is About.EPIC else BeadType.TASK, return_to=status)
        found = Escalation(
            7,
            type_,
            "b" if of_bead else None,
            "asked",
            evidence=EVIDENCE.get(about, {}),
            session=1 if about is About.SESSION else None,
        )
        stakes = Stakes(bead if of_bead else None)
        shown = choices(found, stakes)
        assert [one.how for one in shown] == [*table.ways(found, stakes.bead)]
        assert all(one.label and one.does and "{" not in one.does + one.costs for one in shown), shown


def test_a_note_where_an_option_is_asked_for_changes_nothing(store):
    form = forms.as_values(forms.made("radio", ["UTC", "CET"]))
    number, _ = filed(store, EscalationType.QUESTION, About.BEAD, form=form)
    for again in range(2):
        with pytest.raises(NotAllowed, match="not a note"):
            desk.resolve(store, number, "retry", f"words {again}", "me")
    assert store.escalation(number).resolved_at is None


def test_an_agents_form_has_no_option_of_nobrakes_own(store):
    """Only evidence makes it one, and an agent fills a form, and no evidence."""
    for label in itertools.chain.from_iterable(OPTIONS.values()):
        form = forms.as_values(forms.made("radio", [label, "another"]))
        number, bead = filed(store, EscalationType.QUESTION, About.BEAD, form=form)
        assert desk.answer(store, number, "1", "me").answer == label
        assert (store.bead(bead).held, store.bead(bead).status) == (None, Status.NEEDS_DOER)


def test_an_empty_answer_is_refused_for_each_type_that_takes_words(store):
    for type_ in (one for one in EscalationType if "answer" in TABLE[one]):
        number, _ = filed(store, type_, About.BEAD)
        with pytest.raises(UsageError):
            desk.answer(store, number, " ", "me")
    assert not [one for one in store.events() if one.kind is Kind.ANSWERED]
