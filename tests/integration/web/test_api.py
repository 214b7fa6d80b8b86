"""The JSON of the site: the same values as on the command line, one table for routes and openapi.json, and its errors."""

import json
import re
import subprocess
import threading
from pathlib import Path

import pytest

from nobrakes.beads.model import Outcome
from nobrakes.cli import main
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.features.model import Feature, ItemKind
from nobrakes.requests.model import PullRequest, PullState
from nobrakes.sessions.model import Fact, SessionKind
from nobrakes.store import open_store
from nobrakes.web import access, api, openapi
from nobrakes.web.commands import COMMANDS
from nobrakes.web.server import routes
from tests.integration.web.test_attacks import send

ROOT = Path(__file__).resolve().parents[3]
BASE = "/r/shop/api/"


@pytest.fixture
def decision(site, repository) -> None:
    """Something to decide."""
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which?", "Say."), "nb-2", None, "Ada")
    store.begin_feature(Feature("nb-2", "Windows", "Support it", actor="me"))
    store.keep_plan("nb-2", [{"id": "nb-1", "title": "Paths"}], "it is whole", "Shaper")
    start, head = (
        subprocess.run(["git", *words], cwd=repository, capture_output=True, text=True, check=True).stdout.strip()
        for words in (("rev-parse", "HEAD"), ("commit-tree", "-p", "HEAD", "-m", "Work", "HEAD^{tree}"))
    )
    spec = ("script", "script", "")
    talk = store.begin_session(SessionKind.RELAY, "person:me", "Look", spec, "Look.", "me", {"start": start})
    turn = store.open_turn(talk.id)
    assert turn is not None
    store.note_turn(turn[0].id, {"head": head})
    store.close_turn(turn[0].id, Fact.ENDED_WELL, Outcome.COMPLETED, "", said="I looked.")
    store.collect("nb-2", ItemKind.SUGGESTION, "long paths", "Ada")
    store.save_pull(PullRequest("nb-2", PullState.OPEN, 7, "https://code.invalid/7", "Paths"))
    store.close()


def _without(data, names: set[str]):
    return {name: value for name, value in data.items() if name not in names} if isinstance(data, dict) else data


def typed(capsys, *words: str):
    """What the command line hands out."""
    capsys.readouterr()
    assert main.run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["data"]


def test_each_look_has_the_values_of_the_command_line(site, decision, capsys) -> None:
    addresses = {"sessions/{number:int}": ("sessions/1", ["session", "show", "1"]), "sessions/{number:int}/diff": ("sessions/1/diff", []),
                 "beads/{id}": ("beads/nb-2", ["show", "nb-2"]), "escalations/{number:int}": ("escalations/1", ["escalation", "1"]),
                 "plan": ("plan", ["commit-strategy", "--dry-run"]),
                 "pull-requests": ("pull-requests", ["pr", "list"]), "pull-requests/{id}": ("pull-requests/nb-2", ["pr", "show", "nb-2"]),
                 "features": ("features", ["forge", "list"]), "features/{id}": ("features/nb-2", ["forge", "show", "nb-2"])}  # fmt: skip
    for reading in api.READINGS:
        path, words = addresses.get(reading.path, (reading.path.replace("{id}", "nb-2"), reading.words.split()))
        answer = site.get(BASE + path)
        assert answer.status_code == 200, (path, answer.text)
        found = answer.json()
        if reading.is_bare:
            assert site.get(BASE + path, if_none_match=answer.headers["etag"]).status_code == 304
            continue
        assert found["ok"] is True
        if reading.words:
            wanted = typed(capsys, *words)
            changing = {"hindrances", "first"} if reading.path == "status" else set()  # a page starts no program
            if reading.path == "status":
                moving = {"now", "since", "begins", "seconds", "cost", "others", "what", "command", "state"}
                assert _without(found["data"]["first"], moving) == _without(wanted["first"], moving)
            changing |= {"now"} if reading.path.startswith("features") else set()
            assert _without(found["data"], changing) == _without(wanted, changing), path
    assert site.get("/api/repositories").json()["data"] == typed(capsys, "repositories")


def test_the_log_is_the_sockets_and_goes_on_behind_a_number(site) -> None:
    first = site.get(BASE + "events?limit=1").json()["data"]
    assert [event["seq"] for event in first["events"]] == [first["last"]] == [1]
    assert main.run(["hold", "nb-1", "--reason", "a breather"]) == 0
    rest = site.get(BASE + f"events?after={first['last']}").json()["data"]
    numbers = [event["seq"] for event in rest["events"]]
    assert numbers == list(range(2, rest["last"] + 1)) and rest["events"][-1]["kind"] == "held"
    assert rest["events"][-1].keys() == {"seq", "bead", "kind", "actor", "at", "line"}
    assert site.get(BASE + f"events?after={rest['last']}").json()["data"] == {"events": [], "last": rest["last"]}
    assert {event["bead"] for event in site.get(BASE + "events?bead=nb-2").json()["data"]["events"]} == {"nb-2"}


