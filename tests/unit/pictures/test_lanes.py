"""Places of boxes: none on another, further right what comes later, the same twice, and little moves with a new one."""

import time

from hypothesis import given
from hypothesis import strategies as st

from nobrakes.pictures.layout import NOWHERE, ROWS, Size, components, place, shelves

SIZE = Size()


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 60))
    lanes = draw(st.integers(1, 4))
    lane = [number % lanes for number in range(min(count, lanes))]
    lane += draw(st.lists(st.integers(0, max(lane)), min_size=count - len(lane), max_size=count - len(lane)))
    pairs = draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=90))
    edges = sorted((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])
    return lane, edges


def depths(count, edges):
    found = [0] * count
    for source, target in sorted(edges, key=lambda pair: pair[1]):
        found[target] = max(found[target], found[source] + 1)
    return found


def places(lane, edges):
    return place(depths(len(lane), edges), lane, edges, SIZE)


@given(graphs())
def test_nothing_overlaps_and_all_of_a_lane_is_in_its_band(graph):
    lane, edges = graph
    found = places(lane, edges)
    corners = list(zip(found.x, found.y, strict=True))
    for one, (x, y) in enumerate(corners):
        top, height = found.bands[lane[one]]
        assert top <= y and y + SIZE.height <= top + height + 1e-6
        assert 0 <= x <= found.width - SIZE.width + 1e-6 and y + SIZE.height <= found.height + 1e-6
        for other_x, other_y in corners[:one]:
            assert abs(x - other_x) >= SIZE.width or abs(y - other_y) >= SIZE.height
    for (top, height), (following, _) in zip(found.bands, found.bands[1:], strict=False):
        assert top + height < following


@given(graphs())
def test_what_comes_later_is_further_right_and_twice_the_same(graph):
    lane, edges = graph
    found = places(lane, edges)
    assert all(found.x[source] + SIZE.width < found.x[target] for source, target in edges)
    assert found == places(lane, edges[::-1])


@given(graphs(), st.data())
def test_a_new_bead_that_nothing_waits_for_moves_its_own_band(graph, data):
    lane, edges = graph
    before = places(lane, edges)
    own = data.draw(st.integers(0, max(lane)))
    needs = data.draw(st.sets(st.integers(0, len(lane) - 1), max_size=3))
    after = places([*lane, own], [*edges, *((one, len(lane)) for one in sorted(needs))])
    others = [number for number, band in enumerate(lane) if band != own]
    cells = {}
    for number in range(len(lane)):
        cells.setdefault((lane[number], before.x[number]), []).append(number)
    if max(map(len, cells.values())) >= ROWS:
        return  # a depth that goes on beside itself makes room in every lane
    for number in others:
        assert after.x[number] == before.x[number]
        assert after.y[number] - after.bands[lane[number]][0] == before.y[number] - before.bands[lane[number]][0]


def test_a_chain_is_a_straight_line_and_a_fan_has_its_root_in_the_middle():
    chain = place([0, 1, 2, 1], [0] * 4, [(0, 1), (1, 2), (0, 3)], SIZE)
    assert chain.y[0] == chain.y[1] == chain.y[2] != chain.y[3]
    fan = place([0, 1, 1, 1], [0] * 4, [(0, 1), (0, 2), (0, 3)], SIZE)
    assert fan.y[0] == fan.y[2]


def test_lanes_without_edges_are_no_towers():
    found = place([0] * 6000, [0] * 6000, [], SIZE)
    assert len(set(zip(found.x, found.y, strict=True))) == 6000
    assert 0.5 < found.width / found.height < 2.5


def test_no_box_at_all_and_circles():
    assert place([], [], [], SIZE) is NOWHERE
    assert len(set(place([0, 0, 1], [0, 0, 0], [(0, 1), (1, 0), (1, 2)], SIZE).y)) > 1


def test_boxes_stand_on_shelves():
    assert shelves([(50, 10), (40, 20), (60, 5)], 100, 10) == ((0, 0), (60, 0), (0, 30))
    assert shelves([(500, 10), (1, 1)], 100, 10) == ((0, 0), (0, 20)) and shelves([], 9, 9) == ()


def test_parts_are_found():
    assert components(6, [(4, 1), (2, 5), (5, 4)]) == [[0], [1, 2, 4, 5], [3]]


def test_large_graphs_are_placed_at_once():
    """Each size's bar is several times what a free machine needs."""
    for count, bar in ((500, 0.05), (5000, 0.3), (20_000, 1.5)):
        lane = [number // 20 for number in range(count)]
        edges = [(max(0, number - 1 - number * 7 % 29), number) for number in range(1, count)]
        depth = depths(count, edges)
        took = []
        for _ in range(3):
            began = time.process_time()
            place(depth, lane, edges, SIZE)
            took.append(time.process_time() - began)
        assert min(took) < bar
