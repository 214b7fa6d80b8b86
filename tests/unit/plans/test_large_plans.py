"""A large plan is compared, written and told without an object a bead; it comes to what a small one comes to."""

import json
import random
import tracemalloc
from dataclasses import replace

import pytest

from nobrakes.beads import proposals
from nobrakes.beads.db import graph_writes
from nobrakes.errors import NobrakesError
from nobrakes.features.service import strategy
from nobrakes.plans import nodes
from nobrakes.plans import service as plans_service
from nobrakes.plans.nodes import plan_of
from nobrakes.store import open_memory
from tests.support.dose import everyday

TABLES = ("beads", "bead_text", "edges", "events", "settings")
ROUNDS = 5


def rows(store):
    for _ in range(100):
        store.counts()  # who asks settles a part of the levels
    return {table: sorted(map(repr, store.plain(f"SELECT * FROM {table}"))) for table in TABLES}


def random_plan(rng, known):
    """Some beads of before as they are or otherwise, some new ones; by id or by key, in any order."""
    nodes = []
    for number in range(rng.randrange(1, 25)):
        name = f"b{rng.randrange(30):02}"
        if any(name == node.get("id") for node in nodes):
            continue
        earlier = [one for one in [*known, *(node["id"] for node in nodes if "id" in node)] if one < name]
        node = {"id": name, "title": f"Bead {name}"}
        if rng.random() < 0.3:
            node |= {"title": f"Bead {name}, {rng.randrange(3)}", "labels": rng.sample(["a", "b", "ü"], 2)}
        if rng.random() < 0.2:
            node |= {"type": "epic"} if name.endswith(("0", "5")) else {"type": "fix", "metadata": {"n": 1, "m": [2]}}
        for key in ("needs", "related"):
            if rng.random() < 0.6:
                node[key] = rng.sample(earlier, min(len(earlier), rng.randrange(3)))
        if rng.random() < 0.3:
            node["epic"] = rng.choice([*[one for one in earlier if one.endswith(("0", "5"))], None])
        if rng.random() < 0.1:
            node |= rng.choice([{"hold": "why"}, {"defer_until": "2099-01-01"}, {"status": "done"}, {"status": "live"}])
        if rng.random() < 0.1:
            node["needs"] = [f"b{rng.randrange(30):02}"]
        if number == 3 and rng.random() < 0.3:
            node = {"key": "b07", "title": "With a name of its own in the file"}
        nodes.append(node)
    return {"beads": rng.sample(nodes, len(nodes)), "live": rng.random() < 0.2}


def applied(store, found, file=None, **how):
    """The report, or what the plan was refused with. `file`: it is read from there, with what the store knows."""
    try:
        if file is None:
            plan = plan_of(found, "plan")
        else:
            file.write_text(json.dumps(found))
            plan = plans_service.read_plan(str(file), plans_service.StoredIds(store))
        return plans_service.apply_plan(store, plan, actor="me", **how)
    except NobrakesError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("seed", everyday(*range(8), ci=range(8, 40)))
def test_many_beads_come_to_what_few_do(seed, monkeypatch, tmp_path):
    rng = random.Random(seed)
    few, many = open_memory(lambda: 1_800_000_000.0), open_memory(lambda: 1_800_000_000.0)
    monkeypatch.setattr(graph_writes, "MANY", rng.choice([0, 1000]))
    monkeypatch.setattr(nodes, "PART_BYTES", rng.choice([50, 300]))
    known: dict[str, None] = {}  # a set has another order in each run
    for number in range(ROUNDS):
        monkeypatch.setattr(plans_service, "new_id", lambda store, taken, id_=f"new-{number}": id_)
        monkeypatch.setattr(plans_service, "unused_id", lambda taken, id_=f"new-{number}": id_)
        found, live = random_plan(rng, known), rng.random() < 0.2
        reports = []
        for store, is_many in ((few, False), (many, True)):
            monkeypatch.setattr(plans_service, "SMALL", 0 if is_many else 1000)
            monkeypatch.setattr(graph_writes, "LARGE", 0 if is_many else 1000)
            file = tmp_path / "plan" if is_many else None
            reports.append(applied(store, found, file, live=live, explain=not is_many))
        first, second = (one if isinstance(one, str) else replace(one, explained={}) for one in reports)
        assert first == second
        assert rows(few) == rows(many)
        known.update(dict.fromkeys(bead.id for bead in few.beads()))
    assert many.check() == []


def random_change(rng, known):
    """Wishes for a few beads of before, and some new ones, each with an estimate."""
    found = random_plan(rng, known)
    nodes = found["beads"][: rng.randrange(1, 6)]
    for node in nodes:
        node["estimate"] = rng.choice([5, 30, 240])
        if rng.random() < 0.1 and node.get("id") in known:
            node["status"] = "cancelled"
    return {"beads": nodes}


