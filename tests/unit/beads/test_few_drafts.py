"""Drafts are looked at for themselves, and the answer is that of the whole graph."""

import random
from dataclasses import replace

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Status
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.service import strategy
from nobrakes.store import open_memory
from tests.support.dose import everyday
from tests.world.graph import random_graph


@pytest.mark.parametrize("seed", everyday(*range(5), ci=range(5, 25)))
def test_drafts_need_what_the_whole_graph_says(seed):
    rng = random.Random(seed)
    beads, edges = random_graph(rng, 50)
    beads = [replace(one, status=Status.DRAFT) if rng.random() < 0.3 else one for one in beads]
    store = open_memory(lambda: 5000.0)
    store.put(beads, edges, "me")
    near = strategy.strategy(store)
    drafts = [one.id for one in near.drafts]
    whole = {bead: [one for one in store.dependencies() if one.bead == bead] for bead in drafts}
    assert drafts and near.critical_path and any(whole.values())
    assert store.own_dependencies(drafts) == whole
    assert store.own_dependencies([]) == {}


def test_what_waits_for_a_proposal_without_an_object_is_told():
    store = open_memory(lambda: 5000.0)
    store.put([Bead("e", "E", BeadType.EPIC), Bead("a", "A"), Bead("b", "B", epic="e")], [Dependency("b", "a")], "me")
    store.approve(["a"], "me")
    store.propose("a", {"cancel": {"before": False, "after": True, "actor": "me", "at": 1.0}}, "me")

    store.record(Event(Kind.CANCELLED, "a", actor="me"))
    near = strategy.strategy(store)
    assert [line for line in near.warnings if "b waits for a" in line]
