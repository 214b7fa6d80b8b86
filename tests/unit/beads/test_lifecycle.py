"""The life of a bead, told move by move; and every move that is not told is refused."""

from dataclasses import replace
from itertools import product

import pytest

from nobrakes.beads import lifecycle
from nobrakes.beads.lifecycle import Facts, Move, advance
from nobrakes.beads.model import CLOSED, WORKING, Bead, BeadType, Status, first_status
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Kind
from tests.world import moves

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
needs_review    review_rejected      needs_doer
reviewing       merged               done
reviewing       landed               landed
landed          reverted             needs_doer
reviewing       review_rejected      needs_doer
reviewing       review_interrupted   needs_review
escalated       resolved             BACK

needs_tests     handed_in            needs_review
needs_doer      handed_in            needs_review
needs_review    handed_in            needs_review
escalated       handed_in            needs_review
writing_tests   taken                needs_tests
doing           taken                needs_doer
needs_review    taken                needs_doer
reviewing       taken                needs_doer

open            epic_completed       done
open            epic_landed          needs_review
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

WAITING = (Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW)

TAKEN_WHERE_IT_IS = (Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.ESCALATED)


def words(story: str) -> list[list[str]]:
    return [line.split() for line in story.splitlines() if line]


MOVES = {(Status(a), Kind(kind)): to for a, kind, to in words(STORY)}


def at(status: Status, return_to: Status | None = None) -> Bead:
    type_ = BeadType.EPIC if status is Status.OPEN else BeadType.TASK
    return Bead("b", "A bead", type=type_, status=status, return_to=return_to)


def people_may(status: Status, kind: Kind) -> str | None:
    """People cancel or finish whatever is live, a question stops what waits, and what main carries is done, whatever
    the database says.
    """
    if kind is Kind.ESCALATED:
        return "escalated" if status in WAITING else status.value
    if kind is Kind.TAKEN:
        return status.value if status in TAKEN_WHERE_IT_IS else None
    if kind is Kind.FOUND_MERGED:
        return None if status is Status.OPEN else "done"
    if status in (Status.DRAFT, Status.LANDED, *CLOSED):
        return None
    if kind in (Kind.CANCELLED, Kind.DONE_BY_HAND):
        return "cancelled" if kind is Kind.CANCELLED else "done"
    return None


@pytest.mark.parametrize("status", Status)
def test_every_status_and_every_kind(status: Status) -> None:
    for kind in Kind:
        is_as_told(status, kind)


def is_as_told(status: Status, kind: Kind) -> None:
    told = MOVES.get((status, kind)) or people_may(status, kind)
    stays = lifecycle.TABLE[status].get(kind) == "STAYS"
    asks_nobody = kind is Kind.ESCALATED and status not in WAITING
    assert stays == (asks_nobody or (kind is Kind.TAKEN and status in TAKEN_WHERE_IT_IS))
    for back, needs_tests in product((Status.NEEDS_DOER, Status.NEEDS_REVIEW), (True, False)):
        bead = replace(at(status, back), needs_tests=needs_tests)
        if told is None:
            with pytest.raises(NotAllowed) as refused:
                advance(bead, kind)
            assert status.value in str(refused.value) and refused.value.hint
        else:
            assert advance(bead, kind) == as_told(bead, kind, told)


def as_told(bead: Bead, kind: Kind, told: str) -> Move:
    """The move with what the bead remembers by then: an escalated and a closed one where it was, no other anything."""
    after = {"START": first_status(bead), "BACK": bead.return_to}.get(told) or Status(told)
    if kind is Kind.ESCALATED:
        return Move(after, bead.status if bead.status in WAITING else bead.return_to)
    if kind is Kind.TAKEN and bead.status in TAKEN_WHERE_IT_IS:
        return Move(after, bead.return_to)
    if after in CLOSED:
        remembers = bead.status is Status.ESCALATED or bead.status in CLOSED
        return Move(after, bead.return_to if remembers else lifecycle.returns_to(bead.status))
    return Move(after)


ROWS = [(status, kind) for status, row in lifecycle.TABLE.items() for kind in row]


