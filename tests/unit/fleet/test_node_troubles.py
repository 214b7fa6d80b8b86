"""What the board and people get of the nodes: fewer agents, the reason, and each standing trouble once."""

from collections.abc import Mapping
from typing import Any

from nobrakes.agents.worker.launch import NewTroubles
from nobrakes.config.sections import FleetSettings
from nobrakes.daemon.model import Board, Limits
from nobrakes.decisions.service.node_blockers import on_nodes
from nobrakes.fleet.model import NOT_YET, Fleet, Node
from nobrakes.fleet.service import Nodes
from nobrakes.paths import Paths
from nobrakes.records import plain

DASK = FleetSettings(engine="dask", scheduler="tcp://127.0.0.1:9", agent_places=2)


def node(name: str, places: int = 4, why: str = "") -> Node:
    return Node(f"tcp://{name}:1", name, places, {}, why)


def seen(*nodes: Node, trouble: str = "", doers: int = 8) -> Board:
    return on_nodes(Board(0.0, Limits(doers=doers)), Fleet(0.0, trouble, nodes), DASK)


def test_the_board_has_as_many_agents_as_the_nodes_and_says_why_there_are_none() -> None:
    board = seen(node("fox"), node("owl", 3), node("elk", why="no sandbox works there"))
    assert (board.limits.doers, board.no_nodes) == (2, None) and board.node_seconds
    board = seen(trouble="OSError: timed out")
    assert board.limits.doers == 0 and board.no_nodes is not None and "cannot reach" in board.no_nodes.what
    board = seen(trouble="OSError: timed out", doers=0)
    assert board.no_nodes is None, "a person's own setting is the reason"


def test_limits_are_settings_and_say_nothing_of_nodes() -> None:
    said: Mapping[str, Any] = plain(Limits())
    assert not [name for name in said if "node" in name]


def test_a_trouble_is_told_once_while_it_stands_and_again_when_it_returns() -> None:
    standing = ["a"]
    new = NewTroubles(lambda: [*standing])
    assert (new(), new()) == (["a"], [])
    standing[:] = ["a", "b"]
    assert new() == ["b"]
    standing.clear()
    assert new() == []
    standing[:] = ["a"]
    assert new() == ["a"]


def test_troubles_of_nodes_stand_while_nothing_is_known_of_the_nodes(tmp_path: Any) -> None:
    made = Nodes(Paths(str(tmp_path / ".nobrakes")), lambda: None, {}, str, lambda argv, _: argv)
    new = NewTroubles(lambda: made.troubles(found, ""))
    found = Fleet(0.0, "", (node("fox", why="no sandbox works there"),))
    assert new() == ["the node fox gets no work: no sandbox works there"]
    known, found = found, Fleet(0.0, NOT_YET)
    assert new() == []
    found = known
    assert new() == [], "the same trouble is no news"
    new = Node("tcp://elk:1", "elk", 4, {}, "it was not asked yet", is_asked=False)
    found = Fleet(1.0, "", (*known.nodes, new))
    assert made.troubles(found, "") == made.troubles(known, ""), "what a new node has, it says soon"
    found = Fleet(1.0, "", (node("fox"),))
    assert made.troubles(found, "") == []
