"""Sprints in the store: one run goes on, a new yes takes over what was begun, documents come when they are waited for."""

import pytest

from nobrakes.beads.model import Bead, BeadType, Role, Status
from nobrakes.checks.policy.boundaries import SPRINT, is_in_sprint
from nobrakes.config.sections import CheckSettings
from nobrakes.config.settings import Config
from nobrakes.daemon.service.control import limits as limits_of
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Event
from nobrakes.events.kinds import Kind as EventKind
from nobrakes.features.model import Feature, Step
from nobrakes.projects.model import Kind, RunState, Stage
from nobrakes.projects.service.sprint_approval import unfinished, view
from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store
from tests.contracts.store.store_beads import bead

TERMS = {"brief": "a", "checks": "b", "caps": "c"}


def begun(store: Store) -> str:
    """A run with its first sprint in planning; its feature."""
    run = store.begin_sprints(3, False, TERMS, "you")
    store.put([Bead("sprint-1", "Sprint 1", type=BeadType.EPIC)], [], "you")
    store.begin_feature(Feature("sprint-1", "Sprint 1", "Sell tea", actor="you"))
    assert store.add_sprint(1, run.id, "sprint-1").stage is Stage.PLANNING
    return "sprint-1"


def test_one_run_goes_on_and_a_new_yes_takes_over_what_was_begun(store: Store) -> None:
    assert store.sprints_going() is None and store.sprints() == []
    feature = begun(store)
    with pytest.raises(NotAllowed, match="not all are done"):
        store.begin_sprints(1, False, TERMS, "you")
    first = store.sprints_going()
    assert first is not None and first.run.terms == TERMS and (first.done, first.last) == (0, 1)
    assert store.set_run_state(first.run.id, RunState.WAITS, "the brief changed", "nobrakes")
    assert not store.set_run_state(first.run.id, RunState.WAITS, "again", "nobrakes"), "it is told once"
    second = store.begin_sprints(2, True, {**TERMS, "brief": "z"}, "you")
    going = store.sprints_going()
    assert going is not None and going.run == second and going.sprint is not None
    assert (going.sprint.number, going.sprint.run, going.sprint.bead) == (1, second.id, feature)
    assert not store.set_run_state(first.run.id, RunState.OVER, "late", "nobrakes"), "the last run alone moves"
    told = [event.data.get("reason") for event in store.events() if event.kind is EventKind.SPRINT_MOVED]
    assert "the brief changed" in told and "late" not in told


def test_documents_are_taken_from_every_bead_of_the_sprint_until_it_closes(store: Store) -> None:
    begun(store)
    parts = [Bead("part", "Part", type=BeadType.EPIC, epic="sprint-1"), Bead("menu", "Menu", epic="part")]
    store.put([*parts, Bead("other", "Other")], [], "you")
    store.change_sprint(1, {"stage": Stage.EXECUTING}, "nobrakes")
    for one in ("menu", "part", "sprint-1"):
        assert store.sprint_of(one) == store.sprints()[0]
    assert store.sprint_of("other") is None
    store.hand_in_document(1, Kind.DECISION, "SQLite", "Ada")
    store.hand_in_document(1, Kind.REVIEW, "## Done", "Ada")
    going = store.sprints_going()
    assert going is not None
    assert [one.kind for one in going.documents] == [Kind.DECISION, Kind.REVIEW]
    store.change_sprint(1, {"stage": Stage.CLOSING}, "nobrakes")
    with pytest.raises(NotAllowed, match="has ended"):
        store.hand_in_document(1, Kind.WISH, "More", "Ada")
    store.change_sprint(1, {"stage": Stage.DONE}, "nobrakes")
    done = store.sprints_going()
    assert done is not None and done.sprint is None and done.done == 1 and store.sprints()[0].ended_at is not None


