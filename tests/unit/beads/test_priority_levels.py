"""Levels follow a change: each bead once, lowest first, and no transaction settles more than its part."""

import random

import pytest

from nobrakes.beads.db import importing, levels
from nobrakes.beads.model import Bead, Dependency, Status
from nobrakes.beads.readiness import deadlocks
from nobrakes.errors import Deadlock
from nobrakes.store import Store

BEADS = 400


@pytest.fixture
def store():
    """A graph in which a bead waits for three of the fifty before it, and one alone."""
    rng = random.Random(7)
    made = Store(":memory:", create=True)
    beads = [Bead(f"b{n:03}", "B", status=Status.NEEDS_DOER, estimate=rng.randint(1, 60)) for n in range(BEADS)]
    alone = Bead("alone", "B", status=Status.NEEDS_DOER, estimate=5000)
    needs = {(n, rng.randrange(max(0, n - 50), n)) for n in range(1, BEADS) for _ in range(3)}
    made.put([*beads, alone], [Dependency(f"b{a:03}", f"b{b:03}") for a, b in sorted(needs)], "me")
    yield made
    made.close()


@pytest.fixture
def settled(monkeypatch):
    """The beads whose levels were computed, in order."""
    found = []
    settle = levels._settle

    def noted(db, bead, expected):
        found.append(bead)
        return settle(db, bead, expected)

    monkeypatch.setattr(levels, "_settle", noted)
    return found


def test_a_change_that_reaches_everything_computes_each_bead_once(store, settled):
    store.add_dependency(Dependency("alone", f"b{BEADS - 1:03}"), "me")
    assert len(settled) == len(set(settled)) > BEADS // 2
    assert importing.differences(store, store.now()) == {}


def test_one_transaction_settles_its_part_and_later_ones_the_rest(store, settled, monkeypatch):
    monkeypatch.setattr(levels, "PART", 50)
    store.add_dependency(Dependency("alone", f"b{BEADS - 1:03}"), "me")
    assert len(settled) == 50 and levels.is_due(store)
    assert importing.differences(store, store.now()) != {}
    assert store.differences() == {}, "levels that are due are nothing to repair"
    parts = 0
    while levels.is_due(store):
        store.ready(1)
        parts += 1
    assert 3 < parts < 12 and len(settled) == len(set(settled))
    assert importing.differences(store, store.now()) == {}


def test_a_circle_is_refused_while_levels_lag(store, monkeypatch):
    monkeypatch.setattr(levels, "PART", 10)
    with store.write():  # nothing is caught up inside of a transaction
        store.add_dependency(Dependency("alone", f"b{BEADS - 1:03}"), "me")
        assert levels.is_due(store)
        monkeypatch.setattr(levels, "update_all", lambda db: None)
        with pytest.raises(Deadlock):
            store.add_dependency(Dependency("b000", "alone"), "me")


def test_levels_in_a_circle_come_to_an_end(store, monkeypatch):
    """The store lets none in, but a database may be another's."""
    monkeypatch.setattr(levels, "PART", 50)
    with store.write():
        store.run("INSERT INTO edges (bead, type, needs) VALUES ('b000', 'blocks', ?)", (f"b{BEADS - 1:03}",))
        levels.refresh(store, [f"b{BEADS - 1:03}"])
    assert deadlocks(store.nodes(), store.dependencies())
    looks = 0
    while levels.is_due(store):
        store.ready(1)
        looks += 1
        assert looks < 100, "levels grow for ever"
    assert not [found for found in store.differences().values() if found.keys() & {"b_level", "done_level"}]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("at", [None, *range(1, 17)])
