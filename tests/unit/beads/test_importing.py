"""Many beads at once come in as they would one by one; what is staged outside of the lock is never written outdated."""

import random
from dataclasses import replace

import pytest

from nobrakes.beads.db import graph_writes, importing
from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Status
from nobrakes.errors import BadBead, Deadlock, NoSuchBead
from nobrakes.store import Store
from tests.support.dose import everyday
from tests.world.graph import random_graph

TABLES = ("beads", "bead_text", "edges", "events", "settings")
CHILD = DependencyType.PARENT_CHILD


def everything(store):
    for _ in range(1000):
        store.counts()  # who asks settles a part of the levels
    return {table: sorted(map(repr, store.plain(f"SELECT * FROM {table}"))) for table in TABLES}


class Clock:
    """Always the same."""

    def now(self):
        return 5000.0


def filled(seed, monkeypatch, large, split):
    """A random graph, in two calls; dependencies and epics are always of earlier beads."""
    monkeypatch.setattr(graph_writes, "LARGE", 0 if large else 10_000)
    beads, edges = random_graph(random.Random(seed), 60)
    store = Store(":memory:", Clock())
    early = {one.id for one in beads[:split]}
    for chosen, mine in ((beads[:split], early), (beads[split:], {one.id for one in beads[split:]})):
        store.put(chosen, [edge for edge in edges if edge.bead in mine], "me")
    return store


@pytest.mark.parametrize("split", [0, 25])
@pytest.mark.parametrize("seed", everyday(*range(3), ci=range(3, 12)))
def test_at_once_as_one_by_one(seed, split, monkeypatch):
    at_once, one_by_one = (everything(filled(seed, monkeypatch, large, split)) for large in (True, False))
    for table, found in at_once.items():
        assert found == one_by_one[table], table
    assert filled(seed, monkeypatch, True, split).check() == []


def beside(seed, monkeypatch, large):
    """A random graph, and then beads that only wait for it and for each other, with epics of their own."""
    monkeypatch.setattr(graph_writes, "LARGE", 10_000)
    beads, edges = random_graph(random.Random(seed), 60)
    store = Store(":memory:", Clock())
    early = {one.id for one in beads[:35]}
    store.put(beads[:35], [edge for edge in edges if edge.bead in early], "me")
    late = [replace(one, epic=None) if one.epic in early else one for one in beads[35:]]
    mine = [edge for edge in edges if edge.bead not in early]
    assert importing.only_waits(store, late, mine)
    monkeypatch.setattr(graph_writes, "LARGE", 0 if large else 10_000)
    if large:
        monkeypatch.setattr(importing.levels, "all_nodes", None)  # nobody reads the graph
    store.put(late, mine, "me")
    monkeypatch.undo()
    return store


@pytest.mark.parametrize("seed", everyday(*range(4), ci=range(4, 25)))
def test_beside_the_graph_as_one_by_one(seed, monkeypatch):
    large, small = (everything(beside(seed, monkeypatch, large)) for large in (True, False))
    for table, found in large.items():
        assert found == small[table], table
    store = beside(seed, monkeypatch, True)
    everything(store)
    assert store.check() == []


def test_another_commit_between_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_writes, "LARGE", 2)  # what the other one adds is small
    path = str(tmp_path / "nobrakes.db")
    store = Store(path, create=True)
    other = Store(path)
    real = importing.stage

    def stage(*given):
        staged = real(*given)
        other.put([Bead("e", "E", BeadType.EPIC), Bead("x", "X", estimate=30)], [], "other")
        return staged

    monkeypatch.setattr(importing, "stage", stage)
    with pytest.raises(BadBead, match="bead x already exists"):
        store.put([Bead("x", "X"), Bead("y", "Y")], [Dependency("y", "x")], "me")
    monkeypatch.setattr(importing, "stage", real)
    store.put([Bead("y", "Y", epic="e"), Bead("z", "Z")], [Dependency("y", "x"), Dependency("x", "z")], "me")
    assert store.check() == [] and store.bead("y").epic == "e"
    assert not store.all("SELECT name FROM temp.sqlite_schema")
    store.close()
    other.close()


@pytest.mark.parametrize(
    ("beads", "edges", "refused"),
    [
        ([Bead("a", "A")], [], BadBead),
        ([Bead("b", "B", epic="ghost")], [], NoSuchBead),
        ([Bead("b", "B")], [Dependency("b", "ghost")], NoSuchBead),
        ([Bead("b", "B")], [Dependency("b", "b", DependencyType.RELATED)], BadBead),
        ([Bead("b", "B"), Bead("c", "C")], [Dependency("b", "c"), Dependency("c", "b")], Deadlock),
        ([Bead("f", "F", BeadType.EPIC)], [Dependency("a", "f", CHILD)], BadBead),
    ],
)
def test_what_is_refused_wrote_nothing(beads, edges, refused, monkeypatch):
    store = Store(":memory:", Clock())
    store.put([Bead("e", "E", BeadType.EPIC), Bead("a", "A", epic="e", status=Status.NEEDS_DOER)], [], "me")
    before = everything(store)
    monkeypatch.setattr(graph_writes, "LARGE", 0)
    with pytest.raises(refused):
        store.put(beads, edges, "me")
    assert everything(store) == before


@pytest.mark.parametrize("large", [True, False])
def test_the_order_of_the_source_lasts_and_no_bead_is_older_than_its_last_change(large, monkeypatch):
    monkeypatch.setattr(graph_writes, "LARGE", 0 if large else 10_000)
    rare = {1: {"held": "wait"}, 3: {"defer_until": 9000.0}, 4: {"merged_commit": "c" * 40}}
    beads = [Bead(f"b{n}", "B", created_at=4000.0, **rare.get(n, {})) for n in (5, 1, 4, 2, 3)]
    store = Store(":memory:", Clock())
    store.put([*beads, Bead("x", "X"), Bead("w", "W", held="wait"), Bead("u", "U", updated_at=4000.0)], [], "me")
    assert store.listed() == ["b5", "b1", "b4", "b2", "b3", "x", "w", "u"]
    assert (store.bead("b1").held, store.bead("b4").merged_commit, store.bead("b2").held) == ("wait", "c" * 40, None)
    assert store.bead("w").held == "wait" and store.bead("b3").defer_until == 9000.0
    assert all(one.created_at <= one.updated_at for one in store.beads())


@pytest.mark.parametrize("large", [True, False])
def test_a_change_at_the_moment_of_the_import_is_not_earlier_than_it(large, monkeypatch):
    for name in ("LARGE", "DRAFTS"):
        monkeypatch.setattr(graph_writes, name, 0 if large else 10_000)
    store = Store(":memory:", Clock())
    epics = [Bead(f"e{n}", "E", BeadType.EPIC) for n in range(2)]
    store.put([*epics, *(Bead(f"b{n}", "B", epic="e1") for n in range(5))], [], "me")
    store.change("b0", {"priority": 1}, "me")
    store.add_dependency(Dependency("b1", "b0"), "me")
    store.add_dependency(Dependency("e0", "e1", CHILD), "me")
    store.propose("b2", {"title": {"was": "B", "is": "New"}}, "me")
    store.approve(["b3", "b4", "e1"], "me")
    assert [one.id for one in store.beads() if one.updated_at < one.created_at] == []
