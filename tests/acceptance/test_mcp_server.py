"""The MCP server, asked by the official SDK's client over stdin and stdout: a whole bead, and who is turned away."""

import json
import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client

from nobrakes.agents.db import edits
from nobrakes.agents.service import agent_api, board_api
from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.events.kinds import Kind
from nobrakes.store import create_store
from nobrakes.text.cleaning import MAX_TEXT
from tests.support.mcp_agent import call, stdio
from tests.support.project import Project
from tests.support.sandboxes import in_both
from tests.support.warm import NOBRAKES

AGENT = Path(__file__).parents[1] / "support" / "mcp_agent.py"


@in_both
def test_an_agent_takes_a_bead_from_plan_to_main_by_mcp_alone(tmp_path, sandbox):
    project = Project(tmp_path / "repository", [sys.executable, str(AGENT)], sandbox=sandbox)
    project.plan([{"id": "pour", "title": "Pour a drink", "needs_tests": False, "labels": ["plan-review"]}])

    def waiting():
        return [(e["id"], e["type"]) for e in project.ask("escalations") if e["type"] != "doer_suggestion"]

    def outcomes():
        return [(a["role"], a["outcome"]) for a in project.ask("show", "pour")["attempts"]]

    project.nobrakes("run", expect=None)
    [(plan, type_)] = waiting()
    assert type_ == "plan_review" and outcomes() == [("doer", "blocked")]
    assert "--approve" in project.nobrakes("escalation", str(plan)).stdout
    project.nobrakes("resolve", str(plan), "--approve", "--note", "ask nicely")
    told = project.ask("prompt", "pour")
    assert "Write it down." in told["prompt"] and "> ask nicely" in told["prompt"]

    project.nobrakes("run", expect=None)
    [(question, type_)] = waiting()
    assert type_ == "question" and outcomes() == [("doer", "blocked")] * 2
    project.nobrakes("run", expect=None)
    assert len(outcomes()) == 2, "nobody answered, and it was tried again"

    project.nobrakes("answer", str(question), "Tea, please")
    project.nobrakes("answer", str(question), "Coffee", expect=17)
    project.nobrakes("run", expect=None)
    project.nobrakes("run", expect=None)
    assert outcomes() == [("doer", "blocked"), ("doer", "blocked"), ("doer", "completed"), ("reviewer", "completed")]
    assert project.git("show", "main:poured") == "tea\n"
    shown = project.ask("show", "pour")
    assert shown["attempts"][2]["log"]["learnings"] == "milk is out"
    assert [e["title"] for e in project.ask("escalations")] == ["Buy milk"]
    kinds = [json.loads(line)["metadata"]["kind"] for line in project.nobrakes("events", "--json").stdout.splitlines()]
    assert {"logged", "progressed", "notified", "suggested", "handed_off"} <= set(kinds)


def test_work_without_the_plan_that_was_asked_for_is_not_taken(tmp_path):
    script = "echo x > made; git add -A; git commit -qm made; nobrakes agent done"
    project = Project(tmp_path / "repository", ["sh", "-c", script])
    project.plan([{"id": "a", "title": "A", "needs_tests": False, "labels": ["plan-review"]}])
    before = project.git("rev-parse", "main")
    project.nobrakes("run", expect=None)
    assert {a["outcome"] for a in project.ask("show", "a")["attempts"]} == {"failed"}
    assert "approved plan" in project.ask("show", "a")["attempts"][0]["detail"]
    assert project.git("rev-parse", "main") == before


# --- one attempt at a time


@pytest.fixture
def board(tmp_path):
    """(store, folder, tokens): Ada works on nb-1, Bea on nb-2."""
    folder = tmp_path / "repository" / ".nobrakes"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("")
    store = create_store(str(folder / "nobrakes.db"))
    beads = [Bead(f"nb-{n}", f"Title {n}", needs_tests=False, status=Status.NEEDS_DOER) for n in (1, 2, 3)]
    store.put(beads, [], "me")
    working = [store.open_attempt(f"nb-{n}", Role.DOER, "script", ("Ada", "Bea"), 600.0, None) for n in (1, 2)]
    yield store, str(folder), working
    store.close()


def serve(folder, token, conversation):
    """Run a conversation with the server that has this token; None: without one, in the repository's folder."""
    env = {"NOBRAKES_HOME": folder, **({"NOBRAKES_TOKEN": token} if token else {})}

    async def run():
        async with Client(stdio(NOBRAKES, env, os.path.dirname(folder))) as client:
            return await conversation(client)

    return anyio.run(run)


async def refused(client, name, **given):
    with pytest.raises(RuntimeError) as told:
        await call(client, name, **given)
    return str(told.value)


def test_the_tools_are_the_table(board):
    _, folder, (ada, _) = board

    async def names(client):
        return [tool.name for tool in (await client.list_tools()).tools]

    assert serve(folder, ada.token, names) == [o.name.replace("-", "_") for o in agent_api.OPERATIONS]
    assert serve(folder, None, names) == [o.name for o in board_api.OPERATIONS]


