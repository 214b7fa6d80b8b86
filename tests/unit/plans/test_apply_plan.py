"""Plans applied: all or nothing, again without effect, and circles named with what to cut."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Status
from nobrakes.beads.service import bead_commands
from nobrakes.errors import Deadlock, NoSuchBead, PlanError
from nobrakes.plans import service as plans_service
from nobrakes.plans.nodes import plan_of, plan_of_records
from nobrakes.plans.service import PlanDeadlock, apply_plan
from nobrakes.store import open_memory
from tests.support.records import dumped


def plan(*nodes, live=False):
    return plan_of({"live": live, "beads": list(nodes)}, "plan")


def node(id_, *needs, **fields):
    return {"id": id_, "title": id_.upper(), **({"needs": list(needs)} if needs else {}), **fields}


CHAIN = (node("e", type="epic"), node("a", epic="e"), node("b", "a", epic="e"), node("c", "e"))


def graph(store):
    return store.beads(), store.dependencies()


def test_drafts_unless_told(store):
    report = apply_plan(store, plan(*CHAIN), actor="me")
    assert report.applied and report.new == ("e", "a", "b", "c")
    assert {bead.status for bead in store.beads()} == {Status.DRAFT}
    assert report.ready == ("a",)
    assert report.critical_path == ("a", "b", "c")
    assert set(report.explained) == {"e", "b", "c"}
    assert report.explained["b"] == ["blocked by a (needs_tests)"]


@pytest.mark.parametrize("how", [{"live": True}, {}])
def test_live_by_flag_or_by_file(store, how):
    apply_plan(store, plan(*CHAIN, live=not how), actor="me", **how)
    assert store.bead("a").status is Status.NEEDS_TESTS
    assert store.bead("e").status is Status.OPEN
    assert [bead.id for bead in store.ready(5)] == ["a"]


def test_a_circle_with_a_change_that_waits_is_refused(store):
    apply_plan(store, plan(node("a")), live=True)
    apply_plan(store, plan(node("x"), node("a", "x")))
    assert [bead.id for bead in store.proposed()] == ["a"]
    before = graph(store)
    with pytest.raises(PlanDeadlock, match="a -> x -> a"):
        apply_plan(store, plan(node("x", "a")))
    assert graph(store) == before
    assert apply_plan(store, plan(node("x", "a")), dry_run=True).deadlocks


@pytest.mark.parametrize("small", [plans_service.SMALL, -1])
@pytest.mark.parametrize("status", ["done", "cancelled"])
def test_epics_nested_in_a_circle_are_one_though_one_is_closed(store, status, small, monkeypatch):
    monkeypatch.setattr(plans_service, "SMALL", small)
    apply_plan(store, plan(node("p", type="epic"), node("q", type="epic", epic="p", status=status)))
    circle = plan(node("p", epic="q"))
    (found,) = apply_plan(store, circle, dry_run=True).deadlocks
    assert found.members == ("p", "q") and found.cut == Dependency("p", "q", DependencyType.PARENT_CHILD)
    before = graph(store)
    with pytest.raises(PlanDeadlock, match="remove 'p is a child of q'"):
        apply_plan(store, circle)
    assert graph(store) == before
    assert apply_plan(store, circle, cut=True).cut == (found.cut,) and store.bead("p").epic is None


@pytest.mark.parametrize("small", [plans_service.SMALL, -1])
def test_a_preview_refuses_what_is_refused_of_the_part_that_is_written_now(store, small, monkeypatch):
    """What the plan cancels waits for approval, also with --live; until then it counts."""
    monkeypatch.setattr(plans_service, "SMALL", small)
    apply_plan(store, plan(node("p"), node("q", "p")), live=True)
    before = graph(store)
    for dry_run in (True, False):
        with pytest.raises(Deadlock, match="was not applied: these beads would wait"):
            apply_plan(store, plan(node("p", "q"), node("q", status="cancelled")), live=True, dry_run=dry_run)
    assert graph(store) == before


@pytest.mark.parametrize("small", [plans_service.SMALL, -1])
def test_what_the_refusal_says_to_cut_can_be_cut_at_once(store, small, monkeypatch):
    monkeypatch.setattr(plans_service, "SMALL", small)
    apply_plan(store, plan(node("b"), node("a", "b", status="live")))
    with pytest.raises(PlanDeadlock, match="remove 'b is a child of a'"):
        apply_plan(store, plan(node("b", epic="a")))
    report = apply_plan(store, plan(node("b", title="B2", epic="a")), cut=True)
    assert report.cut == (Dependency("b", "a", DependencyType.PARENT_CHILD),) and not report.proposed
    assert store.bead("b").title == "B2" and store.bead("b").epic is None
    assert store.dependencies() == [Dependency("a", "b")]


def test_a_dry_run_writes_nothing(store):
    report = apply_plan(store, plan(*CHAIN), dry_run=True, actor="me")
    assert not report.applied and report.new == ("e", "a", "b", "c") and report.ready == ("a",)
    assert store.beads() == [] and store.events() == []


def test_again_changes_nothing(store):
    apply_plan(store, plan(*CHAIN), actor="me")
    before, events = graph(store), len(store.events())
    report = apply_plan(store, plan(*CHAIN), actor="me")
    assert (report.new, report.changed, report.unchanged) == ((), (), ("e", "a", "b", "c"))
    assert graph(store) == before and len(store.events()) == events


def test_an_update_touches_what_it_names(store):
    apply_plan(store, plan(node("a", description="keep"), node("b", "a"), node("c")), actor="me", live=True)
    bead_commands.done(store, "c", "x", "me")
    wish = plan({"id": "a", "title": "New"}, node("b", "c"), node("c", status="draft"))
    report = apply_plan(store, wish, actor="me", live=True)
    assert report.changed == ("a", "b") and report.unchanged == ("c",)
    assert (store.bead("a").title, store.bead("a").description) == ("New", "keep")
    assert [d.needs for d in store.dependencies("b")] == ["c"]
    assert store.bead("c").status is Status.DONE


def test_new_beads_and_changes_together(store):
    apply_plan(store, plan(node("a"), node("b", "a")), actor="me")
    apply_plan(store, plan(node("e", type="epic"), node("b", "a", "n", epic="e"), node("n", priority=0)), actor="me")
    assert store.bead("b").epic == "e"
    assert Dependency("b", "n") in store.dependencies("b")


def test_an_edge_may_be_turned_round(store):
    apply_plan(store, plan(node("a"), node("b", "a")), actor="me")
    apply_plan(store, plan(node("a", "b"), {"id": "b", "needs": []}), actor="me")
    assert store.dependencies() == [Dependency("a", "b")]


def test_live_approves_the_drafts_that_it_names(store):
    apply_plan(store, plan(node("a"), node("b")), actor="me")
    report = apply_plan(store, plan(node("a"), node("c", status="live")), actor="me", live=True)
    assert report.changed == ("a",)
    assert [store.bead(i).status for i in "abc"] == [Status.NEEDS_TESTS, Status.DRAFT, Status.NEEDS_TESTS]


def test_keys_are_names_inside_the_file(store):
    nodes = ({"key": "x y", "title": "X"}, {"title": "Y", "needs": ["x y"]}, {"id": "z", "title": "Z", "epic": "x y"})
    report = apply_plan(store, plan(*nodes), actor="me")
    x, y, z = report.new
    assert x.startswith("nb-") and y.startswith("nb-") and z == "z"
    assert store.dependencies(y) == [Dependency(y, x)]
    assert store.bead("z").epic == x


def test_status_hold_and_deferral_come_along(store, now):
    later = now.seconds + 10_000
    apply_plan(
        store, plan(node("a", status="done"), node("b", status="cancelled"), node("c", "a", hold="think"),
                    node("d", "a", related=["c"], discovered_from=["b"])),
        actor="me", live=True,
    )  # fmt: skip
    assert store.bead("a").status is Status.DONE and store.bead("a").closed_at is not None
    assert store.bead("b").status is Status.CANCELLED
    assert store.bead("c").held == "think"
    assert {d.type for d in store.dependencies("d")} == {
        DependencyType.BLOCKS, DependencyType.RELATED, DependencyType.DISCOVERED_FROM
    }  # fmt: skip
    assert [bead.id for bead in store.ready(5)] == ["d"]
    assert later > now.seconds


def test_every_problem_with_the_graph_is_told_and_nothing_is_written(store):
    with pytest.raises(PlanError) as raised:
        apply_plan(store, plan({"id": "a"}, node("b", "gone", "b"), node("c", epic="nowhere")), actor="me")
    text = str(raised.value)
    assert "plan: beads[0]: title: is missing" in text
    assert "plan: beads[1].needs: bead 'gone' is neither" in text
    assert "plan: beads[1].needs: bead b refers to itself" in text
    assert "plan: beads[2].epic: bead 'nowhere' is neither" in text
    assert store.beads() == []


CIRCLES = (
    node("e", "t", type="epic"), node("t", epic="e"), node("u", epic="e"),
    node("x", "y"), node("y", "x"), node("free"),
)  # fmt: skip


def test_deadlocks_are_all_named_and_nothing_is_written(store):
    with pytest.raises(PlanDeadlock) as raised:
        apply_plan(store, plan(*CIRCLES), actor="me")
    error = raised.value
    assert error.code == 14
    assert {bead for circle in error.details for bead in circle["stuck"]} == {"e", "t", "u", "x", "y"}
    assert "remove 'e depends on t'" in str(error)
    assert "remove 'x depends on y'" in str(error) or "remove 'y depends on x'" in str(error)
    assert store.beads() == [] and store.events() == []


def test_a_dry_run_tells_deadlocks_and_the_rest(store):
    report = apply_plan(store, plan(*CIRCLES), dry_run=True, actor="me")
    assert len(report.deadlocks) == 2 and report.ready == ("free",)
    assert set(report.explained) == {"e", "t", "u", "x", "y"}
    assert all(any("can never start" in text for text in report.explained[bead]) for bead in report.explained)


def test_cut_leaves_the_named_dependencies_out(store):
    report = apply_plan(store, plan(*CIRCLES), cut=True, live=True, actor="me")
    assert Dependency("e", "t") in report.cut and len(report.cut) == 2
    assert len(store.beads()) == 6
    assert "t" in report.ready and "u" in report.ready
    assert {bead.id for bead in store.ready(9)} == set(report.ready)


def test_a_circle_through_what_is_there_already(store):
    apply_plan(store, plan(node("a"), node("b", "a")), actor="me")
    with pytest.raises(PlanDeadlock):
        apply_plan(store, plan(node("a", "b")), actor="me")
    assert store.dependencies() == [Dependency("b", "a")]
    report = apply_plan(store, plan(node("a", "b")), cut=True, actor="me")
    assert len(store.dependencies()) == 1 and len(report.cut) == 1


def test_a_failure_half_way_leaves_nothing(store, monkeypatch):
    apply_plan(store, plan(node("a"), node("b", "a")), actor="me")
    before, events = graph(store), len(store.events())

    def fail(*_):
        raise NoSuchBead("on purpose")

    monkeypatch.setattr(store, "approve", fail)
    with pytest.raises(NoSuchBead, match=r"the plan was not applied: on purpose"):
        apply_plan(
            store, plan(node("n"), {"id": "a", "title": "Other"}, {"id": "b", "needs": ["n"]}), actor="me", live=True
        )
    assert graph(store) == before and len(store.events()) == events


def test_the_graph_after_is_the_graph_that_is_written(store):
    apply_plan(store, plan(*CHAIN), actor="me")
    work = plans_service.work_out(store, plan(node("b", epic=None), node("d", "b")), True)
    nodes, edges = plans_service.graph_after(store, work)
    apply_plan(store, plan(node("b", epic=None), node("d", "b")), actor="me", live=True)
    blocks = [d for d in store.dependencies() if d.type is not DependencyType.PARENT_CHILD]
    assert sorted(edges, key=str) == sorted(blocks, key=str)
    assert {n.id: n.epic for n in nodes} == {n.id: n.epic for n in store.nodes()}


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30)
LINE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=20)


@st.composite
def graphs(draw):
    """Beads in an order in which each may wait for earlier ones only."""
    count = draw(st.integers(1, 8))
    made, edges = [], []
    for place in range(count):
        epics = [bead.id for bead in made if bead.type is BeadType.EPIC]
        status = draw(st.sampled_from([Status.DRAFT, Status.DONE, Status.CANCELLED]))
        bead = Bead(
            f"b{place}", draw(LINE), draw(st.sampled_from(list(BeadType))), draw(TEXT),
            tuple(draw(st.lists(LINE, max_size=2))), draw(st.integers(0, 4)), tuple(draw(st.lists(LINE, max_size=2, unique=True))),
            draw(st.sampled_from([None, *epics])), draw(st.none() | st.integers(1, 500)), draw(st.booleans()),
            draw(st.booleans()), tuple(draw(st.lists(LINE, max_size=2))), draw(TEXT),
            draw(st.dictionaries(LINE, st.integers(), max_size=2)), status, created_at=1000.5, updated_at=2000.25,
            closed_at=3000.0 if status is not Status.DRAFT else None,
        )  # fmt: skip
        for other in made:
            if draw(st.booleans()) and other.type is not BeadType.EPIC and bead.type is not BeadType.EPIC:
                kind = draw(st.sampled_from([DependencyType.BLOCKS, DependencyType.RELATED]))
                edges.append(Dependency(bead.id, other.id, kind))
        made.append(bead)
    return made, edges


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(graphs())
def test_a_snapshot_applied_as_a_plan_makes_the_same_graph(found):
    made, edges = found
    text = dumped(made, edges)
    store = open_memory(lambda: 1_800_000_000.0)
    apply_plan(store, plan_of_records(text, "x"), actor="me")
    wanted = [replace(bead, updated_at=0.0, return_to=None, created_at=0.0) for bead in made]
    assert [replace(bead, updated_at=0.0, return_to=None, created_at=0.0) for bead in store.beads()] == wanted
    assert {d for d in store.dependencies() if d.type is not DependencyType.PARENT_CHILD} == set(edges)
    same_times = [replace(bead, updated_at=2000.25) for bead in store.beads()]
    assert dumped(same_times, store.dependencies()) == text
    again = apply_plan(store, plan_of_records(text, "x"), actor="me")
    assert again.new == again.changed == ()
    store.close()
