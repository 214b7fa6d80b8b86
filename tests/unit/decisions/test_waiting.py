"""How many beads wait behind one, as SQL says it and as a walk over the graph says it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobrakes.beads.model import CLOSED, Bead, BeadType, Dependency, Status
from nobrakes.decisions.db import behind
from nobrakes.errors import Deadlock
from nobrakes.store import open_memory

STATUSES = [Status.NEEDS_DOER, Status.NEEDS_DOER, Status.NEEDS_TESTS, Status.DRAFT, Status.DONE, Status.CANCELLED]


def walked(beads: dict[str, Bead], edges: list[Dependency], bead: str) -> int:
    """TimePoints (bead, whether its end is meant) that follow from the bead's end; closed beads pass nothing on."""
    found: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    todo = [(bead, True)]
    while todo:
        current, end = todo.pop()
        if (current, end) in seen or beads[current].status in CLOSED:
            continue
        seen.add((current, end))
        found.add(current)
        epic = beads[current].epic
        if end:
            todo += [(edge.bead, False) for edge in edges if edge.needs == current]
            todo += [(epic, True)] if epic is not None and beads[epic].type is BeadType.EPIC else []
        else:
            todo += [(current, True), *((other.id, False) for other in beads.values() if other.epic == current)]
    return len(found - {bead})


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(data=st.data(), size=st.integers(1, 12))
def test_as_a_walk_over_the_graph_counts_them(data: Any, size: int) -> None:
    beads: dict[str, Bead] = {}
    for place in range(size):
        type_ = data.draw(st.sampled_from([BeadType.TASK, BeadType.TASK, BeadType.EPIC]))
        status = data.draw(st.sampled_from(STATUSES))
        if type_ is BeadType.EPIC and status not in (Status.DRAFT, *CLOSED):
            status = Status.OPEN
        epic = data.draw(st.sampled_from([None, None, *beads]))
        beads[f"b{place}"] = Bead(f"b{place}", "x", type_, status=status, epic=epic)
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(list(beads)), st.sampled_from(list(beads))), max_size=20))
    store = open_memory()
    store.put(list(beads.values()), [], "me")
    edges = []
    for bead, needs in dict.fromkeys(pairs):
        try:
            store.add_dependency(Dependency(bead, needs), "me")
        except Deadlock:
            continue
        edges.append(Dependency(bead, needs))
    for bead in beads:
        assert behind(store.connection.execute, bead) == walked(beads, edges, bead)
