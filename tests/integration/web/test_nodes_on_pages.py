"""Nodes on pages: Now says why nothing starts and how many places are taken; a form drains a node."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.web.test_pages import key_of
from tests.support.nodes import SCHEDULER, SETTINGS, Nodes, node
from tests.support.web import Served


@pytest.fixture
def nodes(repository: Path) -> Iterator[Nodes]:
    with (repository / ".nobrakes" / "config.toml").open("a") as config:
        config.write(SETTINGS)
    found = Nodes(repository)
    yield found
    found.close()


def test_now_has_one_line_of_the_nodes_and_names_them_as_the_cause(nodes: Nodes, site: Served) -> None:
    nodes.are(node("fox", runs={"1-agent-00000000": 1}), node("owl", why="other version"))
    now = site.get("/r/shop/").text
    assert "Nodes: 1 of 2 ready, 1 of 4 places taken" in now and "no agent or check starts" not in now
    nodes.are(trouble="OSError: timed out")
    now = site.get("/r/shop/").text
    broken = now.partition('id="now-broken"')[2].partition("</section>")[0]
    assert f"no agent or check starts: nobrakes cannot reach the scheduler {SCHEDULER}" in broken
    assert "no agent or check starts" in site.get("/r/shop/breaker").text


def test_now_says_nothing_of_nodes_where_there_are_none(site: Served) -> None:
    assert "now-nodes" not in site.get("/r/shop/").text


def test_forms_show_drain_and_resume(nodes: Nodes, site: Served) -> None:
    nodes.are(node("fox"), node("owl"))
    for name in ("fox", "owl"):
        page = site.get("/r/shop/do/fleet-drain").text
        form = {"node": name, "request": key_of(page, "fleet-drain")}
        answer = site.post("/r/shop/do/fleet-drain", form, accept="application/json").json()
        assert answer["said"] == f"no new run starts on {name}; 0 runs still there", answer
    assert (nodes.folder / "drained.json").read_text() == '["fox", "owl"]'
    now = site.get("/r/shop/").text
    assert "every node is drained" in now and "do/fleet-resume?node=fox" in now
    answer = site.post("/r/shop/do/fleet", {}, accept="application/json").json()
    assert [one["is_drained"] for one in answer["data"]["nodes"]] == [True, True]
    page = site.get("/r/shop/do/fleet-resume").text
    form = {"node": "fox", "request": key_of(page, "fleet-resume")}
    assert site.post("/r/shop/do/fleet-resume", form).status_code == 303
    assert (nodes.folder / "drained.json").read_text() == '["owl"]'
    refused = site.post("/r/shop/do/fleet-resume", {"node": "elk"})
    assert refused.status_code == 422 and "there is no node" in refused.text