def test_what_is_computed_again_is_written_in_parts_and_others_write_between(tmp_path, monkeypatch, at, reverse):
    """Whoever writes between two parts, or right before them, finds no level that stays wrong, whatever came first."""
    in_order = levels.levels
    monkeypatch.setattr(levels, "levels", lambda *of: dict(sorted(in_order(*of).items(), reverse=reverse)))
    monkeypatch.setattr(levels, "PART", 3)
    monkeypatch.setattr(levels, "MARKS", 12)
    store, other = (Store(str(tmp_path / "db"), create=True) for _ in range(2))
    chain = [Bead(f"b{n:02}", "B", status=Status.NEEDS_DOER, estimate=1) for n in range(40)]
    store.put(chain, [Dependency(f"b{n:02}", f"b{n - 1:02}") for n in range(1, 40)], "me")
    levels.update_all(store)  # or every bead would be due anyway
    store.put([Bead("late", "L", status=Status.NEEDS_DOER, estimate=5)], [Dependency("late", "b39")], "me")
    assert levels.is_due(store)
    with store.write():
        store.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1000')", (levels.PARTS,))
    writes = []
    write = store.write

    def counted(**kwargs):
        writes.append(kwargs)
        if len(writes) == at:
            other.change("b20", {"estimate": 7}, "you")
            other.put([Bead("new", "N", status=Status.NEEDS_DOER, estimate=3)], [Dependency("new", "b10")], "you")
        return write(**kwargs)

    monkeypatch.setattr(store, "write", counted)
    levels.update_some(store)
    assert at is not None or (len(writes) > 10 and not levels.is_due(store))
    for _ in range(200):
        levels.update_some(store)
    assert not levels.is_due(store) and importing.differences(store, store.now()) == {}
    store.close()
    other.close()


def test_what_many_plans_in_a_row_made_due_is_computed_again_where_somebody_waits_for_all(settled, monkeypatch):
    monkeypatch.setattr("nobrakes.beads.db.graph_writes.LARGE", 10)
    store = Store(":memory:", create=True)
    for plan in range(6):
        names = range(plan * 50, plan * 50 + 50)
        beads = [Bead(f"b{n:03}", "B", status=Status.NEEDS_DOER, estimate=5) for n in names]
        store.put(beads, [Dependency(f"b{n:03}", f"b{n - 50:03}") for n in names if plan], "me")
    assert levels.is_due(store) and not settled
    monkeypatch.setattr(levels, "PART", 20)
    store.add_dependency(Dependency("b001", "b000"), "me")
    assert len(settled) < 20, "each would be settled once for each plan that came after it"
    assert importing.differences(store, store.now()) == {}
    store.close()


def test_what_is_computed_again_leaves_nothing_due(store, monkeypatch):
    monkeypatch.setattr(levels, "PART", 10)
    store.add_dependency(Dependency("alone", f"b{BEADS - 1:03}"), "me")
    with store.write():
        assert importing.recompute(store, store.now()) > 0
    assert not levels.is_due(store)


def test_what_is_typical_is_learnt_and_the_levels_follow_in_parts(monkeypatch):
    monkeypatch.setattr(levels, "PART", 3)
    monkeypatch.setattr(levels, "MARKS", 4)
    monkeypatch.setattr("nobrakes.beads.db.levels.MANY_OPEN", 2)
    store = Store(":memory:", create=True)
    chain = [Bead(f"c{i}", "C", status=Status.NEEDS_DOER) for i in range(9)]
    store.put(chain, [Dependency(f"c{i + 1}", f"c{i}") for i in range(8)], "me")
    store.put([Bead("known", "K", status=Status.NEEDS_DOER, estimate=10)], [], "me")
    assert levels.is_due(store), "not all at once"
    levels.update_all(store)
    assert store.differences() == {} and level(store, "c0") == 90
    store.change("known", {"estimate": 12}, "me")
    assert level(store, "c0") == 90 and not levels.is_due(store), "that little is not worth it"
    store.change("known", {"estimate": 20}, "me")
    levels.update_all(store)
    assert level(store, "c0") == 180 and store.differences() == {}


def level(store, bead):
    return store.one("SELECT b_level FROM beads WHERE id = ?", (bead,))[0]
