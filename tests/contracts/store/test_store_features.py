"""Features in the store: one is planned at a time, tables alone move them, and what is kept is kept once."""

from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NoSuchFeature, NotAllowed
from nobrakes.events.kinds import Kind
from nobrakes.features.model import (
    Criterion,
    Feature,
    Finding,
    FindingState,
    ItemKind,
    ItemState,
    ReviewState,
    Stage,
    State,
    Step,
)
from nobrakes.sessions.model import SessionKind
from nobrakes.snapshot.reader import Restored
from nobrakes.store import Store


def begun(store: Store, id_: str = "windows", **more: Any) -> Feature:
    store.put([Bead(id_, id_.title(), type=BeadType.EPIC)], [], "me")
    return store.begin_feature(Feature(id_, id_.title(), "Support it", actor="me", **more))


def kinds(store: Store) -> list[Kind]:
    return [event.kind for event in store.events(0, 1000) if event.bead == "windows"][1:]


def test_a_feature_is_kept_as_it_was_said(store: Store) -> None:
    said = (Criterion("The tests pass", "automated"), Criterion("It looks right", "manual", usual=False))
    one = begun(store, criteria=said, files=("a.py",), notes="paths", base="c0de", data={"scan": 3})
    assert store.feature("windows") == one == store.features()[0]
    assert (one.stage, one.state, one.criteria, one.files) == (Stage.DISCOVERY, State.ACTIVE, said, ("a.py",))
    changed = store.change_feature("windows", {"notes": "long paths", "round": 2}, "me")
    assert (changed.notes, changed.round, changed.data) == ("long paths", 2, {"scan": 3})
    store.change_feature("windows", {"round": 3}, "nobrakes")  # the machine's bookkeeping is no event
    assert kinds(store) == [Kind.FEATURE_BEGAN, Kind.FEATURE_CHANGED]
    with pytest.raises(NoSuchFeature):
        store.feature("linux")


def test_one_feature_is_planned_at_a_time(store: Store) -> None:
    begun(store)
    with pytest.raises(NotAllowed, match="one feature at a time in a repository"):
        begun(store, "linux")
    store.move_feature("windows", Step.PAUSED, "me")
    assert store.begin_feature(Feature("linux", "Linux", "", actor="me")).has_turn
    with pytest.raises(NotAllowed):
        store.move_feature("windows", Step.RESUMED, "me")


def test_what_is_built_or_gave_its_turn_up_leaves_it_to_another(store: Store) -> None:
    begun(store)
    store.move_feature("windows", Step.APPROVED, "me")
    begun(store, "linux")
    store.move_feature("linux", Step.EXPIRED, "nobrakes")
    begun(store, "mac")
    with pytest.raises(NotAllowed):
        store.move_feature("linux", Step.RESUMED, "me")
    assert store.feature("linux").state is State.EXPIRED
    with pytest.raises(NotAllowed):  # back to its plan is a turn, too
        store.move_feature("windows", Step.CHECKPOINT, "nobrakes")
    store.move_feature("mac", Step.PAUSED, "me")
    moved = store.move_feature("windows", Step.CHECKPOINT, "nobrakes", "ten were collected", round=0)
    assert (moved.stage, moved.replannings, moved.round) == (Stage.REVIEW, 1, 0)
    assert store.move_feature("mac", Step.ROLLED_BACK, "me") not in store.features()
    assert [one.id for one in store.features(going=False)] == ["linux", "mac", "windows"]


def test_a_plan_is_kept_once_for_each_change(store: Store) -> None:
    begun(store)
    first = store.keep_plan("windows", [{"id": "a", "title": "A"}], "it is whole", "Shaper")
    assert store.keep_plan("windows", [{"id": "a", "title": "A"}], "again", "Shaper") == first
    second = store.keep_plan("windows", [{"id": "a", "title": "B"}], "a finding", "Shaper")
    assert [one.number for one in store.plan_versions("windows")] == [1, 2]
    assert store.feature("windows").plan == second.number == 2
    assert kinds(store) == [Kind.FEATURE_BEGAN, Kind.PLAN_KEPT, Kind.PLAN_KEPT]


def test_reviews_and_findings_end_once(store: Store) -> None:
    begun(store)
    session = store.begin_session(SessionKind.PLANNING, "f", "t", ("script", "", ""), "look", "nobrakes").id
    store.begin_review("windows", 1, "backend", session)
    with pytest.raises(NotAllowed):
        store.begin_review("windows", 1, "backend", None)
    assert store.feature_of_session(session) == (store.feature("windows"), "backend")
    assert store.feature_of_session(session + 1) is None
    new = Finding(0, "windows", 1, "backend", "security", 1, "No check", "Anybody may", ("Check it",), "a")
    found = store.add_finding(new)
    assert store.end_review("windows", 1, "backend", ReviewState.DONE, "")
    assert not store.end_review("windows", 1, "backend", ReviewState.FAILED, "late")
    assert store.resolve_finding(found.id, FindingState.RISK_ACCEPTED, "it is a demo", "me")
    assert not store.resolve_finding(found.id, FindingState.ANSWERED, "no", "me")
    (kept,) = store.findings("windows", 1)
    assert (kept.state, kept.answer, kept.options) == (FindingState.RISK_ACCEPTED, "it is a demo", ("Check it",))
    assert [one.state for one in store.plan_reviews("windows")] == [ReviewState.DONE]