WRONG = [
        ("beads/none", 404, "none"), ("escalations/99", 404, "99"), ("events?after=x", 422, "after"),
        ("events?limit=0", 422, "must be from 1 to 500"), ("events?limit=501", 422, "must be from 1 to 500"), ("status?all=1", 422, "unknown field"),
        ("ready?limit=1&limit=2", 422, "twice"), ("escalations?all=maybe", 422, "neither yes nor no"), ("nothing", 404, "no such page"),
        (f"escalations/{10**40}", 422, "number"), ("events?bead=none", 404, "none"), ("graph?mode=none", 422, "known view of the graph"),
        ("graph?x=1", 422, "unknown field"), ("what-if/nb-1", 404, "no such page"),
        ("features/none", 404, "none"), ("features?state=lost", 422, "lost"), ("features/none/items", 404, "none"),
]  # fmt: skip


def test_what_is_wrong_is_said_in_json(site) -> None:
    for path, status, said in WRONG:
        answer = site.get(BASE + path)
        assert (answer.status_code, answer.json()["ok"]) == (status, False), path
        assert said in answer.json()["error"]["message"] and answer.json()["error"]["code"]


def test_the_file_is_what_the_code_prints_and_has_every_route_and_command(site) -> None:
    written = (ROOT / "docs" / "reference" / "openapi.json").read_text()
    assert written == openapi.text(), "run: python -m nobrakes.web.openapi --write docs/reference/openapi.json"
    document = json.loads(written)
    assert site.get("/api/openapi.json").json() == document
    commands = {f"/r/{{repo}}/do/{command.words.replace(' ', '-')}" for command in COMMANDS}
    assert commands == {path for path, ways in document["paths"].items() if "post" in ways}
    names = [way["operationId"] for ways in document["paths"].values() for way in ways.values()]
    assert len(names) == len(set(names))


NO_JSON = {
    ("POST", "/login"), ("POST", "/logout"), ("GET", "/static/{version}/{name}"), ("POST", "/r/{repo}/do/{command}"),
    ("GET", "/r/{repo}/do/{command}"),
    ("SOCKET", "/r/{repo}/socket"), ("POST", "/r/{repo}/health/look"),
}  # fmt: skip
"""What answers with no page and no JSON of its own; commands are described one by one."""


def test_every_route_is_a_page_or_described_and_what_is_described_is_routed_and_answers_so(site, decision) -> None:
    import jsonschema

    document = openapi.openapi()
    routed = {
        (method, re.sub(r":int}", "}", route.path))
        for route in routes()
        for method in getattr(route, "methods", None) or ("SOCKET",)
        if method != "HEAD"
    }
    described = {(way.upper(), path) for path, ways in document["paths"].items() for way in ways}
    assert {one for one in described if "/do/" not in one[1]} <= routed
    values = {"repo": "shop", "id": "nb-2", "feature": "nb-2", "number": "1", "attempt": "1"}
    for method, path in sorted(routed - NO_JSON):
        answer = site.get(re.sub(r"{(\w+)}", lambda found: values[found[1]], path))
        kind = answer.headers.get("content-type", "")
        is_json = kind.startswith("application/json")
        assert is_json == ((method, path) in described), (method, path, kind)
        if is_json:
            assert answer.status_code == 200, path
            shape = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            jsonschema.validate(answer.json(), shape)


def test_a_page_that_takes_too_long_says_so_and_the_others_go_on(site, monkeypatch) -> None:
    from nobrakes.beads.service import board

    goes_on, own = threading.Event(), board.columns

    def stuck(*given):
        assert goes_on.wait(60)
        return own(*given)

    monkeypatch.setattr(board, "columns", stuck)
    monkeypatch.setattr(access, "TIMEOUT_SECONDS", 0.3)
    try:
        late = site.get("/r/shop/board")
        assert late.status_code == 503 and "did not answer in time" in late.text
        monkeypatch.setattr(access, "TIMEOUT_SECONDS", 30)
        assert site.get("/r/shop/desk").status_code == 200
    finally:
        goes_on.set()
    assert site.get("/r/shop/board").status_code == 200


def test_no_more_threads_wait_than_there_may_be_and_each_is_given_back(monkeypatch) -> None:
    import asyncio

    monkeypatch.setattr(access, "TIMEOUT_SECONDS", 0.2)
    goes_on, begun = threading.Event(), []

    def stuck():
        begun.append(1)
        assert goes_on.wait(60)

    async def story() -> None:
        threads = access.Threads(2)
        late = await asyncio.gather(*(threads.run(stuck) for _ in range(6)), return_exceptions=True)
        assert [type(one) for one in late] == [TimeoutError] * 6 and len(begun) == 2
        goes_on.set()
        while True:  # a test fails at its own limit
            try:
                assert await threads.run(lambda: "made") == "made"  # type: ignore[arg-type,return-value]
                break
            except TimeoutError:
                pass
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 / 0)  # type: ignore[arg-type,return-value]

    asyncio.run(story())


def test_a_body_that_does_not_come_is_given_up(site, monkeypatch) -> None:
    monkeypatch.setattr(access, "BODY_SECONDS", 0.3)
    head = f"POST /login HTTP/1.1\r\nHost: {site.host}\r\nOrigin: {site.origin}\r\nContent-Length: 90\r\n"
    assert send(site, head + "Content-Type: application/x-www-form-urlencoded\r\n\r\ncode=")[:12] == b"HTTP/1.1 408"
    assert site.get("/r/shop/").status_code == 200
