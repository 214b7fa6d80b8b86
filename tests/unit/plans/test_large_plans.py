"""A large plan is compared, written and told without an object a bead; it comes to what a small one comes to."""

import random
from dataclasses import replace

import pytest

from nobrakes.beads.db import graph_writes
from nobrakes.errors import NobrakesError
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


def applied(store, found, **how):
    """The report, or what the plan was refused with."""
    try:
        return plans_service.apply_plan(store, plan_of(found, "plan"), actor="me", **how)
    except NobrakesError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("seed", everyday(*range(8), ci=range(8, 40)))
def test_many_beads_come_to_what_few_do(seed, monkeypatch):
    rng = random.Random(seed)
    few, many = open_memory(lambda: 1_800_000_000.0), open_memory(lambda: 1_800_000_000.0)
    monkeypatch.setattr(plans_service, "new_id", lambda store, taken: "new-id")
    monkeypatch.setattr(plans_service, "unused_id", lambda taken: "new-id")
    monkeypatch.setattr(graph_writes, "MANY", rng.choice([0, 1000]))
    known: set[str] = set()
    for _ in range(ROUNDS):
        found, live = random_plan(rng, known), rng.random() < 0.2
        reports = []
        for store, is_many in ((few, False), (many, True)):
            monkeypatch.setattr(plans_service, "SMALL", 0 if is_many else 1000)
            monkeypatch.setattr(graph_writes, "LARGE", 0 if is_many else 1000)
            reports.append(applied(store, found, live=live, explain=not is_many))
        # a large plan is told with all that waits for a yes in force, a small one with what is in the graph
        apart = {"explained": {}, **({"critical_path": (), "ready": ()} if few.proposed() else {})}
        first, second = (one if isinstance(one, str) else replace(one, **apart) for one in reports)
        assert first == second
        assert rows(few) == rows(many)
        known.update(bead.id for bead in few.beads())
    assert many.check() == []


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


def test_a_dependency_that_is_named_twice_hides_no_other():
    """Or what a plan leaves out would stay."""
    named = [["x", "x"], *[None] * (len(graph_writes._KINDS) - 1)]
    one, other = (f"{kind} " for kind in graph_writes._KINDS[:2])
    assert not graph_writes._needs_the_same(named, f"{one}x,{one}y") and not graph_writes._needs_the_same(named, None)
    assert graph_writes._needs_the_same(named, f"{one}x") and graph_writes._needs_the_same(named, f"{one}x,{other}y")
    assert not graph_writes._needs_the_same([["x"], [], None], f"{one}x,{other}y")
