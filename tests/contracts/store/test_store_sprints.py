"""Sprints in the store: one run goes on, a new yes takes over what was begun, documents come when they are waited for."""

import pytest

from nobrakes.beads.model import Bead
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Event
from nobrakes.events.kinds import Kind as EventKind
from nobrakes.projects.model import Kind, RunState, Stage
from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store

TERMS = {"brief": "a", "checks": "b", "caps": "c"}


def begun(store: Store) -> int:
    """A run with its first sprint in planning; the session's number."""
    run = store.begin_sprints(3, False, TERMS, "you")
    spec = ("script", "", "")
    session = store.begin_session(SessionKind.PLANNING, "person:you", "Plan", spec, "Plan it.", "nobrakes").id
    assert store.add_sprint(1, run.id, session).stage is Stage.PLANNING
    return session


def test_one_run_goes_on_and_a_new_yes_takes_over_what_was_begun(store: Store) -> None:
    assert store.sprints_going() is None and store.sprints() == []
    session = begun(store)
    with pytest.raises(NotAllowed, match="not all are done"):
        store.begin_sprints(1, False, TERMS, "you")
    first = store.sprints_going()
    assert first is not None and first.run.terms == TERMS and (first.done, first.last) == (0, 1)
    assert store.settle_run(first.run.id, RunState.WAITS, "the brief changed", "nobrakes")
    assert not store.settle_run(first.run.id, RunState.WAITS, "again", "nobrakes"), "it is told once"
    second = store.begin_sprints(2, True, {**TERMS, "brief": "z"}, "you")
    going = store.sprints_going()
    assert going is not None and going.run == second and going.sprint is not None
    assert (going.sprint.number, going.sprint.run, going.sprint.session) == (1, second.id, session)
    assert not store.settle_run(first.run.id, RunState.OVER, "late", "nobrakes"), "the last run alone moves"
    told = [event.data.get("reason") for event in store.events() if event.kind is EventKind.SPRINT_MOVED]
    assert "the brief changed" in told and "late" not in told


def test_documents_are_taken_while_the_sprint_waits_for_them(store: Store) -> None:
    session = begun(store)
    store.put([Bead("sprint-1", "Sprint 1")], [], "nobrakes")
    with pytest.raises(NotAllowed, match="planning"):
        store.hand_in_document(1, Kind.REVIEW, "## Done", "Ada")
    store.hand_in_document(1, Kind.PLAN, "- [ ] A", "Session 1", "The Menu!")
    made = store.sprint_of(None, session)
    assert made is not None and made.folder == "docs/sprints/s1-the-menu"
    store.change_sprint(1, {"stage": Stage.EXECUTING, "bead": "sprint-1"}, "nobrakes")
    assert store.sprint_of("sprint-1", None) == store.sprints()[0] and store.sprint_of("other", None) is None
    with pytest.raises(NotAllowed, match="executing"):
        store.hand_in_document(1, Kind.PLAN, "- [ ] B", "Ada")
    store.hand_in_document(1, Kind.DECISION, "SQLite", "Ada")
    store.hand_in_document(1, Kind.REVIEW, "## Done", "Ada")
    going = store.sprints_going()
    assert going is not None
    assert [one.kind for one in going.documents] == [Kind.PLAN, Kind.DECISION, Kind.REVIEW]
    store.change_sprint(1, {"stage": Stage.CLOSING}, "nobrakes")
    with pytest.raises(NotAllowed, match="over"):
        store.hand_in_document(1, Kind.WISH, "More", "Ada")
    store.change_sprint(1, {"stage": Stage.DONE}, "nobrakes")
    done = store.sprints_going()
    assert done is not None and done.sprint is None and done.done == 1 and store.sprints()[0].ended_at is not None


def test_a_new_yes_makes_again_what_a_person_gave_up(store: Store) -> None:
    session = begun(store)
    first = store.sprints_going()
    assert first is not None
    store.settle_run(first.run.id, RunState.WAITS, "x", "nobrakes")
    store.end_session(session, "you")
    second = store.begin_sprints(1, False, TERMS, "you")
    going = store.sprints_going()
    assert going is not None and going.sprint is None and going.last == 0, "its planner handed nothing in"
    spec = ("script", "", "")
    again = store.begin_session(SessionKind.PLANNING, "person:you", "Plan", spec, "Plan it.", "nobrakes").id
    store.add_sprint(1, second.id, again)
    store.hand_in_document(1, Kind.PLAN, "- [ ] A", "Session 2", "menu")
    store.put([Bead("sprint-1", "Sprint 1"), Bead("kept", "Documents")], [], "nobrakes")
    store.change_sprint(1, {"stage": Stage.EXECUTING, "bead": "sprint-1", "opening": "kept"}, "nobrakes")
    store.record(Event(EventKind.CANCELLED, "sprint-1", actor="you"))
    store.settle_run(second.id, RunState.WAITS, "x", "nobrakes")
    store.begin_sprints(1, False, TERMS, "you")
    after = store.sprints_going()
    assert after is not None and after.sprint is not None
    assert (after.sprint.bead, after.sprint.opening, after.sprint.name) == (None, "kept", "menu")
