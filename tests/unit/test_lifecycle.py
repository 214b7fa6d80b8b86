"""The life of a bead, told move by move; and every move that is not told is refused."""

from itertools import product

import pytest

from nobrakes.core import lifecycle
from nobrakes.core.bead import CLOSED, WORKING, Bead, BeadType, Status, first_status
from nobrakes.core.errors import NotAllowed
from nobrakes.core.events import Kind

STORY = """
draft           approved             START
draft           cancelled            cancelled

needs_tests     test_writer_started  writing_tests
writing_tests   tests_proven_red     needs_doer
writing_tests   test_writer_stopped  needs_tests
writing_tests   tests_rejected       needs_tests
needs_doer      doer_started         doing
doing           work_submitted       needs_review
doing           doer_stopped         needs_doer
needs_review    review_started       reviewing
reviewing       merged               done
reviewing       review_rejected      needs_doer
reviewing       review_interrupted   needs_review
escalated       resolved             BACK

open            epic_completed       done
done            reverted             needs_doer
done            reopened             START
cancelled       reopened             START

open            undone               draft
needs_tests     undone               draft
needs_doer      undone               draft
done            undone               BACK
cancelled       undone               BACK
"""
"""What a person may do with a bead that is under way is said by `people_may`."""

MOVES = {(Status(a), Kind(kind)): to for a, kind, to in (line.split() for line in STORY.splitlines() if line)}


def people_may(status: Status, kind: Kind) -> str | None:
    """People cancel or finish whatever is live, whatever an agent or the Reviewer may touch can escalate, and what main
    carries is done, whatever the database says.
    """
    if kind is Kind.FOUND_MERGED:
        return None if status is Status.OPEN else "done"
    if status is Status.DRAFT or status in CLOSED:
        return None
    if kind in (Kind.CANCELLED, Kind.DONE_BY_HAND):
        return "cancelled" if kind is Kind.CANCELLED else "done"
    if kind is Kind.ESCALATED and status not in (Status.OPEN, Status.ESCALATED):
        return "escalated"
    return None


@pytest.mark.parametrize(("status", "kind"), list(product(Status, Kind)))
def test_every_status_and_every_kind(status: Status, kind: Kind) -> None:
    bead = Bead("b", "A bead", status=status, needs_tests=True, return_to=Status.NEEDS_REVIEW)
    told = MOVES.get((status, kind)) or people_may(status, kind)
    if told is None:
        with pytest.raises(NotAllowed) as refused:
            lifecycle.advance(bead, kind)
        assert status.value in str(refused.value) and refused.value.hint
    else:
        expected = {"START": Status.NEEDS_TESTS, "BACK": Status.NEEDS_REVIEW}.get(told) or Status(told)
        assert lifecycle.advance(bead, kind) is expected


@pytest.mark.parametrize(
    ("bead", "start"),
    [
        (Bead("b", "Feature"), Status.NEEDS_TESTS),
        (Bead("b", "Docs", needs_tests=False), Status.NEEDS_DOER),
        (Bead("b", "Epic", type=BeadType.EPIC), Status.OPEN),
        (Bead("b", "Epic", type=BeadType.EPIC, needs_tests=False), Status.OPEN),
    ],
)
def test_an_approved_bead_starts_where_its_kind_of_work_starts(bead: Bead, start: Status) -> None:
    assert first_status(bead) is start
    assert lifecycle.advance(bead, Kind.APPROVED) is start


def test_an_escalated_bead_goes_back_to_waiting_never_to_working() -> None:
    for status in Status:
        assert lifecycle.returns_to(status) not in WORKING


def test_a_bead_that_remembers_nothing_starts_again() -> None:
    assert lifecycle.advance(Bead("b", "A bead", status=Status.ESCALATED), Kind.RESOLVED) is Status.NEEDS_TESTS


def test_every_working_status_can_be_left_by_an_attempt_that_stops() -> None:
    waits = {lifecycle.returns_to(status) for status in WORKING}
    for status in WORKING:
        assert waits & set(lifecycle.TABLE[status].values()), f"{status} holds a bead for ever"


def test_every_status_can_be_reached_and_every_open_one_left() -> None:
    assert set(lifecycle.TABLE) == set(Status)
    seen, todo = set(), [Status.DRAFT]
    while todo:
        status = todo.pop()
        if status not in seen:
            seen.add(status)
            for target in lifecycle.TABLE[status].values():
                todo += (
                    [Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.OPEN] if target in ("START", "BACK") else [target]
                )
    assert seen == set(Status)


def test_the_diagram_has_a_line_for_every_move_and_nothing_twice() -> None:
    lines = lifecycle.mermaid().splitlines()
    assert lines[0] == "stateDiagram-v2" and len(lines) == len(set(lines))
    for status, row in lifecycle.TABLE.items():
        for kind, target in row.items():
            ends = [line for line in lines if line.startswith(f"    {status} --> ") and line.endswith(f": {kind}")]
            assert ends
            assert target in ("START", "BACK") or ends == [f"    {status} --> {target}: {kind}"]
