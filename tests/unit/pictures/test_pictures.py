"""Pictures of the graph: everything is in them, no title can break out, the same input gives the same bytes."""

import re
from itertools import pairwise
from xml.dom import minidom

import pytest

from nobrakes.beads.graph import Links, Node
from nobrakes.beads.model import Dependency, DependencyType, Status
from nobrakes.pictures import draw
from nobrakes.pictures.layout import KINDS, Picture, chain_of, layers, layout, picture

RENDERERS = {"text": draw.render_text, "mermaid": draw.render_mermaid, "dot": draw.render_dot, "svg": draw.render_svg}
EVIL = "\"]; <script>alert('x')</script> \\ & --> end\x1b[31m {} | `%` #quot; ]]>"


def node(id_, status=Status.NEEDS_TESTS, type_="task", epic=None, estimate=None, title=None, assignee=None):
    return Node(id_, status, type_, title or f"the {id_}", 2, estimate, epic, None, None, None, assignee)


def drawn(nodes, dependencies=(), ready=(), **how):
    return picture(nodes, dependencies, frozenset(ready), **how)


def a_dozen():
    nodes = [
        node("core", Status.OPEN, "epic"),
        node("a", Status.DONE, epic="core"),
        node("b", Status.DOING, epic="core", assignee="Ada"),
        node("c", epic="core"),
        node("ui", Status.OPEN, "epic"),
        node("d", epic="ui"),
        node("e", Status.ESCALATED, epic="ui"),
        node("f", Status.DRAFT),
        node("g", Status.CANCELLED),
        node("h", Status.REVIEWING),
        node("i"),
        node("j"),
    ]
    edges = [Dependency(*pair) for pair in (("b", "a"), ("c", "b"), ("d", "core"), ("e", "d"), ("j", "i"), ("f", "ui"))]
    edges += [Dependency("h", "a", DependencyType.RELATED)]
    return nodes, edges


@pytest.mark.parametrize("name", RENDERERS)
def test_every_bead_is_in_every_picture_and_twice_the_same(name):
    nodes, edges = a_dozen()
    one = RENDERERS[name](drawn(nodes, edges, ["i"]))
    assert one == RENDERERS[name](drawn(nodes[::-1], edges[::-1], ["i"]))
    for bead in nodes:
        assert bead.title in one and re.search(rf"\b{bead.id}\b", one)
    assert "Ada" in one and one.endswith("\n")


@pytest.mark.parametrize("name", RENDERERS)
def test_an_empty_graph_is_drawn(name):
    assert RENDERERS[name](Picture((), (), ()))


def test_kinds_are_told_apart():
    nodes, edges = a_dozen()
    found = {box.id: box.kind for box in drawn(nodes, edges, ["i"]).boxes}
    assert found | {} == {
        "a": "done", "b": "working", "c": "blocked", "d": "blocked", "e": "escalated", "f": "draft", "g": "cancelled",
        "h": "review", "i": "ready", "j": "blocked", "core": "blocked", "ui": "blocked",
    }  # fmt: skip
    assert set(found.values()) <= set(KINDS)


def test_one_epic_and_what_is_inside():
    nodes, edges = a_dozen()
    nodes.append(node("deep", epic="a"))
    found = drawn(nodes, edges, epic="core")
    assert {box.id for box in found.boxes} == {"core", "a", "b", "c", "deep"}
    assert {(arrow.source, arrow.target) for arrow in found.arrows} == {("a", "b"), ("b", "c")}


def test_a_dependency_that_is_told_twice_is_one_arrow():
    nodes, edges = a_dozen()
    assert drawn(nodes, [*edges, *edges[::-1]]) == drawn(nodes, edges)


def test_svg_is_well_formed_whatever_titles_say():
    nodes = [node("x", title=EVIL), node("e", Status.OPEN, "epic", title=EVIL), node("y", epic="e", title="ü" * 300)]
    document = minidom.parseString(draw.render_svg(drawn(nodes, [Dependency("y", "x")])).encode())
    assert document.getElementsByTagName("script") == []
    assert not any(element.hasAttribute("onload") for element in document.getElementsByTagName("*"))
    titles = [element.firstChild.data for element in document.getElementsByTagName("title")]
    assert any("<script>" in title and "\x1b" not in title for title in titles)


@pytest.mark.parametrize(
    ("beads", "epics", "label"),
    [
        (0, 0, "no bead"),
        (1, 0, "1 bead"),
        (1, 1, "1 bead, 1 epic"),
        (2, 1, "2 beads, 1 epic"),
        (4, 2, "4 beads, 2 epics"),
    ],
)
def test_the_label_of_a_picture_counts_what_is_drawn(beads, epics, label):
    nodes = [node(f"e{n}", Status.OPEN, "epic") for n in range(epics)]
    nodes += [node(f"b{n}", epic=f"e{n % epics}" if epics else None) for n in range(beads)]
    svg = minidom.parseString(draw.render_svg(drawn(nodes))).documentElement
    assert svg.getAttribute("aria-label") == label
    assert len(svg.getElementsByTagName("title")) == beads, "one box a bead"