@pytest.mark.parametrize("seed", everyday(*range(8), ci=range(8, 80)))
def test_a_few_changes_are_told_as_the_whole_graph_tells_them(seed, monkeypatch):
    """Also the wishes for live beads, which wait: what would come of them is tried out and taken back."""
    rng = random.Random(seed)
    near, whole = open_memory(lambda: 1_800_000_000.0), open_memory(lambda: 1_800_000_000.0)
    monkeypatch.setattr(plans_service, "new_id", lambda store, taken: "new-id")
    monkeypatch.setattr(plans_service, "unused_id", lambda taken: "new-id")
    looked_at, graph_after = [], plans_service.graph_after
    monkeypatch.setattr(
        plans_service, "graph_after", lambda store, work: looked_at.append(store) or graph_after(store, work)
    )
    first = random_plan(rng, set())
    for node in first["beads"]:
        node["estimate"] = rng.choice([5, 30, 240])
    for store in (near, whole):
        applied(store, first, live=True)
    for _ in range(ROUNDS):
        known = dict.fromkeys(bead.id for bead in near.beads())  # a set has another order in each run
        found, dry_run = random_change(rng, known), rng.random() < 0.2
        reports = []
        looked_at.clear()
        for store in (near, whole):
            monkeypatch.setattr(plans_service, "SMALL", 0 if store is whole else 1000)
            reports.append(applied(store, found, dry_run=dry_run))
        one, other = reports
        if not isinstance(one, str):
            assert one.deadlocks or near not in looked_at, "the whole graph was read for a few changes"
        assert one == other
        assert rows(near) == rows(whole)
    assert near.check() == []


def test_what_is_there_as_it_is_said_is_not_read_as_a_bead(monkeypatch):
    monkeypatch.setattr(plans_service, "SMALL", 0)
    store = open_memory()
    found = {"beads": [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "needs": ["a"], "labels": ["x"]}]}
    assert applied(store, found).new == ("a", "b")
    work = plans_service.work_out(store, plan_of(found, "plan"), False)
    assert set(work.same) == {"a", "b"} and not work.before
    found["beads"][1]["labels"] = ["y"]
    work = plans_service.work_out(store, plan_of(found, "plan"), False)
    assert set(work.same) == {"a"} and set(work.before) == {"b"}


def test_what_a_file_says_as_it_is_stored_is_not_judged_again(monkeypatch, tmp_path):
    """And nothing else: another type of a value, or a key, is judged and refused as in a small plan."""
    monkeypatch.setattr(nodes, "PART_BYTES", 20)
    store, file = open_memory(), tmp_path / "plan"
    first = {"id": "5", "title": "A", "priority": 1, "needs_tests": True, "labels": ["a", "b"], "estimate": 1}
    found = {"beads": [first, {"id": "b", "title": "B", "needs": ["5"], "metadata": {"n": [1]}, "epic": None}]}
    assert applied(store, found).new == ("5", "b")

    def read(known=None):
        file.write_text(json.dumps(found))
        try:
            return plans_service.read_plan(str(file), known)
        except NobrakesError as error:
            return str(error)

    known = plans_service.StoredIds(store)
    assert set(read(known).same) == {"5"} and not read(known).nodes[0].fields
    wrong = [{"priority": True}, {"priority": 1.0}, {"needs_tests": 1}, {"labels": "ab"}, {"estimate": True}, {"x": 1}]
    wrong += [{key: 5.5} for key in ("title", "id", "labels", "metadata", "priority")]
    for one in wrong:
        found["beads"][0] = first | one
        assert read(known) == read() and isinstance(read(), str)
    found["beads"][0] = first
    for needs in ([5], "5", [["5"]], {"5": 1}):
        found["beads"][1] = {"id": "b", "title": "B", "needs": needs}
        assert read(known) == read()
    found["beads"] = [{"id": "b", "title": "B", "needs": ["5"]}, {"key": "5", "title": "New"}]
    assert not read(known).same and read(known).nodes[0].needs == ("5",)
    found["beads"] = [first, first]
    assert "used twice" in read(known)


def test_a_dependency_that_is_named_twice_hides_no_other():
    """Or what a plan leaves out would stay."""
    named = [["x", "x"], *[None] * (len(graph_writes._KINDS) - 1)]
    one, other = (f"{kind} " for kind in graph_writes._KINDS[:2])
    assert not graph_writes._needs_the_same(named, f"{one}x,{one}y") and not graph_writes._needs_the_same(named, None)
    assert graph_writes._needs_the_same(named, f"{one}x") and graph_writes._needs_the_same(named, f"{one}x,{other}y")
    assert not graph_writes._needs_the_same([["x"], [], None], f"{one}x,{other}y")


def statements(store, found, **how):
    """How many statements applying the plan takes, without PRAGMAs, of which some come by the clock."""
    seen: list[str] = []
    store.connection.set_trace_callback(seen.append)
    report = plans_service.apply_plan(store, plan_of(found, "plan"), actor="me", **how)
    store.connection.set_trace_callback(None)
    assert report.critical_path
    return sum(not sql.startswith("PRAGMA") for sql in seen)