def test_an_agent_reaches_its_own_bead_and_no_other(board):
    store, folder, (ada, bea) = board

    async def talk(client):
        own = await call(client, "bead")
        whose = await refused(client, "bead", bead="nb-2")
        unknown = [await refused(client, name) for name in ("show", "edit", "commit-strategy")]
        await call(client, "log", text="for mine")
        return own, whose, unknown

    own, whose, unknown = serve(folder, bea.token, talk)
    assert "nb-2" in own and "nb-1" not in own and "does not know 'bead'" in whose
    assert all("no operation" in text for text in unknown)
    assert store.events()[-1].bead == "nb-2"
    stolen = f"{ada.id}.{ada.fence}.{bea.token.rsplit('.', 1)[1]}"
    assert "token" in serve(folder, stolen, lambda client: refused(client, "bead"))


def test_a_token_grows_stale_while_the_server_runs(board):
    store, folder, (ada, _) = board

    async def talk(client):
        await call(client, "log", text="still mine")
        store.close_attempt(ada, Kind.DOER_STOPPED, Outcome.FAILED)
        store.open_attempt("nb-1", Role.DOER, "script", ("Cleo",), 600.0, None)
        before = store.events()[-1]
        told = [await refused(client, name) for name in ("bead", "attempts", "whats_next", "done")]
        told += [await refused(client, "log", text="x"), await refused(client, "ask", question="x", wait=60)]
        return told, before

    told, before = serve(folder, ada.token, talk)
    assert all("attempt has ended" in text for text in told) and store.events()[-1] == before


def test_without_a_token_the_board_is_read_and_drafts_are_filed(board):
    store, folder, (ada, _) = board

    async def talk(client):
        shown = [await call(client, name) for name in ("status", "ready", "escalations")]
        shown.append(await call(client, "show", bead="nb-1"))
        unknown = [await refused(client, name, text="x") for name in ("log", "done", "request_review")]
        await call(client, "propose", plan="beads:\n  - id: idea\n    title: An idea\n")
        live = await refused(client, "propose", plan="live: true\nbeads:\n  - id: b\n    title: B\n")
        change = await call(client, "propose", plan="beads:\n  - id: nb-1\n    title: Mine now\n")
        return shown, unknown, live, change

    shown, unknown, live, change = serve(folder, None, talk)
    assert json.loads(shown[0])["working"][0]["bead"] == "nb-1"
    assert [bead["id"] for bead in json.loads(shown[1])] == ["nb-3"]
    assert ada.token not in "".join(shown) and all("no operation" in text for text in unknown) and live
    assert store.bead("idea").status is Status.DRAFT
    assert store.bead("nb-1").title == "Title 1" and "nb-1" in change, "a change of a live bead waits for a person"


def test_a_flood_of_calls_and_giant_texts_are_borne(board):
    store, folder, (ada, _) = board

    async def talk(client):
        answers = []

        async def one(number):
            answers.append(await client.call_tool("log", {"text": f"{number} " + "x" * 20_000}))

        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(one, number)
        giant = await refused(client, "done", summary="y" * (MAX_TEXT + 1))
        is_open = store.attempt(ada.id).outcome is None and not store.attempt(ada.id).log.summary
        await call(client, "done", summary="y" * MAX_TEXT, learnings="\x1b[2J\u202e" * 1000)
        return answers, giant, is_open

    answers, giant, is_open = serve(folder, ada.token, talk)
    assert "has 1,000,001 characters; the limit is 1,000,000" in giant and is_open
    assert len(answers) == 60 and not any(answer.is_error for answer in answers)
    logged = [e for e in store.events() if e.kind is Kind.LOGGED]
    assert len(logged) == 60 and all(len(e.data["text"]) == edits.LIMIT for e in logged)
    log = store.attempt(ada.id).log
    assert len(log.summary) == edits.LIMIT and log.learnings == ""
    assert store.check() == []


def test_a_call_that_waits_for_a_person_stops_no_other(board):
    store, folder, (ada, _) = board

    async def talk(client):
        got = []

        async def ask():
            got.append(await call(client, "ask", question="Which?", wait=300))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while not store.escalations():
                await call(client, "log", text="meanwhile")
            store.answer(store.escalations()[0].id, "This one", "me")
        return got

    assert serve(folder, ada.token, talk) == ["This one"]


def test_an_agent_asks_with_options(board):
    store, folder, (ada, _) = board
    options = ["UTC: as the logs; costs nothing", "CET"]

    async def talk(client):
        [tool] = [tool for tool in (await client.list_tools()).tools if tool.name == "ask"]
        wrong = [
            await refused(client, "ask", question="Which?", option=options, recommend=["EST"]),
            await refused(client, "ask", question="Which?", option=options[:1]),
            await refused(client, "ask", question="Which?", option=options * 7),
        ]
        await call(client, "ask", question="Which zone?", option=options, recommend=["utc"], priority=1)
        return tool.input_schema["properties"], wrong

    properties, wrong = serve(folder, ada.token, talk)
    assert properties["option"] == {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 12,
        "description": properties["option"]["description"],
    }
    assert properties["priority"]["maximum"] == 3 and properties["yes_no"]["type"] == "boolean"
    for said, words in zip(
        wrong, ("the recommended 'EST' is not an option", "from 2 to 12", "at most 12"), strict=True
    ):
        assert words in said
    [asked] = store.escalations()
    assert asked.form["recommended"] == ["UTC"] and asked.form["priority"] == 1 and asked.form["kind"] == "radio"