@pytest.mark.parametrize(("status", "kind"), ROWS)
def test_a_row_that_is_changed_is_seen(status: Status, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ({*Status} | {"START", "BACK", "STAYS"}) - {lifecycle.TABLE[status][kind]}:
        with monkeypatch.context() as changed:
            changed.setitem(lifecycle.TABLE, status, {**lifecycle.TABLE[status], kind: other})
            with pytest.raises(AssertionError):
                is_as_told(status, kind)


# --- where it goes back to ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", WAITING)
def test_a_bead_that_is_stopped_goes_back_to_where_it_waited(status: Status) -> None:
    move = advance(at(status), Kind.ESCALATED)
    assert move == Move(Status.ESCALATED, status)
    assert advance(at(move.status, move.return_to), Kind.RESOLVED) == Move(status)


@pytest.mark.parametrize("status", [status for status in Status if status not in CLOSED])
@pytest.mark.parametrize("close", [Kind.CANCELLED, Kind.DONE_BY_HAND])
def test_a_close_that_is_taken_back_brings_it_to_where_it_was_and_nobody_works_on_it(
    status: Status, close: Kind
) -> None:
    if close not in lifecycle.TABLE[status]:
        return
    bead = at(status, Status.NEEDS_REVIEW if status is Status.ESCALATED else None)
    closed = advance(bead, close)
    again = advance(at(closed.status, closed.return_to), Kind.UNDONE)
    assert again == Move(Status.NEEDS_REVIEW if status is Status.ESCALATED else lifecycle.returns_to(status))


def test_what_was_found_on_main_twice_goes_back_to_where_it_was_before_the_first() -> None:
    once = advance(at(Status.NEEDS_DOER), Kind.FOUND_MERGED)
    assert advance(at(once.status, once.return_to), Kind.FOUND_MERGED) == once == Move(Status.DONE, Status.NEEDS_DOER)


def test_a_bead_that_remembers_nothing_starts_again() -> None:
    assert advance(at(Status.ESCALATED), Kind.RESOLVED) == Move(Status.NEEDS_TESTS)


def test_an_escalated_bead_goes_back_to_waiting_never_to_working() -> None:
    for status in Status:
        assert lifecycle.returns_to(status) not in WORKING


# --- where people send it ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", Status)
def test_a_person_sends_an_escalated_bead_to_where_something_waits_for_it(to: Status) -> None:
    bead = at(Status.ESCALATED, Status.NEEDS_DOER)
    if to in WAITING:
        assert advance(bead, Kind.RESOLVED, Facts(to.value)) == Move(to)
    else:
        with pytest.raises(NotAllowed, match=f"cannot get the status '{to.value}'"):
            advance(bead, Kind.RESOLVED, Facts(to.value))


@pytest.mark.parametrize("to", Status)
@pytest.mark.parametrize("type_", [BeadType.TASK, BeadType.EPIC])
def test_a_closed_bead_goes_back_to_where_one_of_its_sort_can_have_been(to: Status, type_: BeadType) -> None:
    bead = Bead("b", "A bead", type=type_, status=Status.CANCELLED)
    allowed = (Status.DRAFT, Status.OPEN) if type_ is BeadType.EPIC else (Status.DRAFT, *WAITING)
    if to in allowed:
        assert advance(bead, Kind.UNDONE, Facts(to.value)) == Move(to)
    else:
        with pytest.raises(NotAllowed, match=f"cannot get the status '{to.value}' back"):
            advance(bead, Kind.UNDONE, Facts(to.value))


# --- what is asked about it --------------------------------------------------------------------------------------

ASKED = """
writing_tests   tests_proven_red     escalated needs_doer
writing_tests   tests_rejected       escalated needs_tests
writing_tests   test_writer_stopped  escalated needs_tests
doing           work_submitted       escalated needs_review
doing           doer_stopped         escalated needs_doer
reviewing       review_rejected      escalated needs_doer
writing_tests   taken                escalated needs_tests
doing           taken                escalated needs_doer
reviewing       taken                escalated needs_doer
reviewing       review_interrupted   escalated needs_review
escalated       resolved             escalated needs_review
done            undone               escalated needs_review
cancelled       undone               escalated needs_review
"""
"""Where it is then, and where it goes back to."""


@pytest.mark.parametrize(("status", "kind"), ROWS)
def test_an_open_question_stops_a_bead_where_it_would_wait(status: Status, kind: Kind) -> None:
    stopped = {(Status(a), Kind(k)): Move(Status(to), Status(back)) for a, k, to, back in words(ASKED)}
    bead = at(status, Status.NEEDS_REVIEW)
    assert advance(bead, kind, Facts(is_asked=True)) == stopped.get((status, kind), advance(bead, kind))


def test_a_resolved_bead_of_which_more_is_asked_remembers_where_a_person_sent_it() -> None:
    bead = at(Status.ESCALATED, Status.NEEDS_DOER)
    move = advance(bead, Kind.RESOLVED, Facts(Status.NEEDS_TESTS, is_asked=True))
    assert move == Move(Status.ESCALATED, Status.NEEDS_TESTS)


def test_a_close_of_a_draft_or_an_epic_that_is_taken_back_stops_nothing() -> None:
    for back in (Status.DRAFT, Status.OPEN):
        bead = Bead("b", "A bead", type=BeadType.EPIC, status=Status.CANCELLED, return_to=back)
        assert advance(bead, Kind.UNDONE, Facts(is_asked=True)) == Move(back)


# --- how it comes in, and what an edit means ---------------------------------------------------------------------


@pytest.mark.parametrize("status", Status)
def test_nobody_works_on_a_bead_that_comes_in_and_an_epic_only_contains(status: Status) -> None:
    rebuilt = status is Status.LANDED  # of which only a rebuilt database knows
    assert lifecycle.added(at(status)) is (status if rebuilt else lifecycle.returns_to(status))
    epic = lifecycle.added(Bead("e", "An epic", type=BeadType.EPIC, status=status))
    if not rebuilt:
        assert epic is (Status.OPEN if lifecycle.returns_to(status) in WAITING else lifecycle.returns_to(status))


def test_an_epic_goes_to_review_and_back_to_its_beads() -> None:
    """Of an epic whose work lands by one pull request."""
    epic = Bead("e", "An epic", type=BeadType.EPIC, status=Status.OPEN)
    assert advance(epic, Kind.EPIC_LANDED) == Move(Status.NEEDS_REVIEW)
    reviewed = replace(epic, status=Status.REVIEWING)
    assert advance(reviewed, Kind.REVIEW_REJECTED) == Move(Status.OPEN)
    assert advance(reviewed, Kind.REVIEW_REJECTED, Facts(is_asked=True)) == Move(Status.ESCALATED, Status.OPEN)
    assert advance(reviewed, Kind.LANDED) == Move(Status.OPEN), "what it had so far is merged, and it goes on"
    assert advance(reviewed, Kind.MERGED) == Move(Status.DONE, Status.OPEN)
    asked = replace(epic, status=Status.ESCALATED, return_to=Status.OPEN)
    assert advance(asked, Kind.RESOLVED) == Move(Status.OPEN)
    assert advance(asked, Kind.RESOLVED, Facts(Status.NEEDS_DOER)) == Move(Status.OPEN)
    assert advance(asked, Kind.RESOLVED, Facts(Status.NEEDS_REVIEW)) == Move(Status.NEEDS_REVIEW)


def test_an_edit_brings_a_bead_to_where_its_new_kind_of_work_starts() -> None:
    tested = Bead("b", "A bead", status=Status.NEEDS_TESTS)
    untested = replace(tested, needs_tests=False, status=Status.NEEDS_DOER)
    epic = replace(tested, type=BeadType.EPIC, status=Status.OPEN)
    assert lifecycle.changed(tested, untested, False) is Status.NEEDS_DOER
    assert lifecycle.changed(tested, untested, True) is Status.NEEDS_DOER
    assert lifecycle.changed(untested, tested, False) is Status.NEEDS_TESTS
    assert lifecycle.changed(untested, tested, True) is Status.NEEDS_DOER, "what was done is not thrown away"
    assert lifecycle.changed(tested, epic, False) is Status.OPEN
    assert lifecycle.changed(epic, tested, False) is Status.NEEDS_TESTS
    assert lifecycle.changed(tested, replace(tested, title="Other"), False) is Status.NEEDS_TESTS


@pytest.mark.parametrize("status", [*WORKING, Status.NEEDS_REVIEW, Status.ESCALATED])
def test_a_bead_that_is_under_way_becomes_no_epic(status: Status) -> None:
    bead = at(status)
    with pytest.raises(NotAllowed, match="its type cannot change to or from epic"):
        lifecycle.changed(bead, replace(bead, type=BeadType.EPIC), True)
    assert lifecycle.changed(bead, replace(bead, needs_tests=False), True) is status


@pytest.mark.parametrize("status", [Status.DRAFT, *CLOSED])
def test_a_draft_and_a_closed_bead_may_be_edited_to_anything(status: Status) -> None:
    assert lifecycle.changed(at(status), replace(at(status), type=BeadType.EPIC, needs_tests=False), True) is status


@pytest.mark.parametrize(
    ("status", "has_tests", "is_asked", "then"),
    [
        (Status.NEEDS_TESTS, False, False, Move(Status.NEEDS_TESTS)),
        (Status.NEEDS_DOER, True, False, Move(Status.NEEDS_DOER)),
        (Status.NEEDS_DOER, False, False, Move(Status.NEEDS_TESTS)),
        (Status.NEEDS_REVIEW, True, False, Move(Status.NEEDS_DOER)),
        (Status.NEEDS_REVIEW, False, True, Move(Status.ESCALATED, Status.NEEDS_TESTS)),
        (Status.NEEDS_DOER, True, True, Move(Status.ESCALATED, Status.NEEDS_DOER)),
        (Status.DRAFT, False, True, Move(Status.DRAFT)),
        (Status.DONE, False, True, Move(Status.DONE)),
    ],
)
def test_a_bead_of_a_lost_database_waits_where_the_next_agent_can_go_on(
    status: Status, has_tests: bool, is_asked: bool, then: Move
) -> None:
    bead = lifecycle.recovered(at(status), has_tests, is_asked)
    assert Move(bead.status, bead.return_to) == then


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
    assert advance(bead, Kind.APPROVED) == Move(start)


def test_every_working_status_can_be_left_by_an_attempt_that_stops() -> None:
    for status in WORKING:
        waits = {lifecycle.returns_to(one) for one in WORKING}
        assert waits & set(lifecycle.TABLE[status].values()), f"{status} holds a bead for ever"


def test_every_status_can_be_reached_and_every_one_left() -> None:
    assert set(lifecycle.TABLE) == set(Status)
    seen, todo = set(), [Status.DRAFT]
    while todo:
        status = todo.pop()
        if status not in seen:
            seen.add(status)
            after = [end for begin, _, end in moves.moves() if begin is status and end is not status]
            assert after
            todo += after
    assert seen == set(Status)


def test_the_diagram_has_a_line_for_every_move_and_nothing_twice() -> None:
    lines = moves.mermaid().splitlines()
    assert lines[0] == "stateDiagram-v2" and len(lines) == len(set(lines))
    for status, row in lifecycle.TABLE.items():
        for kind, target in row.items():
            ends = [line for line in lines if line.startswith(f"    {status} --> ") and line.endswith(f": {kind}")]
            assert bool(ends) is (target != "STAYS")


@pytest.mark.parametrize(
    "move",
    [
        "cancelled --> draft: undone",
        "cancelled --> open: undone",
        "cancelled --> open: reopened",
        "cancelled --> escalated: undone",
        "done --> open: reopened",
        "doing --> escalated: doer_stopped",
        "needs_doer --> needs_tests: changed",
    ],
)
def test_the_diagram_has_what_only_some_beads_do(move: str) -> None:
    assert f"    {move}" in moves.mermaid().splitlines()
