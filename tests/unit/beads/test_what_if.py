"""What one bead's end, answer or delay changes, against a plain search through the same graph."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.graph import Links, Node, usual_of, weight
from nobrakes.beads.model import Dependency, DependencyType, Status
from nobrakes.beads.readiness import Change, Later, consequences, ready_beads

NOW = 1_800_000_000.0


def node(id_, status=Status.NEEDS_DOER, type_="task", epic=None, estimate=60, held=None):
    return Node(id_, status, type_, f"the {id_}", 2, estimate, epic, held, None, None, None)


def needs(*pairs):
    return [Dependency(*pair) for pair in pairs]


CHAIN = [node("a"), node("b"), node("c", estimate=30), node("d")]
WAITS = needs(("b", "a"), ("d", "b"), ("d", "c"))


def test_the_end_of_a_bead_on_the_path_frees_the_next_and_moves_the_end():
    found = consequences(Links(CHAIN, WAITS), NOW, "a", Change.DONE)
    assert (found.ready, found.completed) == (("b",), ())
    assert (found.end_before, found.end_after, found.slack) == (180, 120, 0)
    assert (found.needs, found.frees) == ((), ("b", "d"))


def test_a_delay_within_the_slack_moves_the_bead_and_not_the_end():
    found = consequences(Links(CHAIN, WAITS), NOW, "c", Change.DELAYED, 90)
    assert found.slack == 90 and found.end_after == found.end_before == 180
    assert found.later == (Later("c", 90),)
    late = consequences(Links(CHAIN, WAITS), NOW, "c", Change.DELAYED, 200)
    assert late.later == (Later("c", 200), Later("d", 110)) and late.end_after == 290


def test_an_answer_makes_the_bead_ready_or_sends_it_to_review():
    nodes = [node("a", Status.ESCALATED), node("b")]
    found = consequences(Links(nodes, needs(("b", "a"))), NOW, "a", Change.ANSWERED)
    assert found.ready == ("a",) and found.end_after == found.end_before == 120
    back = consequences(Links(nodes, needs(("b", "a"))), NOW, "a", Change.ANSWERED, returns_to=Status.NEEDS_REVIEW)
    assert back.ready == ()


def test_the_last_bead_completes_its_epics_and_frees_what_waits_for_them():
    nodes = [
        node("out", Status.OPEN, "epic"), node("in", Status.OPEN, "epic", "out"), node("x", epic="in"),
        node("y", Status.DONE, epic="in"), node("after"), node("held", held="think"),
    ]  # fmt: skip
    found = consequences(Links(nodes, needs(("after", "out"), ("held", "out"))), NOW, "x", Change.DONE)
    assert found.completed == ("in", "out") and found.ready == ("after",)
    assert set(found.frees) == {"in", "out", "after", "held"}
    seen_from_behind = consequences(Links(nodes, needs(("after", "out"))), NOW, "after", Change.DONE)
    assert seen_from_behind.needs == ("in", "out", "x", "y")


def test_an_epic_is_done_with_all_in_it_and_late_with_all_in_it():
    nodes = [node("e", Status.OPEN, "epic"), node("x", epic="e"), node("y", epic="e"), node("z")]
    edges = needs(("y", "x"), ("z", "e"))
    done = consequences(Links(nodes, edges), NOW, "e", Change.DONE)
    assert done.ready == ("z",) and done.end_after == 60 and done.frees == ("z",)
    late = consequences(Links(nodes, edges), NOW, "e", Change.DELAYED, 10)
    assert {one.bead for one in late.later} == {"e", "x", "y", "z"} and late.end_after == late.end_before + 10


def test_nothing_follows_from_the_end_of_what_is_closed():
    nodes = [node("a", Status.DONE), node("b")]
    for change in Change:
        found = consequences(Links(nodes, needs(("b", "a"))), NOW, "a", change, 60)
        assert (found.ready, found.later, found.slack) == ((), (), 0) and found.end_after == found.end_before == 60
    assert consequences(Links(nodes, needs(("b", "a"))), NOW, "b", Change.DONE).needs == ("a",)


def test_beads_in_a_circle_are_borne():
    nodes = [node("a"), node("b"), node("c")]
    found = consequences(Links(nodes, needs(("a", "b"), ("b", "a"), ("c", "b"))), NOW, "a", Change.DELAYED, 5)
    assert set(found.frees) == {"b", "c"} and set(found.needs) == {"b"}


def test_what_is_only_related_changes_nothing():
    edges = [Dependency("b", "a", DependencyType.RELATED), Dependency("b", "a", DependencyType.DISCOVERED_FROM)]
    found = consequences(Links([node("a"), node("b")], edges), NOW, "a", Change.DONE)
    assert found.ready == () and found.frees == ()


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 9))
    statuses = st.sampled_from([Status.NEEDS_DOER, Status.DOING, Status.DONE, Status.ESCALATED])
    nodes = [
        node(
            f"n{n}",
            draw(statuses),
            estimate=draw(st.sampled_from([None, 5, 60, 90])),
            held=draw(st.sampled_from([None, None, "h"])),
        )
        for n in range(size)
    ]
    pairs = draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=14))
    return nodes, needs(*((f"n{max(pair)}", f"n{min(pair)}") for pair in sorted(pairs) if pair[0] != pair[1]))


def ends(nodes, edges, delayed="", minutes=0):
    """When each live bead can begin, by looking at one after the other, and when all is over."""
    live = {one.id: one for one in nodes if one.status is not Status.DONE}
    expected = usual_of(nodes)
    starts, over = {}, {}
    for one in live.values():  # ids are in an order in which they can be done
        starts[one.id] = max([over[e.needs] for e in edges if e.bead == one.id and e.needs in live], default=0)
        starts[one.id] += minutes if one.id == delayed else 0
        over[one.id] = starts[one.id] + (weight(one.type, one.estimate, expected))
    return starts, max(over.values(), default=0)


@given(graphs(), st.data())
def test_it_is_what_a_plain_search_finds(graph, data):
    nodes, edges = graph
    bead = data.draw(st.sampled_from(nodes))
    minutes = data.draw(st.integers(1, 300))
    before, end = ends(nodes, edges)
    late = consequences(Links(nodes, edges), NOW, bead.id, Change.DELAYED, minutes)
    after, late_end = ends(nodes, edges, bead.id, minutes)
    assert (late.end_before, late.end_after) == (end, late_end)
    assert {one.bead: one.minutes for one in late.later} == {
        id_: after[id_] - at for id_, at in before.items() if after[id_] > at
    }
    if bead.id in before:  # the slack is the largest delay that does not move the end
        assert ends(nodes, edges, bead.id, late.slack)[1] == end
        assert ends(nodes, edges, bead.id, late.slack + 1)[1] == end + 1
    done = consequences(Links(nodes, edges), NOW, bead.id, Change.DONE)
    then = [one._replace(status=Status.DONE) if one.id == bead.id else one for one in nodes]
    assert set(done.ready) == set(ready_beads(then, edges, NOW)) - set(ready_beads(nodes, edges, NOW))
    assert done.end_after == ends(then, edges)[1]


def test_a_bead_that_is_not_there():
    with pytest.raises(KeyError):
        consequences(Links(CHAIN, WAITS), NOW, "nowhere", Change.DONE)
