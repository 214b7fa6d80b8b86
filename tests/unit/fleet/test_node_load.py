"""The load of a node: what its worker adds to each heartbeat, and how little of it anybody believes."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.fleet import gateway, node
from nobrakes.fleet.model import parsed


def test_a_worker_that_was_asked_what_it_is_tells_its_load_from_then_on(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOBRAKES_NODE", str(tmp_path))
    worker = SimpleNamespace(metrics={})
    asyncio.run(node.describe(json.dumps({"agents": {}, "tools": []}), dask_worker=worker))
    said = worker.metrics[node.LOAD](worker)
    assert gateway._load({node.LOAD: said}) == said and 0 < said["free"] < said["memory"] and 0 <= said["cpu"] <= 100


@pytest.mark.parametrize(
    "said", [None, [1], "cpu", {"cpu": "1"}, {"cpu": float("nan")}, {"memory": -1}, {"free": float("inf")}, {"x": 1}]
)
def test_a_load_that_is_none_is_not_written_down(said: Any) -> None:
    assert gateway._load({node.LOAD: said}) == {} == gateway._load(said)


def test_a_part_of_a_load_is_shown_as_far_as_it_is_known() -> None:
    one: dict[str, Any] = {"address": "a", "name": "fox", "places": 1, "runs": {}, "why": "", "about": {}}
    nodes = [{**one, "load": {"cpu": 12.34}}, {**one, "load": {"free": 1.0, "memory": 2}}, one]
    found = parsed(json.dumps({"at": 1, "trouble": "", "nodes": nodes, "losses": []}))
    assert [(each.cpu, each.free, each.memory) for each in found.nodes] == [
        (12.3, None, None),
        (None, 1, 2),
        (None, None, None),
    ]