def test_the_label_counts_an_empty_epic_once_and_as_an_epic():
    nodes = [node("e", Status.OPEN, "epic"), node("f", Status.OPEN, "epic"), node("a", epic="f"), node("b")]
    svg = minidom.parseString(draw.render_svg(drawn(nodes))).documentElement
    assert svg.getAttribute("aria-label") == "2 beads, 2 epics"


def test_mermaid_titles_cannot_end_their_quotes():
    out = draw.render_mermaid(
        drawn([node("end", title=EVIL), node("x", Status.OPEN, "epic", title=EVIL), node("y", epic="x")])
    )
    for row in out.splitlines():
        assert row.count('"') in (0, 2)
        assert "<script" not in row and "-->" not in row


def test_dot_strings_end_where_they_should():
    out = draw.render_dot(drawn([node("x", title=EVIL + "\\")]))
    assert '\\"]; <script>' in out
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", out)
    assert '"' not in bare and "script" not in bare


def test_text_shows_no_escape_codes():
    assert "\x1b" not in draw.render_text(drawn([node("x", title=EVIL)]))


def test_a_box_stands_right_of_what_it_waits_for():
    nodes, edges = a_dozen()
    found = drawn(nodes, edges)
    at = draw.places(found).boxes
    layer = layers(found)
    for source, target in [("a", "b"), ("b", "c"), ("d", "e"), ("i", "j")]:
        assert at[source][0] + draw.WIDTH < at[target][0] and layer[source] < layer[target]
    assert all(layer["d"] > layer[inner] for inner in "abc"), "what waits for an epic waits for all of it"


def test_nothing_overlaps_with_two_hundred_beads():
    nodes = [node(f"e{n}", Status.OPEN, "epic") for n in range(6)]
    nodes += [node(f"b{n:03}", epic=f"e{n % 6}" if n % 7 else None) for n in range(200)]
    edges = [Dependency(f"b{n:03}", f"b{n // 2:03}") for n in range(1, 200)]
    at = draw.places(drawn(nodes, edges))
    boxes = sorted(at.boxes.values())
    assert len(boxes) == 200
    for place, (x, y) in enumerate(boxes):
        assert x >= 0 and x + draw.WIDTH <= at.width and y >= 0 and y + draw.HEIGHT <= at.height
        for other_x, other_y in boxes[place + 1 :]:
            assert abs(x - other_x) >= draw.WIDTH or abs(y - other_y) >= draw.HEIGHT
    bands = sorted(at.bands, key=lambda band: band.top)
    assert all(one.top + one.height <= two.top for one, two in pairwise(bands))
    assert at.height < 9000 and at.width < 9000


def test_a_long_layer_is_wrapped():
    at = draw.places(drawn([node(f"b{n:03}") for n in range(100)]))
    assert len({x for x, _ in at.boxes.values()}) == 9
    assert at.height < 1200


def test_circles_and_epics_inside_each_other_are_drawn_too():
    nodes = [node("x"), node("y"), node("e", Status.OPEN, "epic", epic="f"), node("f", Status.OPEN, "epic", epic="e")]
    nodes += [node("z", epic="e")]
    found = drawn(nodes, [Dependency("x", "y"), Dependency("y", "x"), Dependency("z", "e")])
    for render in RENDERERS.values():
        assert render(found)
    assert sorted(id_ for row in layout(found).layers for id_ in row) == ["x", "y", "z"]


def test_crossings_are_undone():
    nodes = [node(i) for i in ("a", "b", "c", "p", "q", "r")]
    edges = [Dependency("p", "c"), Dependency("q", "b"), Dependency("r", "a")]
    first, second = layout(drawn(nodes, edges)).layers
    needs = {"p": "c", "q": "b", "r": "a"}
    assert [needs[id_] for id_ in second] == list(first)


def test_the_critical_path_goes_by_minutes_and_not_by_number():
    nodes = [
        node("a", estimate=10),
        node("b", estimate=100),
        node("c", estimate=100),
        node("d", estimate=500),
        node("z", Status.DONE, estimate=9000),
    ]
    edges = [Dependency("b", "a"), Dependency("c", "b"), Dependency("d", "a"), Dependency("a", "z")]
    assert chain_of(Links(nodes, edges)) == ("a", "d")
    assert chain_of(Links([], [])) == ()


def test_the_critical_path_leads_through_epics_and_round_circles():
    nodes = [
        node("a", epic="e", estimate=60),
        node("b", epic="e"),
        node("e", Status.OPEN, "epic"),
        node("c"),
        node("x"),
        node("y"),
    ]
    edges = [Dependency("c", "e"), Dependency("x", "y"), Dependency("y", "x")]
    assert chain_of(Links(nodes, edges)) == ("a", "c")
