"""What the store keeps beside the facts is computed anew by core's rules: on sound stores and on spoilt ones."""

import random

import pytest

from nobrakes.beads.db import importing
from nobrakes.beads.graph import Links, typical_of
from nobrakes.beads.model import Bead, BeadType, Dependency, Status
from nobrakes.beads.readiness import deadlocks, explain
from nobrakes.beads.work_status import COLUMNS, column
from nobrakes.errors import StoreBroken
from nobrakes.store import Store
from tests.support.dose import everyday

DERIVED = ("open_blockers", "children", "open_children", "done_children", "asleep", "resting", "b_level", "done_level")
STATUSES = (Status.DRAFT, Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW, Status.DONE, Status.CANCELLED)


def made(seed: int) -> Store:
    rng = random.Random(seed)
    store = Store(":memory:", create=True)
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


@pytest.mark.parametrize("seed", everyday(*range(4), ci=range(4, 10)))
def test_a_column_that_is_spoilt_is_named_and_set_right(seed):
    store = made(seed)
    bead = f"b{random.Random(seed).randrange(60)}"
    assert store.differences() == {}
    for name in (*DERIVED, "rank"):
        assert store.check() == []
        kept = store.one(f"SELECT {name} FROM beads WHERE id = ?", (bead,))[0]
        store.run(f"UPDATE beads SET {name} = {name} + 3 WHERE id = ?", (bead,))
        assert store.differences() == {bead: {name: (kept + 3, kept)}}
        assert store.check() == [f"{bead}.{name} is {kept + 3}, but should be {kept}"]
        assert store.recount() == 1
    assert store.check() == []


def test_a_circle_that_no_write_lets_in_hides_nothing_else():
    store = made(1)
    store.run("UPDATE beads SET status = 'needs_doer' WHERE id IN ('b1', 'b2')")
    for bead, needs in (("b1", "b2"), ("b2", "b1")):
        store.run("INSERT OR IGNORE INTO edges (bead, type, needs) VALUES (?, 'blocks', ?)", (bead, needs))
    store.recount()
    store.run("UPDATE beads SET rank = rank + 3 WHERE id = 'b7'")
    assert [text.split()[0] for text in store.check()] == ["b7.rank"]
    (circle,) = deadlocks(store.nodes(), store.dependencies())
    assert store.circles() == [circle] and {circle.cut.bead, circle.cut.needs} == {"b1", "b2"}


SPOILT = (
    *(
        f"UPDATE beads SET {name} = {name} + :by WHERE id = :one"
        for name in (*DERIVED, "rank", "rises_at", "dependents")
    ),
    "UPDATE beads SET open_blockers = 0, b_level = 0, done_level = 0 WHERE id = :one",
    "INSERT OR IGNORE INTO edges (bead, type, needs) VALUES (:one, 'blocks', :other)",
    "DELETE FROM edges WHERE bead = :one",
    "UPDATE beads SET epic = :epic WHERE id = :one",
    "UPDATE beads SET epic = :one WHERE id = :epic",
    "UPDATE beads SET epic = :epic WHERE id = :parent",
    "UPDATE beads SET status = 'done' WHERE id = :other",
    "UPDATE beads SET status = 'landed' WHERE id = :other",
    "UPDATE beads SET estimate = 7, retry_at = 4e9, defer_until = NULL, held = NULL WHERE id = :one",
)


@pytest.mark.parametrize("seed", everyday(*range(20), ci=range(20, 400)))
def test_sql_finds_sound_what_a_recomputation_finds_right_and_nothing_else(seed: int) -> None:
    """Of sound and spoilt stores, also of such whose columns were recounted around a circle."""
    store, rng = made(seed), random.Random(seed)
    for _ in range(4):
        values = {"by": rng.choice((-1, 1, 3)), "one": f"b{rng.randrange(60)}", "other": f"b{rng.randrange(60)}"}
        values |= {"epic": f"e{rng.randrange(6)}", "parent": f"e{rng.randrange(6)}"}
        store.run(rng.choice(SPOILT), values)
        for _ in range(2):
            wrong, waiting = store.differences(), deadlocks(store.nodes(), store.dependencies())
            assert (store.check() == [], store.circles()) == (wrong == {}, waiting)
            store.recount()


def test_the_whole_graph_is_only_read_where_something_is_wrong() -> None:
    seed = next(seed for seed in range(20) if importing.is_sound(made(seed)))
    store, asked = made(seed), list[str]()
    store.connection.set_trace_callback(asked.append)
    assert (store.check(), store.circles()) == ([], [])
    assert not any(text.startswith("SELECT bead, needs, type FROM edges") for text in asked)
    store.run("UPDATE beads SET rank = rank + 9 WHERE id = 'b1'")
    assert len(store.check()) == 1
    assert any(text.startswith("SELECT bead, needs, type FROM edges") for text in asked)


def test_what_is_wrong_with_the_file_goes_before_what_could_not_be_read(tmp_path, monkeypatch):
    store = Store(str(tmp_path / "nobrakes.db"), create=True)

    def refuses(*_, **__):
        raise StoreBroken("cannot be read")

    monkeypatch.setattr(importing, "is_sound", refuses)
    with pytest.raises(StoreBroken, match="cannot be read"):
        store.check()
    store.run("PRAGMA foreign_keys = OFF")
    store.run("INSERT INTO edges (bead, type, needs) VALUES ('b1', 'blocks', 'ghost')")
    assert store.check() and all(text.startswith("a row of edges refers to a row of beads") for text in store.check())
    store.close()


@pytest.mark.parametrize("seed", everyday(*range(4), ci=range(4, 10)))
def test_the_columns_are_those_of_core(seed):
    store = made(seed)
    nodes, now = store.nodes(), store.now()
    explained = explain(nodes, store.dependencies(), now)
    for name in COLUMNS:
        inside = [n for n in nodes if n.type != "epic" and column(n.status, explained[n.id].ready) == name]
        order = [bead.id for bead in store.ready(100)] if name == "ready" else store.listed()
        inside.sort(key=lambda n: order.index(n.id))
        assert store.counts()[name] == len(inside)
        assert store.column(name, 3) == inside[:3]
    assert store.counts()["epic"] == 6
    assert store.counts()["held"] == sum(
        n.held is not None and n.type != "epic" and n.status not in ("done", "cancelled") for n in nodes
    )


@pytest.mark.parametrize("seed", everyday(*range(4), ci=range(4, 10)))
def test_the_neighbourhood_decides_as_the_whole_graph_does(seed):
    store = made(seed)
    whole = explain(store.nodes(), store.dependencies(), store.now())
    for bead in ("b59", "b30", "e3"):
        assert explain(*store.around([bead]), store.now())[bead] == whole[bead]


@pytest.mark.parametrize("seed", everyday(*range(4), ci=range(4, 10)))
def test_the_critical_path_is_as_long_as_the_graph_says(seed):
    from nobrakes.pictures.layout import chain_of

    store = made(seed)
    estimates = {node.id: node.estimate or typical_of(store.nodes()).minutes for node in store.nodes()}
    chain, right = store.critical_path(), chain_of(Links(store.nodes(), store.dependencies()))
    assert sum(estimates[b] for b in chain) == sum(estimates[b] for b in right) > 0
