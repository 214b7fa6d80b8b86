"""Work that a person sends back: comments on lines become one text, which the next agent gets, and nothing has failed."""

import pytest

from nobrakes.agents.quoting import answered, bead_text
from nobrakes.beads.model import Outcome, Role, Status
from nobrakes.beads.proposals import ByHand
from nobrakes.beads.service import bead_commands
from nobrakes.decisions.forms import as_values, made
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NotAllowed, Stale, UsageError
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.service import undo
from nobrakes.review.service.merges import DiffView, FileDiff
from nobrakes.review.service.send_back import MAX_COMMENTS, MAX_TEXT, LineComment, read, send_back, text_of

HEAD, BASE = "a" * 40, "b" * 40
FILES = (FileDiff("src/a.py", "changed", 1, 1), FileDiff("new.py", "renamed", before="old.py"))
VIEW = DiffView("x", "branch", BASE, HEAD, FILES)
TEXT = "Use the helper"


CONTENTS = {(HEAD, "src/a.py"): b"one\n\ttwo \x1b[31m\xff\n", (BASE, "old.py"): b"gone\n"}


class Files:
    """The contents of two commits."""

    def read(self, commit: str, path: str) -> bytes | None:
        return CONTENTS.get((commit, path))


@pytest.mark.parametrize(
    ("given", "comment"),
    [
        ("src/a.py:2=Use it", LineComment("src/a.py", 2, "Use it")),
        ("old.py:-1=Why?", LineComment("old.py", 1, "Why?", True)),
        ("a:b=c.py:7= x:1=y\nz ", LineComment("a:b=c.py", 7, "x:1=y\nz")),
    ],
)
def test_a_comment_names_a_file_and_a_line_of_either_side(given, comment):
    assert read([given]) == [comment]


def test_a_file_whose_name_looks_like_a_place_takes_comments():
    paths = ("a:1=b", "a:1=b:2=c", "a")
    found = read(["a:1=b:3=x", "a:1=b:2=c:-4=x", "a:1=other", "a:1=b:2=c"], paths)
    assert [(one.path, one.line, one.text) for one in found] == [
        *(("a:1=b", 3, "x"), ("a:1=b:2=c", 4, "x"), ("a", 1, "other"), ("a:1=b", 2, "c"))
    ]


@pytest.mark.parametrize("given", ["src/a.py=x", "src/a.py:0=x", "src/a.py:1=", "src/a.py:1= \n", ":1=x", "a.py:1", ""])
def test_other_words_are_no_comment(given):
    with pytest.raises(UsageError, match="not a comment on a line"):
        read([given])


def test_the_text_names_the_commit_the_lines_and_what_they_are(store):
    found = read(["src/a.py:2=Use it\nnot that", "new.py:-1=Why?"])
    assert text_of(Files(), VIEW, found, " All in all: no. ").split("\n") == [
        f"A person read commit {HEAD[:12]} and sends the work back.",
        "1. src/a.py, line 2: `two �`",
        "   Use it",
        "   not that",
        "2. new.py, line 1, before the change: `gone`",
        "   Why?",
        "All in all: no.",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("src/b.py:1=x", "'src/b.py' is not a changed file"),
        ("src/a.py:9=x", "src/a.py has no line 9 at aaaaaaa"),
        ("new.py:-4=x", "old.py has no line 4 at bbbbbbb"),
        ("src/a.py:3=x", "src/a.py has no line 3 at aaaaaaa"),
        ("new.py:-2=x", "old.py has no line 2 at bbbbbbb"),
        (f"src/a.py:1={'x' * MAX_TEXT}", f"the limit is {MAX_TEXT}"),
    ],
)
def test_a_line_outside_of_the_difference_is_refused_and_so_is_too_much(given, said):
    with pytest.raises(UsageError, match=said):
        text_of(Files(), VIEW, read([given]), "")


def test_so_many_comments_and_no_more():
    assert len(read(["a:1=x"] * MAX_COMMENTS)) == MAX_COMMENTS
    with pytest.raises(UsageError, match=f"at most {MAX_COMMENTS}"):
        read(["a:1=x"] * (MAX_COMMENTS + 1))


def bead(store, id="x", **fields):
    return bead_commands.add(store, "X", id=id, draft=False, needs_tests=False, **fields)


def handed_in(store):
    bead(store, notes="Old")
    doer = store.open_attempt("x", Role.DOER, "script", ["Ada"], 900.0, None)
    store.close_attempt(doer, Kind.WORK_SUBMITTED, Outcome.COMPLETED, head=HEAD)


def test_a_review_ends_and_nothing_has_failed(store):
    handed_in(store)
    review = store.open_attempt("x", Role.REVIEWER, "nobrakes", (), 900.0, None)
    found = send_back(store, "x", TEXT, "ada")
    assert (found.status, found.failures, found.branch_kept, found.assignee) == (Status.NEEDS_DOER, 0, True, None)
    assert found.notes == f"{TEXT}\n\nOld" and f"## Notes\n\n{TEXT}" in bead_text(found)
    (event,) = store.latest_events((Kind.REVIEW_REJECTED,), None, 5, "x")
    assert (event.actor, event.data["detail"], event.attempt) == ("ada", f"sent back: {TEXT}", review.id)
    assert store.escalations() == [], "nobody is asked"
    with pytest.raises(Stale):
        store.journal(review.id, {"step": "swap"})