def test_a_new_yes_makes_again_what_a_person_gave_up(store: Store) -> None:
    begun(store)
    store.put([Bead("kept", "Documents")], [], "nobrakes")
    store.change_sprint(1, {"stage": Stage.EXECUTING, "opening": "kept"}, "nobrakes")
    first = store.sprints_going()
    assert first is not None
    store.set_run_state(first.run.id, RunState.WAITS, "x", "nobrakes")
    store.move_feature("sprint-1", Step.ROLLED_BACK, "you", "not this one")
    second = store.begin_sprints(1, False, TERMS, "you")
    after = store.sprints_going()
    assert after is not None and after.sprint is not None
    assert (after.sprint.bead, after.sprint.opening) == (None, None)
    store.put([Bead("again", "Sprint 1", type=BeadType.EPIC)], [], "you")
    store.change_sprint(1, {"bead": "again"}, "nobrakes")
    store.record(Event(EventKind.CANCELLED, "again", actor="you"))
    store.set_run_state(second.id, RunState.WAITS, "x", "nobrakes")
    store.begin_sprints(1, False, TERMS, "you")
    cancelled = store.sprints_going()
    assert cancelled is not None and cancelled.sprint is not None and cancelled.sprint.bead is None


def test_every_bead_below_the_epic_of_a_sprint_is_the_sprints(store: Store) -> None:
    epic = Bead("sprint-1", "Sprint 1", type=BeadType.EPIC, metadata={SPRINT: 1})
    part = Bead("part", "Part", type=BeadType.EPIC, epic="sprint-1")
    store.put([epic, part, Bead("menu", "Menu", epic="part"), Bead("other", "Other")], [], "you")
    assert [is_in_sprint(store, store.bead(id)) for id in ("sprint-1", "part", "menu", "other")] == [*[True] * 3, False]


def test_a_run_costs_what_its_features_and_their_beads_cost(store: Store) -> None:
    feature = begun(store)
    going = store.sprints_going()
    assert going is not None and store.sprints_cost(going.run.id).usd == 0.0
    spec = ("script", "", "")
    mine = store.begin_session(SessionKind.PLANNING, f"bead:{feature}", "Plan", spec, "Plan it.", "nobrakes").id
    other = store.begin_session(SessionKind.PLANNING, "bead:other", "Plan", spec, "Plan it.", "nobrakes").id
    free = Bead("free", "Free", needs_tests=False, status=Status.NEEDS_DOER)
    store.put([Bead("menu", "Menu", epic=feature), free], [], "you")
    for session in (mine, other):
        opened = store.open_turn(session)
        assert opened is not None
        store.spend_turn(opened[0].id, 2.5, 1000)
    assert store.sprints_cost(going.run.id).usd == 2.5
    attempt = store.open_attempt("free", Role.DOER, "script", ("Ada",), 600.0, None)
    assert attempt is not None
    store.spend(attempt.id, 0.0, 400)
    store.run("UPDATE attempts SET bead = 'menu'")
    assert store.sprints_cost(going.run.id).estimated == 1.0, "what is not reported costs what its provider's tokens do"


def test_a_daemon_continues_sessions_and_beads_besides_sprints(store: Store) -> None:
    limits = limits_of(store, Config(checks=(CheckSettings(name="test", command="true", kind="test"),)))
    assert unfinished(store, store.board(limits)) == ""
    store.put([bead("a"), bead("b")], [], "you")
    session = store.begin_session(SessionKind.CHAT, "person:you", "Talk", ("script", "", ""), "hi", "you").id
    assert unfinished(store, store.board(limits)) == "2 beads and 1 session"
    store.open_turn(session)
    assert unfinished(store, store.board(limits)) == "2 beads and 1 session", "a turn that was cut goes on"


def test_a_run_whose_next_sprint_waits_for_another_feature_says_so(store: Store) -> None:
    store.begin_sprints(2, False, TERMS, "you")
    assert view(store).waits_for == ""
    store.put([Bead("login", "Login", type=BeadType.EPIC)], [], "you")
    store.begin_feature(Feature("login", "Login", "Let people log in", actor="you"))
    assert view(store).waits_for == "feature login, which nobrakes plans first"
