"""The counters' check in sets agrees with core's own recomputation, on sound stores and on spoilt ones."""

import random
import sqlite3

import pytest

from nobrakes.core.bead import Bead, BeadType, Dependency, Status
from nobrakes.core.columns import COLUMNS, column
from nobrakes.core.errors import StoreBroken
from nobrakes.core.graph import explain
from nobrakes.store import counting
from nobrakes.store.sqlite import SqliteStore

DERIVED = ("open_blockers", "children", "open_children", "done_children", "asleep", "resting", "b_level", "done_level")
STATUSES = (Status.DRAFT, Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW, Status.DONE, Status.CANCELLED)


def made(seed: int) -> SqliteStore:
    rng = random.Random(seed)
    store = SqliteStore(":memory:", create=True)
    epics = [
        Bead(f"e{i}", "E", type=BeadType.EPIC, status=rng.choice((Status.OPEN, Status.DRAFT, Status.CANCELLED)),
             epic=f"e{rng.randrange(i)}" if i and rng.random() < 0.5 else None,
             held="think" if rng.random() < 0.2 else None, defer_until=4e9 if rng.random() < 0.2 else None)
        for i in range(6)
    ]  # fmt: skip
    beads = [
        Bead(f"b{i}", "B", status=rng.choice(STATUSES), estimate=rng.choice((None, 5, 60)), priority=rng.randrange(5),
             epic=f"e{rng.randrange(6)}" if rng.random() < 0.5 else None,
             held="think" if rng.random() < 0.1 else None, defer_until=4e9 if rng.random() < 0.1 else None)
        for i in range(60)
    ]  # fmt: skip
    needs = {(i, rng.randrange(i)) for i in range(1, 60) for _ in range(2)}
    store.put([*epics, *beads], [Dependency(f"b{i}", f"b{j}") for i, j in sorted(needs)], "me")
    return store


@pytest.mark.parametrize("seed", range(10))
def test_both_find_the_same(seed):
    store = made(seed)
    assert store.wrong() == store.differences() == {}
    rng = random.Random(seed)
    for name in (*DERIVED, "rank"):
        store._db.run(f"UPDATE beads SET {name} = {name} + 3 WHERE id = ?", (f"b{rng.randrange(60)}",))
    assert store.wrong() == store.differences() != {}
    store.recount()
    assert store.wrong() == {}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["b_level", "done_level", "rank", "estimate", "priority", "status"])
def test_levels_that_do_not_fit_are_seen_wherever_they_stand(seed, name):
    store = made(seed)
    assert counting._levels_hold(store._db)
    rng = random.Random(seed)
    for bead in (f"b{rng.randrange(60)}", f"e{rng.randrange(6)}"):
        change = "done" if name == "status" else rng.choice((1, 7, 100))
        store._db.run(f"UPDATE beads SET {name} = ? WHERE id = ?", (change, bead))
        assert counting._levels_hold(store._db) is (store.differences().keys() & _of_levels(store) == set())
    assert store.wrong() == store.differences()


def _of_levels(store):
    """The beads whose level or rank is wrong."""
    return {bead for bead, names in store.differences().items() if names.keys() & {"b_level", "done_level", "rank"}}


@pytest.mark.parametrize("circle", [("e1", "e2"), ("e1", "e2", "e3"), ("b1", "b2")])
def test_a_circle_of_parents_that_weighs_nothing_is_seen(circle):
    store = made(1)
    store._db.run("UPDATE beads SET status = 'open', epic = NULL WHERE type = 'epic'")
    store._db.run("UPDATE beads SET status = 'needs_doer', epic = NULL WHERE type <> 'epic'")
    store.recount()
    assert not store.examined()[1]
    for bead, parent in zip(circle, (*circle[1:], circle[0]), strict=True):
        store._db.run("UPDATE beads SET epic = ? WHERE id = ?", (parent, bead))
    store.recount()
    assert store.examined()[1]


@pytest.mark.parametrize("seed", range(4))
def test_doctor_asks_both_threads_and_gets_the_same(tmp_path, seed):
    store = made(seed)
    with sqlite3.connect(tmp_path / "nobrakes.db") as copy:
        store._db.connection.backup(copy)
    copy.close()
    kept = SqliteStore(str(tmp_path / "nobrakes.db"))
    assert kept.examined() == store.examined() == ([], False)
    for one in (store, kept):
        one._db.run("UPDATE beads SET rank = rank + 3, done_level = 7 WHERE id = 'b7'")
        one._db.run("UPDATE beads SET open_blockers = open_blockers + 3 WHERE id IN ('b7', 'b9')")
    assert kept.examined() == store.examined() == (store.check(), False)
    assert len(store.check()) == 4
    for one in (store, kept):
        one._db.run("UPDATE beads SET status = 'needs_doer' WHERE id IN ('b1', 'b2')")
        for bead, needs in (("b1", "b2"), ("b2", "b1")):
            one._db.run("INSERT OR IGNORE INTO edges (bead, type, needs) VALUES (?, 'blocks', ?)", (bead, needs))
    assert kept.examined() == store.examined() == (store.check(), True)
    kept._db.run("PRAGMA foreign_keys = OFF")
    kept._db.run("INSERT INTO edges (bead, type, needs) VALUES ('b1', 'blocks', 'ghost')")
    assert kept.examined()[0] == ["a row of edges refers to beads in vain"]
    kept.close()


def test_what_is_wrong_with_the_file_goes_before_what_could_not_be_read(tmp_path, monkeypatch):
    store = SqliteStore(str(tmp_path / "nobrakes.db"), create=True)

    def refuses(_):
        raise StoreBroken("cannot be read")

    monkeypatch.setattr(counting, "_levels_hold", refuses)
    with pytest.raises(StoreBroken, match="cannot be read"):
        store.examined()
    monkeypatch.setattr(counting, "problems", lambda _: ["row 1 missing from index"])
    assert store.examined() == (["row 1 missing from index"], False)
    monkeypatch.setattr(counting, "problems", refuses)
    with pytest.raises(StoreBroken):
        store.examined()
    store.close()


@pytest.mark.parametrize("seed", range(10))
def test_the_columns_are_those_of_core(seed):
    store = made(seed)
    nodes, now = store.nodes(), store.now()
    explained = explain(nodes, store.dependencies(), now)
    for name in COLUMNS:
        inside = [n for n in nodes if n.type != "epic" and column(n.status, explained[n.id].ready) == name]
        inside.sort(key=lambda n: (n.priority, n.id))
        assert store.counts()[name] == len(inside)
        assert store.column(name, 3) == inside[:3]
    assert store.counts()["epic"] == 6
    assert store.counts()["held"] == sum(
        n.held is not None and n.type != "epic" and n.status not in ("done", "cancelled") for n in nodes
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_neighbourhood_decides_as_the_whole_graph_does(seed):
    store = made(seed)
    whole = explain(store.nodes(), store.dependencies(), store.now())
    for bead in ("b59", "b30", "e3"):
        assert explain(*store.around([bead]), store.now())[bead] == whole[bead]


@pytest.mark.parametrize("seed", range(10))
def test_the_longest_chain_is_as_long_as_the_graph_says(seed):
    from nobrakes.analysis.paths import critical_path

    store = made(seed)
    estimates = {node.id: node.estimate or 1 for node in store.nodes()}
    chain, right = store.longest_chain(), critical_path(store.nodes(), store.dependencies())
    assert sum(estimates[b] for b in chain) == sum(estimates[b] for b in right) > 0