def test_an_item_is_collected_once(store: Store) -> None:
    begun(store)
    first = store.collect("windows", ItemKind.TODO, "long  paths", "nobrakes", file="a.py", line=3)
    assert first is not None and first.text == "long paths"
    assert store.collect("windows", ItemKind.TODO, "long paths", "nobrakes", file="a.py", line=9) is None
    other = store.collect("windows", ItemKind.SUGGESTION, "long paths", "Ada", bead="a")
    assert other is not None and [one.id for one in store.items("windows")] == [first.id, other.id]
    assert store.resolve_items({first.id, 99}, ItemState.REVIEWED, "me") == 1
    assert store.resolve_items({first.id}, ItemState.REVIEWED, "me") == 0
    assert [one.state for one in store.items("windows")] == [ItemState.REVIEWED, ItemState.WAITING]


def test_a_feature_comes_back_with_its_bead(store: Store, tmp_path: Path) -> None:
    said = (Criterion("It looks right", "manual", usual=False),)
    begun(store, criteria=said, files=("a.py",), notes="paths", base="c0de")
    store.keep_plan("windows", [{"id": "a"}], "it is whole", "Shaper")
    store.move_feature("windows", Step.PLAN_READY, "nobrakes")
    store.put([Bead("none", "None", type=BeadType.EPIC, metadata={"feature": {"stage": "moon"}})], [], "me")
    found = Restored(store.beads(), store.dependencies())
    lost = Store(str(tmp_path / "lost.db"), create=True)
    lost.restore(found, "me")
    back = lost.feature("windows")
    assert (back.title, back.criteria, back.files, back.notes, back.base) == (
        "Windows",
        said,
        ("a.py",),
        "paths",
        "c0de",
    )
    assert (back.stage, back.state, back.plan) == (Stage.PLANNING, State.ACTIVE, 0)
    assert [one.id for one in lost.features(going=False)] == ["windows"] and lost.differences() == {}
    store.move_feature("windows", Step.PAUSED, "me")
    assert store.events(0, 1000)[-1].data["was"] == "active"
    store.change_feature("windows", {"archived": True}, "me")
    lost.bring_back(Restored(store.beads(), store.dependencies()), 1000, "me")
    assert (lost.feature("windows").state, lost.feature("windows").archived) == (State.PAUSED, True)
    lost.close()


def test_what_comes_back_is_of_epics_with_facts_that_can_be_and_one_has_the_turn(store: Store, tmp_path: Path) -> None:
    begun(store)
    facts = store.bead("windows").metadata["feature"]
    wrong = [facts | {"created_at": moment} for moment in (10**400, 1e300, -1)]
    wrong += [facts | {"replannings": count} for count in (10**30, -1, None)]
    beads = [Bead(f"wrong-{n}", "W", type=BeadType.EPIC, metadata={"feature": one}) for n, one in enumerate(wrong)]
    beads.append(Bead("task", "A task", metadata={"feature": facts}))
    beads.append(Bead("linux", "Linux", type=BeadType.EPIC, metadata={"feature": facts}))
    beads.append(Bead("mac", "Mac", type=BeadType.EPIC, metadata={"feature": facts | {"state": "paused"}}))
    lost = Store(str(tmp_path / "lost.db"), create=True)
    lost.restore(Restored([*beads, *store.beads()], []), "me")
    assert [(one.id, one.state) for one in lost.features()] == [
        ("linux", State.ACTIVE),
        ("mac", State.PAUSED),
        ("windows", State.PAUSED),
    ]
    assert lost.bead("windows").metadata["feature"]["state"] == "paused"
    now = [lost.bead("linux"), lost.bead("mac")]
    for bead, state in zip(now, ("paused", "active"), strict=True):
        bead.metadata["feature"]["state"] = state
    lost.bring_back(Restored(now, []), 1000, "me")
    assert [(one.id, one.has_turn) for one in lost.features()] == [("linux", False), ("mac", True), ("windows", False)]
    lost.close()


def test_no_session_of_a_feature_that_is_paused_begins_a_turn(store: Store) -> None:
    begun(store)
    spec = ("claude", "anthropic", "")
    shaper = store.begin_session(SessionKind.PLANNING, "bead:windows", "Windows", spec, "begin", "me").id
    reviewer = store.begin_session(SessionKind.REVIEW, "bead:windows", "Review", spec, "look", "nobrakes").id
    store.change_feature("windows", {"session": shaper}, "nobrakes")
    store.begin_review("windows", 1, "backend", reviewer)
    assert [one.id for one in store.board(Limits()).sessions] == [shaper, reviewer]
    store.move_feature("windows", Step.PAUSED, "me")
    assert store.board(Limits()).sessions == ()
    assert store.open_turn(shaper) is None and store.open_turn(reviewer) is None, "it was offered before the pause"
    store.move_feature("windows", Step.RESUMED, "me")
    assert store.open_turn(shaper) is not None and store.open_turn(reviewer) is not None


def test_an_answer_to_a_session_that_has_ended_is_past(store: Store) -> None:
    session = store.begin_session(SessionKind.PLANNING, "person:me", "Talk", ("claude", "", ""), "hi", "me").id
    asked = [store.escalate(_question(session, title), None, None, "Session 1").id for title in ("a?", "b?")]
    store.answer(asked[0], "so", "me")
    store.end_session(session, "me")
    for number, why in zip(asked, ("which asked, has ended", "without an answer"), strict=True):
        with pytest.raises(NotAllowed, match=why):
            store.take_back(number, "me")


def _question(session: int, title: str) -> NewEscalation:
    return NewEscalation(EscalationType.QUESTION, title, session=session)
