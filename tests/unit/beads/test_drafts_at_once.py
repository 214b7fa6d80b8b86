"""Many drafts go live at once as they would one by one."""

import random
from dataclasses import replace

import pytest

from nobrakes.beads.db import graph_writes
from nobrakes.beads.model import Bead, Status
from nobrakes.errors import NoSuchBead, NotAllowed
from nobrakes.store import open_memory
from tests.support.dose import everyday
from tests.world.graph import random_graph

TABLES = ("beads", "bead_text", "edges", "events", "settings", "levels_due")


def rows(store):
    return {table: sorted(map(repr, store.plain(f"SELECT * FROM {table}"))) for table in TABLES}


def approved(seed, monkeypatch, at_once):
    """A random graph of drafts in two approvals, a day apart."""
    rng, now = random.Random(seed), [1_800_000_000.0]
    monkeypatch.setattr(graph_writes, "DRAFTS", 0 if at_once else 10_000)
    store = open_memory(lambda: now[0])
    beads, edges = random_graph(rng, 50)
    held = [replace(one, status=Status.DRAFT, held="why" if rng.random() < 0.1 else None) for one in beads]
    late = [replace(one, defer_until=now[0] + 1000) if rng.random() < 0.1 else one for one in held]
    store.put(late, edges, "me")
    now[0] += 86_400 * 2
    ids = [one.id for one in beads]
    first = rng.sample(ids, 30)
    store.approve(first, "me")
    now[0] += 86_400
    store.approve([one for one in ids if one not in first], "you")
    return store


@pytest.mark.parametrize("seed", everyday(*range(5), ci=range(5, 25)))
def test_at_once_as_one_by_one(seed, monkeypatch):
    at_once = approved(seed, monkeypatch, True)
    assert rows(at_once) == rows(approved(seed, monkeypatch, False))
    assert at_once.check() == []


def test_one_that_is_no_draft_refuses_them_all(monkeypatch):
    monkeypatch.setattr(graph_writes, "DRAFTS", 0)
    store = open_memory()
    store.put([Bead("a", "A"), Bead("b", "B", status=Status.DONE)], [], "me")
    before = rows(store)
    for wrong, error in ((["a", "b"], NotAllowed), (["a", "none"], NoSuchBead)):
        with pytest.raises(error):
            store.approve(wrong, "me")
        assert rows(store) == before
    store.approve(["a"], "me")
    assert store.bead("a").status is Status.NEEDS_TESTS
