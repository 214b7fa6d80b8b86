"""Whose merge waits for a person's yes, for what a yes counts, and when nobody needs it any more."""

from nobrakes.daemon import deciders
from nobrakes.daemon.model import Board, GoOnUnapproved, Limits
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.journal import content_of, given, needed


def board(approve: str, **facts: object) -> Board:
    return Board(now=1.0, limits=Limits(approve=approve), **facts)  # type: ignore[arg-type]


def test_a_label_asks_for_the_bead_and_all_below_an_epic() -> None:
    labelled = {"one": "one", "two": "epic"}
    assert needed(board("labelled", labelled=labelled), "one") == "the bead has the label merge-review"
    assert needed(board("labelled", labelled=labelled), "two") == "its epic epic has the label merge-review"
    assert needed(board("labelled", labelled=labelled), "three") == ""
    assert needed(board("never", labelled=labelled), "one") == ""
    assert needed(board("always"), "three") == 'review.approve is "always"'


def decided(number: int, resolution: str, content: str = "c", at: float | None = 5.0) -> Escalation:
    evidence = {"content": content}
    type_ = EscalationType.MERGE_REVIEW
    return Escalation(number, type_, "one", "t", evidence=evidence, resolved_at=at, resolution=resolution)


def said(number: int, seq: int, by: str = "Bea") -> Event:
    return Event(Kind.RESOLVED, "one", actor=by, data={"escalation": number}, seq=seq)


def test_a_yes_is_for_one_content_and_one_merge() -> None:
    yes, event = decided(1, "approve: good"), said(1, 20)
    assert given([yes], "c", [said(7, 21), event, said(2, 9)], 0) == (yes, event)
    assert given([yes], "d", [event], 0) is None, "another content"
    assert given([yes], "c", [event], 20) is None and given([yes], "c", [event], 25) is None, "merged since"
    others = [decided(1, "retry"), decided(2, "approved by nobody"), decided(3, "approve", at=None)]
    assert given(others, "c", [said(1, 5), said(2, 6), said(3, 7)], 0) is None
    late = decided(4, "approve", at=1.0)  # the clock went back meanwhile: the log knows the order
    assert given([late, yes, decided(2, "approve")], "c", [said(4, 30), event, said(2, 10)], 19) == (late, said(4, 30))
    assert given([yes], "c", [], 0) is None, "nobody is known to have said it"
    other = Escalation(9, EscalationType.UNUSUAL_CONTENT, "one", "t", evidence={"content": "c"}, resolution="approve")
    assert given([other], "c", [said(9, 40)], 0) is None


def test_what_nobody_asks_for_any_more_goes_on_also_while_paused() -> None:
    open_ = {"one": 7, "two": 8}
    still = board("labelled", to_approve=open_, labelled={"two": "two"}, paused=True)
    (goes_on,) = deciders.plan_assignments(still)
    assert isinstance(goes_on, GoOnUnapproved) and goes_on.escalation == 7
    assert goes_on.why.startswith("approval is no longer needed: neither the bead nor an epic above it")
    never = [
        one for one in deciders.plan_assignments(board("never", to_approve=open_)) if isinstance(one, GoOnUnapproved)
    ]
    assert [one.escalation for one in never] == [7, 8] and 'is "never"' in never[0].why
    assert deciders.plan_assignments(board("always", to_approve=open_)) == []


DIFFERENCE = """diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def before():
 one
-two
+three
"""


def content(text: str) -> str:
    return content_of(text.encode().splitlines(keepends=True))


def test_a_content_is_the_same_wherever_it_stands_and_no_other_is() -> None:
    moved = DIFFERENCE.replace("-1,3 +1,3 @@ def before():", "-91,3 +99,3 @@").replace("1111111..2222222", "3..4")
    assert content(moved) == content(DIFFERENCE)
    for old, new in (
        ("+three", "+ three"),
        ("+three", "+index 1"),
        (" one", " uno"),
        ("a/a.py", "a/b.py"),
        ("diff --git", "new mode 100755\ndiff --git"),
    ):
        assert content(DIFFERENCE.replace(old, new)) != content(DIFFERENCE), (old, new)