def test_what_ended_a_review_is_not_undone_by_halves(store):
    handed_in(store)
    before = store.position().seq
    send_back(store, "x", TEXT, "ada")
    assert undo.undoable(store, after=before) == ()
    with pytest.raises(NotAllowed, match="the bead's review has ended"):
        undo.undo(store, None, "ada")
    assert store.bead("x").notes == f"{TEXT}\n\nOld"


def test_a_review_that_has_not_begun_ends_too(store):
    handed_in(store)
    assert send_back(store, "x", TEXT, "ada").status is Status.NEEDS_DOER
    assert [one.outcome for one in store.attempts("x")] == [Outcome.COMPLETED]


@pytest.mark.parametrize("step", ["swap", "validate_main", "clean_up"])
def test_what_is_being_merged_stays(store, step):
    handed_in(store)
    review = store.open_attempt("x", Role.REVIEWER, "nobrakes", (), 900.0, None)
    store.journal(review.id, {"step": step})
    with pytest.raises(NotAllowed, match="too late"):
        send_back(store, "x", TEXT, "ada")
    assert store.bead("x").notes == "Old" and store.attempts("x")[-1].outcome is None


def test_a_question_takes_the_text_as_its_answer(store):
    handed_in(store)
    review = store.open_attempt("x", Role.REVIEWER, "nobrakes", (), 900.0, None)
    asks = NewEscalation(EscalationType.MERGE_REVIEW, "x: merge review")
    store.close_attempt(review, Kind.REVIEW_REJECTED, Outcome.MERGE_REVIEW, escalation=asks)
    long = f"{TEXT}. " * 400
    found = send_back(store, "x", long, "ada")
    (asked,) = store.escalations(open_only=False, bead="x")
    assert (found.status, found.notes, asked.answer) == (Status.NEEDS_DOER, "Old", long)
    assert long.strip() in answered([(asked.title, asked.answer)], "nonce123"), "all of it reaches the agent"


def test_a_question_of_the_reviewer_is_decided_and_the_work_goes_to_a_doer(store):
    handed_in(store)
    review = store.open_attempt("x", Role.REVIEWER, "nobrakes", (), 900.0, None)
    asks = NewEscalation(EscalationType.BROKEN_CHECKS, "x: broken checks")
    store.close_attempt(review, Kind.REVIEW_INTERRUPTED, Outcome.BROKEN_CHECKS, escalation=asks)
    assert store.bead("x").status is Status.ESCALATED
    found = send_back(store, "x", TEXT, "ada")
    assert (found.status, found.notes) == (Status.NEEDS_DOER, f"{TEXT}\n\nOld") and store.escalations() == []


def test_several_questions_and_one_without_words_are_decided_first(store):
    bead(store)
    store.escalate(
        NewEscalation(EscalationType.QUESTION, "a?", form=as_values(made("radio", ["A", "B"], []))), "x", None, "B"
    )
    with pytest.raises(NotAllowed, match="waiting for 1 decision"):
        send_back(store, "x", TEXT, "ada")
    store.escalate(NewEscalation(EscalationType.REPEATED_FAILURE, "b"), "x", None, "B")
    with pytest.raises(NotAllowed, match="waiting for 2 decisions"):
        send_back(store, "x", TEXT, "ada")


def test_merged_work_is_opened_again_with_the_text(store):
    bead(store)
    store.record(Event(Kind.DONE_BY_HAND, "x", actor="ada", data={}))
    found = send_back(store, "x", TEXT, "ada")
    assert (found.status, found.notes) == (Status.NEEDS_DOER, TEXT)


def test_the_work_of_a_person_goes_back_to_that_person(store):
    bead(store)
    store.hand_in(ByHand("x", "bea", 1, HEAD, BASE))
    assert send_back(store, "x", TEXT, "ada").held == f"handed back to bea: {TEXT}"


def test_what_waits_for_an_agent_has_the_text_and_what_has_one_is_refused(store):
    bead(store)
    assert send_back(store, "x", TEXT, "ada").status is Status.NEEDS_DOER
    store.open_attempt("x", Role.DOER, "script", ["Ada"], 900.0, None)
    with pytest.raises(NotAllowed, match="is doing") as refused:
        send_back(store, "x", TEXT, "ada")
    assert "nobrakes stop x" in refused.value.hint
    bead_commands.add(store, "D", id="d")
    bead_commands.add(store, "E", id="e", type="epic", draft=False)
    for other, said in (("d", "is a draft"), ("e", "is an epic")):
        with pytest.raises(NotAllowed, match=said):
            send_back(store, other, TEXT, "ada")
