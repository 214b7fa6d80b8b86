"""The graph to look at: what each mode shows of a store, and where it stands."""

import sqlite3
import time

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Role, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NoSuchBead, UsageError
from nobrakes.pictures import service as pictures_service
from nobrakes.pictures.service import graph_view
from nobrakes.store import create_store, open_memory


def filled(store, epics=3, of_each=4):
    """Epics of chains, each epic's first bead waiting for the last one's second; the first epic is done."""
    beads, dependencies = [], []
    for epic in range(1, epics + 1):
        beads.append(Bead(f"e-{epic}", f"Epic {epic}", BeadType.EPIC, status=Status.OPEN))
        for n in range(1, of_each + 1):
            status = Status.DONE if epic == 1 else Status.NEEDS_DOER
            beads.append(Bead(f"b-{epic}-{n}", f"Bead {n}", epic=f"e-{epic}", status=status, estimate=10))
            if n > 1:
                dependencies.append(Dependency(f"b-{epic}-{n}", f"b-{epic}-{n - 1}"))
        if epic > 1:
            dependencies.append(Dependency(f"b-{epic}-1", f"b-{epic - 1}-2"))
    store.put(beads, dependencies, "me")
    return store


def by_id(view):
    return {node.id: node for node in view.nodes}


def test_all_has_a_lane_for_each_epic_and_every_bead_in_it(store):
    filled(store, 12)
    store.put([Bead("alone", "Alone and <b>bold</b>", status=Status.NEEDS_DOER)], [], "me")
    view = graph_view(store, "all")
    assert [lane.id for lane in view.lanes] == [*(f"e-{n}" for n in range(1, 13)), ""]
    assert view.lanes[0].counts["done"] == 4 and view.beads == 49 == len(view.nodes)
    found = by_id(view)
    assert found["b-1-1"].column == "done" and found["b-2-1"].column == "ready" and found["b-2-2"].column == "blocked"
    assert (found["b-2-2"].waits_for, found["b-2-2"].frees) == (1, 2)
    assert found["alone"].title == "Alone and <b>bold</b>"
    for edge in view.edges:
        assert found[edge.source].x < found[edge.target].x
    for lane in view.lanes:
        assert all(lane.y <= n.y <= lane.y + lane.height for n in view.nodes if n.lane == lane.id)


def test_an_epic_that_is_waited_for_is_a_box_behind_its_beads(store):
    filled(store, 2)
    store.put([Bead("after", "After", status=Status.NEEDS_DOER)], [Dependency("after", "e-2")], "me")
    found = by_id(graph_view(store, "all"))
    assert found["e-2"].is_epic and found["b-2-4"].x < found["e-2"].x < found["after"].x and "e-1" not in found
    assert found["after"].is_critical and not found["b-1-4"].is_critical


def test_all_is_narrowed_by_epic_search_and_what_is_open(store):
    filled(store)
    assert {n.id for n in graph_view(store, "all", epic="e-2").nodes} == {f"b-2-{n}" for n in range(1, 5)}
    assert {n.id for n in graph_view(store, "all", match=" BEAD  3 ").nodes} == {"b-1-3", "b-2-3", "b-3-3"}
    assert not {n.id for n in graph_view(store, "all", is_live_only=True).nodes} & {f"b-1-{n}" for n in range(1, 5)}
    nothing = graph_view(store, "all", match="nowhere")
    assert (nothing.nodes, nothing.edges, nothing.lanes, nothing.width) == ((), (), (), 0.0)
    with pytest.raises(NoSuchBead):
        graph_view(store, "all", epic="nowhere")
    with pytest.raises(UsageError):
        graph_view(store, "sideways")


def test_too_many_beads_are_shown_as_epics(store, monkeypatch):
    filled(store)
    monkeypatch.setattr(pictures_service, "MAX_BEADS", 8)
    whole = graph_view(store, "all")
    assert (whole.mode, whole.too_many) == ("epics", 12)
    assert graph_view(store, "all", is_live_only=True).mode == "all"
    assert graph_view(store, "all", epic="e-3").mode == "all" and graph_view(store, "epics").too_many == 0