def chain(count):
    """Beads that wait for each other, one after the other."""
    return [
        {"id": f"b{at:04}", "title": f"Bead {at}", "estimate": 30, "needs": [f"b{at - 1:04}"] if at else []}
        for at in range(count)
    ]


ONE_CHANGE = (
    {"id": "b0020", "title": "Another title"},
    {"id": "b0020", "needs": ["b0019", "b0002"]},
    {"id": "new", "title": "One more", "estimate": 5, "needs": ["b0003"]},
)


@pytest.mark.parametrize("change", ONE_CHANGE)
@pytest.mark.parametrize("is_live", [True, False])
def test_one_change_asks_as_often_in_a_large_graph(is_live, change):
    stores = []
    for count in (40, 400):
        stores.append(store := open_memory())
        plans_service.apply_plan(store, plan_of(chain(count), "plan"), live=is_live)
    few, many = (statements(store, [change]) for store in stores)
    assert few == many < 150


def test_an_unchanged_plan_asks_as_often_when_it_is_large():
    counts = []
    for count in (plans_service.SMALL + 1, 3 * plans_service.SMALL):
        store = open_memory()
        plans_service.apply_plan(store, plan_of(chain(count), "plan"))
        counts.append(statements(store, chain(count), explain=False))
    assert counts[0] == counts[1] < 25


def test_a_large_plan_takes_little_memory_while_it_is_applied():
    """Its nodes go once they are worked out, and the graph is in memory once."""
    count, store = 10 * plans_service.SMALL, open_memory()
    plans_service.apply_plan(store, plan_of(chain(plans_service.SMALL + 1), "plan"), explain=False)  # loads all modules
    plan = plan_of(
        [{**one, "id": f"c{one['id']}", "needs": [f"c{n}" for n in one["needs"]]} for one in chain(count)], "p"
    )
    tracemalloc.start()
    try:
        report = plans_service.apply_plan(store, plan, explain=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(report.new) == count and not plan.nodes
    assert peak / count < 1550


def edges_looked_at(waiting, monkeypatch):
    """How many dependencies, and how many statements, one new bead costs beside so many changes that wait."""
    store, seen, changes_of = open_memory(), [], proposals.changes_of
    beads = chain(waiting)
    plans_service.apply_plan(store, plan_of(beads, "plan"), live=True)
    plans_service.apply_plan(store, plan_of([{**bead, "title": "Another"} for bead in beads], "plan"))
    assert len(store.proposed()) == waiting > plans_service.SMALL
    for module in (plans_service, strategy):
        monkeypatch.setattr(module, "changes_of", lambda bead, own: seen.append(len(own)) or changes_of(bead, own))
    asked = statements(store, [{"id": "new", "title": "One more"}])
    monkeypatch.undo()
    return sum(seen), asked


def test_one_bead_looks_once_at_the_dependencies_of_what_waits(monkeypatch):
    few, many = (edges_looked_at(waiting, monkeypatch) for waiting in (300, 600))
    assert few[0] < 2 * 300 and many[0] < 2 * 600
    assert few[1] == many[1]


def test_what_waits_is_read_in_as_many_statements_when_it_is_much():
    counts = []
    for waiting in (3, 30):
        store = open_memory()
        plans_service.apply_plan(store, plan_of(chain(waiting), "plan"), live=True)
        plans_service.apply_plan(store, plan_of([{**bead, "title": "Another"} for bead in chain(waiting)], "plan"))
        seen: list[str] = []
        store.connection.set_trace_callback(seen.append)
        assert len(strategy.proposals(store)) == waiting
        store.connection.set_trace_callback(None)
        counts.append(sum(not sql.startswith("PRAGMA") for sql in seen))
    assert counts[0] == counts[1] <= 4


@pytest.mark.parametrize(
    "odd",
    ['{"title": "T"}', '{"id": null, "title": "T"}', '{"id": ["a"]}', '{"id": {"a": 1}}', '{"id": NaN}', "5", "[]"],
)
def test_what_has_no_id_beside_stored_beads_is_read_as_in_a_small_plan(monkeypatch, tmp_path, odd):
    stored = [{"id": f"a{number}", "title": "A" * 20} for number in range(30)]
    store, file = open_memory(), tmp_path / "plan.json"
    applied(store, {"beads": stored})
    rows = [json.dumps(one) for one in stored]
    file.write_text(f'{{"beads": [{", ".join([*rows[:5], odd, *rows[5:]])}]}}')

    def read(part, known=None):
        monkeypatch.setattr(nodes, "PART_BYTES", part)
        try:
            return [(one.place, one.id) for one in plans_service.read_plan(str(file), known).nodes]
        except NobrakesError as error:
            return str(error)

    assert read(500, plans_service.StoredIds(store)) == read(1 << 20)
