"""One look at the graph in one of its modes.

1. More than MOST beads are drawn for one epic or one search only: without, `epics` is shown, and the view says so.
2. Circles are named with the dependency to cut. A focus on a graph that is not read whole does not look for them.
"""

from typing import get_args

from ....core.beads.bead import BeadType
from ....core.columns import COLUMNS
from ....core.errors import NoSuchBead, UsageError
from ....core.graph.cycles import circles
from ....core.graph.links import Links
from ....ports.store import Store
from . import epics, focus, whole
from .view import Cycle, GraphView, Mode, Standing, is_open

MOST = 5000
"""So many beads are drawn one by one."""
LONGEST = 1000
"""So many beads of the critical path are marked."""
SEARCH = 200
"""A search has at most so many characters."""


def graph_view(
    store: Store, mode: Mode | str = "focus", *, epic: str = "", match: str = "", is_live_only: bool = False
) -> GraphView:
    """The graph in a mode; UsageError for another one, NoSuchBead for an epic that is not there.

    `epic` (what is in it at any depth), `match` (a part of id or title) and `is_live_only` narrow `all` down.
    """
    if mode not in get_args(Mode):
        raise UsageError(
            f"'{mode[:40]}' is not a way to look at the graph", f"Use one of: {', '.join(get_args(Mode))}."
        )
    counts = store.counts()
    beads = sum(counts[name] for name in COLUMNS)
    match = " ".join(match.split())[:SEARCH]
    if mode == "focus":
        nodes, edges, width, height = focus.drawn(store)
        cycles = _cycles(Links(store.nodes(), store.dependencies())) if beads <= MOST else ()
        box = (focus.SIZE.width, focus.SIZE.height)
        return GraphView("focus", tuple(nodes), tuple(edges), (), cycles, width, height, box, beads)
    links = Links(store.nodes(), store.dependencies())
    standing = Standing(links, store.now(), (node.id for node in store.column("ready", len(links.nodes))))
    chain = store.longest_chain(LONGEST)
    cycles = _cycles(links)
    shown = _narrowed(links, epic, match, is_live_only) if mode == "all" else set()
    many = sum(links.nodes[one].type != BeadType.EPIC for one in shown)
    if mode == "epics" or many > MOST:
        nodes, edges, width, height = epics.drawn(links, standing, chain)
        box = (epics.SIZE.width, epics.SIZE.height)
        return GraphView(
            "epics",
            tuple(nodes),
            tuple(edges),
            (),
            cycles,
            width,
            height,
            box,
            beads,
            epic,
            match,
            is_live_only,
            many,
        )
    nodes, edges, lanes, width, height = whole.drawn(links, shown, standing, chain)
    box = (whole.SIZE.width, whole.SIZE.height)
    return GraphView(
        "all",
        tuple(nodes),
        tuple(edges),
        tuple(lanes),
        cycles,
        width,
        height,
        box,
        beads,
        epic,
        match,
        is_live_only,
    )


def _narrowed(links: Links, epic: str, match: str, is_live_only: bool) -> set[str]:
    """The ids that are asked for; epics among them where they are."""
    if epic and epic not in links.nodes:
        raise NoSuchBead(f"there is no bead '{epic[:80]}'")
    found = set(links.inside(epic) if epic else links.nodes)
    if match:
        part = match.casefold()
        found = {one for one in found if part in one.casefold() or part in links.nodes[one].title.casefold()}
    return {one for one in found if is_open(links.nodes[one])} if is_live_only else found


def _cycles(links: Links) -> tuple[Cycle, ...]:
    return tuple(Cycle(one.members, one.cut, len(one.stuck)) for one in circles(links))