def test_epics_say_how_far_they_are_and_stand_below_what_they_wait_for(store):
    filled(store)
    store.put(
        [Bead("e-0", "Empty", BeadType.EPIC, status=Status.OPEN), Bead("x", "X", status=Status.NEEDS_DOER)], [], "me"
    )
    store.put([Bead("e-4", "Inside", BeadType.EPIC, epic="e-3", status=Status.OPEN)], [], "me")
    store.put([Bead("y", "Y", epic="e-4", status=Status.NEEDS_REVIEW)], [], "me")
    found = by_id(view := graph_view(store, "epics"))
    assert set(found) == {"e-0", "e-1", "e-2", "e-3", "e-4", ""}
    assert found["e-1"].counts["done"] == 4 and found["e-1"].column == "done" and found["e-0"].column == "blocked"
    assert found["e-3"].counts["review"] == 1 == found["e-4"].counts["review"] and found["e-3"].column == "review"
    assert found["e-1"].y < found["e-2"].y < found["e-3"].y and found[""].counts["ready"] == 1
    assert {edge[:2]: edge.beads for edge in view.edges} == {("e-1", "e-2"): 1, ("e-2", "e-3"): 1}
    assert found["e-2"].is_critical and not found["e-1"].is_critical


def test_epics_that_wait_for_each_other_are_drawn(store):
    filled(store, 2, 6)
    store.put([], [Dependency("b-1-5", "b-2-1"), Dependency("b-1-6", "b-2-2"), Dependency("b-1-6", "b-2-1")], "me")
    view = graph_view(store, "epics")
    assert by_id(view)["e-2"].y < by_id(view)["e-1"].y and len(view.edges) == 2


def test_focus_is_what_happens_and_what_comes_next(store):
    filled(store, 30, 8)
    store.open_attempt("b-2-1", Role.DOER, "script", ["Ada"], 60.0, None)
    store.put(
        [Bead("q", "Q", status=Status.NEEDS_DOER), Bead("far", "Far", status=Status.NEEDS_DOER)],
        [Dependency("far", "q")],
        "me",
    )
    store.escalate(NewEscalation(EscalationType.QUESTION, "which?"), "q", None, "nobrakes")
    found = by_id(view := graph_view(store))
    assert view.mode == "focus" and view.beads == 242
    assert found["b-2-1"].column == "working" and found["q"].column == "escalated" and found["far"].column == "blocked"
    assert "b-2-2" in found and found["b-2-1"].frees == 1
    assert sum(node.is_critical for node in view.nodes) == pictures_service.NEXT and len(found) < 20
    assert ("q", "far", False, 1) in view.edges
    assert not {node.id for node in view.nodes} & {f"b-1-{n}" for n in range(1, 9)}
    corners = {(node.x, node.y) for node in view.nodes}
    assert len(corners) == len(found) and min(y for _, y in corners) == 0 == min(
        n.y for n in view.nodes if n.is_critical
    )


def test_focus_is_about_as_large_in_every_graph_and_reads_no_more(monkeypatch):
    took = []
    for epics in (100, 1500):
        store = filled(open_memory(), epics, 4)
        monkeypatch.setattr(pictures_service, "MAX_BEADS", 10)
        monkeypatch.setattr(store, "nodes", lambda: pytest.fail("the whole graph was read"))
        began = time.process_time()
        view = graph_view(store)
        took.append(time.process_time() - began)
        assert 5 < len(view.nodes) <= pictures_service.MAX_SHOWN
        store.close()
    assert max(took) < 0.5


def test_focus_of_nothing(store):
    view = graph_view(store)
    assert (view.nodes, view.beads, view.width, view.height) == ((), 0, 0.0, 0.0)
    assert graph_view(store, "epics").nodes == graph_view(store, "all").nodes == ()


def test_the_structure_stands_while_beads_move_on(store):
    filled(store)
    modes = ("epics", "all")
    before = [graph_view(store, mode).structure for mode in modes]
    store.open_attempt("b-2-1", Role.DOER, "script", ["Ada"], 60.0, None)
    assert [graph_view(store, mode).structure for mode in modes] == before
    store.put([Bead("new", "N", epic="e-3", status=Status.NEEDS_DOER)], [Dependency("new", "b-2-2")], "me")
    # between epics nothing is new: there was such a dependency already
    assert [graph_view(store, mode).structure == was for mode, was in zip(modes, before, strict=True)] == [True, False]


def test_a_circle_is_named_with_what_to_cut(tmp_path):
    path = str(tmp_path / "nobrakes.db")
    store = filled(create_store(path), 2)
    raw = sqlite3.connect(path)
    raw.execute("INSERT INTO edges (bead, type, needs) VALUES ('b-2-1', 'blocks', 'b-2-3')")
    raw.commit()
    raw.close()
    for mode in ("focus", "epics", "all"):
        (one,) = graph_view(store, mode).cycles
        assert set(one.members) <= {"b-2-1", "b-2-2", "b-2-3"} and one.stuck >= 3
        assert one.cut in store.dependencies()
    store.close()
