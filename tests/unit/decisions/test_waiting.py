"""How many beads wait behind one, as SQL says it and as a walk over the graph says it."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobrakes.beads.model import CLOSED, Bead, BeadType, Dependency, Status
from nobrakes.decisions import db as decisions_db
from nobrakes.decisions.db import behind
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import Deadlock
from nobrakes.store import Store, open_memory

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
    expected = {bead: walked(beads, edges, bead) for bead in beads}
    for many in (decisions_db.MANY, 0, 3):  # a step at a time, as a whole, and first one and then the other
        with patch.object(decisions_db, "MANY", many):
            assert behind(store.plain, beads) == expected
            assert {bead: behind(store.plain, [bead])[bead] for bead in beads} == expected
    assert store.behind(beads) == expected


def chain(length: int, order: int = 1) -> Store:
    """b0, and each next bead waits for the one before. `order`: -1: the last one was made first."""
    store = open_memory()
    beads = [Bead(f"b{n}", "x", status=Status.NEEDS_DOER, needs_tests=False) for n in range(length)]
    store.put(beads[::order], [Dependency(f"b{n + 1}", f"b{n}") for n in range(length - 1)], "me")
    return store


@pytest.mark.parametrize("many", [decisions_db.MANY, 0], ids=["near", "all"])
def test_beads_that_wait_in_a_circle_wait_for_each_other(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """No command makes one; a person may have changed the database."""
    monkeypatch.setattr(decisions_db, "MANY", many)
    store = chain(4)
    store.connection.execute("INSERT INTO edges (bead, type, needs) VALUES ('b0', 'blocks', 'b2')")
    assert store.behind(["b0", "b2", "b3", "gone"]) == {"b0": 3, "b2": 3, "b3": 0, "gone": 0}


def test_the_graph_behind_many_questions_is_read_once() -> None:
    """A walk for each question took 68 s where 90 were open among 100,000 beads."""
    store, asked = chain(20), list[str]()
    for number in range(20):
        store.escalate(NewEscalation(EscalationType.QUESTION, f"{number}?"), f"b{number}", None, "me")
    store.connection.set_trace_callback(asked.append)
    found = store.escalations()
    assert {one.bead: one.behind for one in found} == {f"b{n}": 19 - n for n in range(20)}
    assert sum("json_each" in text for text in asked) == 2, asked  # the beads, and the one step behind them all


@pytest.mark.parametrize("order", [1, -1], ids=["as it happens", "against it"])
def test_a_long_chain_is_read_as_a_whole(order: int) -> None:
    """A step at a time were as many questions as beads, whatever the order in which they were made."""
    store, asked = chain(6000, order), list[str]()
    store.connection.set_trace_callback(asked.append)
    assert store.behind(["b0", "b5000"]) == {"b0": 5999, "b5000": 999}
    assert len(asked) < 2 * decisions_db.MANY + 10
