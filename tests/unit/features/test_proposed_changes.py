"""A change of a live bead that is proposed waits beside it: shown, approved in one yes, refused one by one."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import BeadType, Dependency, Status
from nobrakes.beads.proposals import Standing
from nobrakes.beads.service import bead_commands
from nobrakes.config.sections import ForgeSettings
from nobrakes.daemon.service.now import next_step
from nobrakes.decisions.service.all_blockers import NOTHING
from nobrakes.errors import Deadlock, NobrakesError, NotAllowed, PlanError, UsageError
from nobrakes.events.kinds import Kind
from nobrakes.features.service import approving
from nobrakes.features.service.approving import ALL, Choice
from nobrakes.features.service.strategy import revision, strategy
from nobrakes.plans.nodes import plan_of
from nobrakes.plans.service import PlanDeadlock, apply_plan
from nobrakes.review.service.undo import undo
from nobrakes.snapshot import reader
from nobrakes.store import open_memory
from tests.support.records import dumped


def plan(*nodes):
    return plan_of(list(nodes), "plan")


@pytest.fixture
def live(store):
    """A store with three live beads: b waits for a."""
    for name, needs in (("a", ()), ("b", ("a",)), ("c", ())):
        bead_commands.add(store, name.upper(), id=name, needs=needs, draft=False, acceptance=["it runs"])
    return store


def names(found, standing=None):
    return [c.name for bead in found.proposed for c in bead.changes if standing in (None, c.standing)]


def approve(store, choice=ALL, revision=None):
    with store.write():
        return approving.approve(store, choice, "me", revision)


WISH = {
    "id": "a",
    "title": "A, but better",
    "type": "fix",
    "description": "more",
    "acceptance": ["it runs", "it is fast"],
    "priority": 0,
    "labels": ["x"],
    "estimate": 30,
    "needs_tests": False,
    "needs": ["c"],
}


@pytest.mark.parametrize("way", [apply_plan, approving.propose])
def test_nothing_of_it_is_in_force_before_the_yes_and_all_of_it_after(live, way):
    before = live.bead("a")
    report = way(live, plan(WISH, {"id": "b", "needs": []}, {"id": "new", "title": "New", "needs": ["a"]}), actor="s")
    assert (report.new, report.changed, report.proposed) == (("new",), (), ("a", "b"))
    kept = live.bead("a")
    assert replace(kept, proposed={}, updated_at=before.updated_at) == before
    assert live.dependencies("a") == [Dependency("b", "a"), Dependency("new", "a")]
    found = strategy(live)
    assert names(found) == [
        *("a:title", "a:type", "a:description", "a:acceptance", "a:priority", "a:labels", "a:estimate"),
        *("a:needs_tests", "a:needs:c", "b:needs:a"),
    ]
    assert found.becomes_ready == ("b",) and found.chain_after.beads == ("c", "a", "new")
    made = approve(live, revision=found.revision)
    assert made.drafts == ("new",) and sorted(made.changes) == sorted(names(found))
    after = live.bead("a")
    assert (after.title, after.type, after.priority, after.acceptance) == (
        *("A, but better", "fix", 0),
        ("it runs", "it is fast"),
    )
    assert after.status is Status.NEEDS_DOER and after.proposed == {} and strategy(live).is_empty
    assert live.dependencies("b") == [] and Dependency("a", "c") in live.dependencies("a")
    yes = [e.kind for e in live.events(bead="a")].index(Kind.CHANGE_APPROVED)
    assert Kind.CHANGED in [e.kind for e in live.events(bead="a")][yes:], "the yes stands before the change"


@pytest.mark.parametrize("leaves", [False, True])
def test_an_epic_that_becomes_a_bead_is_told_as_the_yes_makes_it(live, leaves):
    bead_commands.add(live, "Epic", id="e", type=BeadType.EPIC, draft=False)
    bead_commands.edit(live, "b", {"epic": "e"}, "me")
    wishes = [{"id": "e", "type": "task"}, *([{"id": "b", "epic": None}] if leaves else [])]
    report = apply_plan(live, plan(*wishes), actor="s")
    found = strategy(live)
    assert report.ready == found.becomes_ready == ("e",)
    approve(live, revision=found.revision)
    assert {bead.id for bead in live.ready(9)} == {"a", "c", "e"}


def test_proposing_again_changes_the_proposal_and_what_the_plan_wants_no_more_goes(live):
    approving.propose(live, plan(WISH), "s")
    kept = live.bead("a").proposed
    again = approving.propose(live, plan(WISH), "s")
    assert again.unchanged == ("a",) and live.bead("a").proposed == kept
    approving.propose(live, plan({"id": "a", "title": "A", "priority": 1, "needs": []}), "s")
    left = live.bead("a").proposed
    assert left["priority"]["after"] == 1 and "title" not in left and "needs:c" not in left and "estimate" in left


def test_a_newer_edit_of_a_person_stands_until_they_say_otherwise(live):
    approving.propose(live, plan({"id": "a", "title": "proposed", "priority": 0}), "s")
    bead_commands.edit(live, "a", {"title": "edited"}, "me")
    found = strategy(live)
    assert names(found, Standing.EDITED) == ["a:title"] and "a:title was edited" in found.warnings[0]
    (edited,) = (c for c in found.proposed[0].changes if c.standing is Standing.EDITED)
    assert (edited.before, edited.now, edited.after) == ("A", "edited", "proposed")
    made = approve(live)
    assert (made.changes, made.left) == (("a:priority",), ("a:title",))
    assert live.bead("a").title == "edited" and strategy(live).proposed
    assert approve(live, Choice(overwrite=frozenset({"a:title"}))).changes == ("a:title",)
    assert live.bead("a").title == "proposed"


def test_what_is_closed_or_so_already_by_now_is_said_and_skipped(live):
    wish = plan({"id": "a", "title": "new"}, {"id": "c", "title": "C2", "needs": ["a"]})
    approving.propose(live, wish, "s")
    bead_commands.cancel(live, "a", "no", "me")
    bead_commands.edit(live, "c", {"title": "C2"}, "me")
    found = strategy(live)
    assert names(found, Standing.CLOSED) == ["a:title"] and names(found, Standing.ALREADY) == ["c:title"]
    assert any("waits for a" in text for text in found.warnings) is False
    made = approve(live, Choice(without=frozenset({"c:needs:a"})))
    assert (made.changes, made.dropped) == ((), ("a:title", "c:title"))
    assert live.bead("a").title == "A" and names(strategy(live)) == ["c:needs:a"]
    report = apply_plan(live, plan({"id": "a", "title": "again"}), actor="me")
    assert report.problems == ("a is already cancelled, so the plan did not change it",) and live.bead("a").title == "A"


def test_each_can_be_refused_and_what_nobody_knows_is_an_error(live):
    approving.propose(live, plan(WISH, {"id": "new", "title": "New"}, {"id": "c", "priority": 0}), "s")
    made = approve(live, Choice(only=frozenset({"a:title", "new"})))
    assert (made.drafts, made.changes) == (("new",), ("a:title",))
    assert approving.drop(live, ["a:type", "c"], "me") == ("a:type", "c:priority")
    assert "a:type" not in names(strategy(live)) and live.bead("c").proposed == {}
    made = approve(live, Choice(without=frozenset({"a"})))
    assert made.changes == () and "a:priority" in names(strategy(live))
    for refused in (
        lambda: approving.drop(live, ["a:nothing"], "me"),
        lambda: approve(live, Choice(frozenset({"zz"}))),
    ):
        with pytest.raises(UsageError, match="no proposal has the name"):
            refused()


def test_cancelling_is_proposed_too_of_live_beads_and_of_drafts(live):
    bead_commands.add(live, "D", id="d")
    approving.propose(live, plan({"id": "a", "status": "cancelled"}, {"id": "d", "status": "cancelled"}), "s")
    assert live.bead("a").status is Status.NEEDS_TESTS and live.bead("d").status is Status.DRAFT
    found = strategy(live)
    assert (found.new, found.cancels) == ((), ("d",)) and any("b waits for a" in text for text in found.warnings)
    assert approve(live).changes == ("a:cancel", "d:cancel")
    assert {live.bead(name).status for name in "ad"} == {Status.CANCELLED}
    with pytest.raises(PlanError, match="commit-strategy approves the drafts"):
        approving.propose(live, plan({"id": "e", "title": "E", "status": "cancelled"}), "s")
    told = apply_plan(live, plan({"id": "c", "status": "done"}), actor="me")
    assert "a plan cannot mark c as done" in told.problems[0] and live.bead("c").status is Status.NEEDS_TESTS


def test_circles_are_refused_when_proposed_and_again_at_the_yes(live):
    with pytest.raises(PlanDeadlock, match="a -> b -> a"):
        approving.propose(live, plan({"id": "a", "needs": ["b"]}), "s")
    approving.propose(live, plan({"id": "a", "needs": ["c"]}), "s")
    with pytest.raises(PlanDeadlock, match="a -> c -> a"):
        approving.propose(live, plan({"id": "c", "needs": ["a"]}), "s")
    bead_commands.depend(live, "c", "b", actor="me")
    assert strategy(live).deadlocks
    before = live.events()
    with pytest.raises(Deadlock, match="nothing was approved, because a:needs:c failed") as refused:
        approve(live)
    assert "--without a:needs:c" in refused.value.hint and live.events() == before


def test_a_dependency_may_be_turned_round_in_one_yes(live):
    approving.propose(live, plan({"id": "a", "needs": ["b"]}, {"id": "b", "needs": []}), "s")
    approve(live)
    assert live.dependencies() == [Dependency("a", "b")]


def test_what_was_not_shown_is_not_approved(live):
    approving.propose(live, plan(WISH), "s")
    seen = strategy(live).revision
    live.set_setting("paused", "1")
    assert strategy(live).revision == seen, "what has nothing to do with it changes nothing"
    assert revision(live) == seen
    approving.propose(live, plan({"id": "c", "title": "smuggled"}), "s")
    with pytest.raises(NotAllowed, match="changed while you read it"):
        approve(live, revision=seen)
    assert live.bead("a").title == "A" and live.bead("c").title == "C"


def test_undo_takes_the_whole_yes_back_or_a_part_of_it(live):
    approving.propose(live, plan(WISH, {"id": "c", "status": "cancelled"}, {"id": "new", "title": "New"}), "s")
    before = {name: live.bead(name) for name in ("a", "b", "c", "new")}
    edges = live.dependencies()
    approve(live)
    undo(live, None, "me")
    for name, bead in before.items():
        now = live.bead(name)
        assert replace(now, updated_at=0, branch_kept=False) == replace(bead, updated_at=0), name
    assert live.dependencies() == edges and len(names(strategy(live))) == 10
    approve(live)
    event = next(e for e in reversed(live.events(bead="a")) if e.kind is Kind.CHANGED)
    undo(live, None, "me", event.seq)
    assert live.bead("a").title == "A" and live.bead("new").status is Status.NEEDS_TESTS
    undo(live, None, "me")
    assert live.bead("new").status is Status.DRAFT, "what was left of it"
    undo(live, None, "me")
    assert live.bead("a").proposed == {}, "the proposing itself"


def test_an_edit_since_is_in_the_way_of_undo_and_a_no_can_be_taken_back(live):
    approving.propose(live, plan({"id": "a", "title": "new"}), "s")
    approving.drop(live, ["a"], "me")
    undo(live, None, "me")
    assert names(strategy(live)) == ["a:title"]
    approve(live)
    yes = live.position().seq
    bead_commands.edit(live, "a", {"title": "newer"}, "me")
    with pytest.raises(NotAllowed, match="again later"):
        undo(live, None, "me", yes)
    assert live.bead("a").title == "newer"


def test_the_snapshot_holds_it_and_what_is_no_proposal_is_left_out(live):
    approving.propose(live, plan(WISH), "s")
    text = dumped(live.beads(), live.dependencies())
    found = {bead.id: bead for bead in reader.parse(text, "x").beads}
    assert found["a"].proposed == live.bead("a").proposed and "x_nobrakes" in text
    broken = text.replace('"proposed":{', '"proposed":{"status":{"before":1,"after":2},"title2":3,', 1)
    assert {bead.id: bead for bead in reader.parse(broken, "x").beads}["a"].proposed == found["a"].proposed


def test_a_plan_that_is_wrong_keeps_nothing(live):
    for wish in ({"id": "a", "epic": "gone"}, {"id": "a", "needs": ["gone"]}):
        with pytest.raises(NobrakesError):
            approving.propose(live, plan({"id": "c", "title": "C2"}, wish), "s")
    assert strategy(live).is_empty


def test_what_waits_for_a_yes_is_the_next_step_before_agents_begin(live):
    assert next_step(live, NOTHING, ForgeSettings()).command == "nobrakes run"
    approving.propose(live, plan({"id": "a", "title": "new"}), "s")
    found = next_step(live, NOTHING, ForgeSettings())
    assert found.command == "nobrakes approve" and found.why.startswith("proposed changes of live beads need")
    approve(live)
    assert next_step(live, NOTHING, ForgeSettings()).command == "nobrakes run"


def test_a_person_who_says_live_means_it(live):
    apply_plan(live, plan(WISH), live=True, actor="me")
    assert live.bead("a").title == "A, but better" and strategy(live).is_empty


def test_a_dry_run_says_what_would_be_proposed_and_keeps_nothing(live):
    report = apply_plan(live, plan(WISH), dry_run=True, actor="me")
    assert report.proposed == ("a",) and strategy(live).is_empty


def epic(name, **fields):
    return {"id": name, "title": name, "type": "epic", **fields}


def task(name, **fields):
    return {"id": name, "title": name, **fields}


SOUND = {
    "a parent and its child change places": (
        [epic("p"), epic("q", epic="p")],
        [epic("p", epic="q"), epic("q", epic=None)],
    ),
    "three epics turn around": (
        [epic("p"), epic("q", epic="p"), epic("r", epic="q")],
        [epic("p", epic="q"), epic("q", epic="r"), epic("r", epic=None)],
    ),
    "an epic becomes a bead as its blocker comes in": (
        [task("q"), epic("p", needs=["q"])],
        [task("q", epic="p", needs=[]), task("p", type="task", needs=[])],
    ),
    "an epic and what it waits for move in at once": (
        [epic("r"), epic("p"), task("q", needs=["p"])],
        [task("p", type="task", epic="r", needs=[]), task("q", epic="p")],
    ),
    "a bead and its epic change places and types": (
        [epic("p"), task("q", epic="p"), task("r")],
        [task("p", type="task", epic="q"), task("q", type="epic", epic=None, needs=["r"])],
    ),
}


@pytest.mark.parametrize("how", [{}, {"live": True}])
@pytest.mark.parametrize("before, after", SOUND.values(), ids=SOUND)
def test_a_sound_result_is_not_refused_for_a_state_in_between(before, after, how):
    for nodes in (before, before[::-1]):
        for changes in (after, after[::-1]):
            store = open_memory()
            apply_plan(store, plan(*nodes), live=True)
            found = apply_plan(store, plan(*changes), dry_run=True, **how)
            if not found.deadlocks:
                apply_plan(store, plan(*changes), **how)
                approve(store)
            assert not (found.deadlocks or store.proposed() or store.check())
            epics = {bead.id: bead.epic for bead in store.beads()}
            assert all(epics[one["id"]] == one["epic"] for one in changes if "epic" in one)


def test_a_bead_may_wait_for_one_that_the_same_yes_cancels(store):
    apply_plan(store, plan(task("p"), task("q", needs=["p"])), live=True)
    apply_plan(store, plan(task("p", needs=["q"]), task("q", status="cancelled")))
    assert approve(store).changes == ("p:needs:q", "q:cancel") and store.check() == []
    assert store.bead("q").status is Status.CANCELLED
