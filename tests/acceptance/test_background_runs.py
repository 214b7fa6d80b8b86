"""A background run of a chat agent: planned, approved, worked, tested, approved, merged, cleaned up. By the official SDK."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from tests.acceptance.test_workspace_mcp import ACP, Chat, refused
from tests.acceptance.test_workspace_mcp import chat as chat
from tests.support.mcp_agent import call
from tests.support.scripted import until
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow
PLAN = [["run", "echo sneaked >sneaked && git add -A && git commit -qm Sneaked"], ["say", "1. Brew. 2. Pour."]]
WORK = [
    ["run", "test ! -e sneaked || exit 1"],
    [
        "run",
        "echo brew >brew && git add -A && git commit -qm Brew && nobrakes agent progress 'It brews' --step 1 --of 9",
    ],
    ["run", "nobrakes agent progress 'Nearly' --step 8 --of 9"],
    ["say", "I brewed it.\n\nNOBRAKES: COMPLETED"],
]


def made(chat: Chat, work: list[list[Any]] = WORK) -> Path:
    """The project `tea`, confirmed, whose agent plans and works as above."""
    chat.nobrakes("project", "new", "tea")
    chat.nobrakes("project", "use", "tea", "--session", "phone")
    (chat.folder / "agent").mkdir()
    script = chat.folder / "script.json"
    plan = [*PLAN[:-1], ["say", f"{PLAN[-1][1]}\n\nNOBRAKES: COMPLETED"]]
    turns = {"shaper": plan, "doer": work}
    script.write_text(json.dumps({"turns": turns, "sessions": str(chat.folder / "agent")}))
    project = chat.projects / "tea"
    command = json.dumps([sys.executable, str(ACP), str(script)])
    check = '[[checks]]\nname = "test"\ncommand = "test ! -e sneaked"\nformat = "exit"\n'
    settings = f'main = "main"\n{check}[agents.acp]\ncommand = {command}\n[sandbox]\nmode = "none"\n'
    (project / ".nobrakes" / "config.toml").write_text(settings)
    return project


async def comes(client: Client, name: str, value: Any) -> Any:
    """The only run, once what is called `name` is this value."""
    for _ in range(900):
        text = await call(client, "status")
        (run,) = json.loads(text)["runs"]
        if run[name] == value:
            assert len(json.dumps(run)) <= 1024
            return run
        await anyio.sleep(0.1)
    raise AssertionError(f"{name} never was {value}: {text}")


def in_project(project: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(project), *words], capture_output=True, text=True, check=True).stdout


def test_a_run_is_planned_approved_worked_approved_merged_and_cleaned_up(chat: Chat) -> None:
    project = made(chat)
    main = in_project(project, "rev-parse", "main")
    files = project / ".nobrakes" / "relays" / "1.files"

    def person(*words: str) -> Any:
        done = subprocess.run([NOBRAKES, *words, "--json"], cwd=project, env=chat.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["data"]

    async def plans(client: Client) -> Any:
        begun = await call(client, "acp", prompt="Make tea", planFirst=True, files=True)
        assert len(begun.encode()) <= 1024 and json.loads(begun)["folder"] == str(files)
        run = await comes(client, "state", "asking")
        assert (run["stage"], run["commits"], run["branch"]) == ("plan", 0, "")
        assert run["decide"] == f"nobrakes resolve {run['question']} --approve"
        assert "a person" in await refused(client, "answer", number=run["question"], text="approve")
        assert str(run["question"]) in await refused(client, "approve")
        assert "nothing to hand in" in await refused(client, "hand_in", run="tea/1")
        return run

    asked = chat.talk(plans)
    assert in_project(project, "branch", "--list", "relay/1") == "", "what only plans hands back nothing"
    assert in_project(project, "show", "relay/1-unapproved:sneaked") == "sneaked\n", "and what it changed is kept"
    shown = person("escalation", str(asked["question"]))
    assert "Pour" in json.dumps(shown)
    person("resolve", str(asked["question"]), "--approve", "--note", "Green tea")

    async def works(client: Client) -> Any:
        run = await comes(client, "stage", "work")
        run = await comes(client, "state", "idle")
        assert (run["branch"], run["commits"], run["step"], run["of"]) == ("relay/1", 1, 8, 9)
        assert "step 8 is reported with only 1 commit" in run["doubt"]
        told = json.loads(await call(client, "output", run="tea/1"))
        progress, words = (json.loads((files / name).read_text()) for name in ("progress.json", "output.json"))
        assert (progress["step"], progress["commits"], progress["works"]) == (8, 1, False) and progress["doubt"]
        assert (words["text"], words["branch"]) == ("I brewed it.", "relay/1")
        assert told == {"run": "tea/1", "session": 1, "state": "idle", "text": "I brewed it."}
        handed = json.loads(await call(client, "hand_in", run="tea/1"))
        run = await comes(client, "bead_status", "escalated")
        assert run["bead"] == handed["bead"] and "--approve" in run["decide"]
        assert "a person" in await refused(client, "answer", number=run["question"], text="approve")
        return run

    waits = chat.talk(works)
    assert in_project(project, "rev-parse", "main") == main, "nothing merges without a person's yes"
    assert any("Green tea" in text for text in _told(project))
    shown = person("escalation", str(waits["question"]))
    assert "brew" in json.dumps(shown)
    person("resolve", str(waits["question"]), "--approve")
    until(lambda: in_project(project, "rev-parse", "main") != main)
    assert in_project(project, "show", "main:brew") == "brew\n"
    until(lambda: not (project / ".nobrakes" / "relays" / "1").exists() and not files.exists())
    until(lambda: in_project(project, "branch", "--list", "relay/1") == "")
    kept = in_project(project, "for-each-ref", "--format=%(refname)", "refs/nobrakes/archive")
    assert "relay-1" in kept, "the branch is put away, and nothing is lost"

    async def ends(client: Client) -> None:
        run = await comes(client, "state", "ended")
        assert (run["bead_status"], run["decide"]) == ("done", "")

    chat.talk(ends)


DEPLOY = [
    [
        "ask",
        "execute",
        "Deploy",
        {"command": "terraform apply"},
        ["run", "echo x >>x && git add -A && git commit -qm X"],
    ],
    ["say", "Tried.\n\nNOBRAKES: COMPLETED"],
]


def test_a_command_that_needs_a_yes_pauses_the_run_and_the_yes_lets_it_through_once(chat: Chat) -> None:
    project = made(chat, DEPLOY)

    async def begins(client: Client) -> Any:
        await call(client, "acp", prompt="Deploy tea")
        run = await comes(client, "state", "asking")
        assert run["commits"] == 0 and run["decide"] == f"nobrakes answer {run['question']} yes"
        assert "a person" in await refused(client, "answer", number=run["question"], text="yes")
        return run

    run = chat.talk(begins)
    person = [NOBRAKES, "answer", str(run["question"]), "yes"]
    subprocess.run(person, cwd=project, env=chat.env, check=True, capture_output=True)

    async def goes_on(client: Client) -> None:
        assert (await comes(client, "state", "idle"))["commits"] == 1
        await call(client, "acp", prompt="Once more")
        again = await comes(client, "state", "asking")
        assert again["commits"] == 1 and again["question"] != run["question"], "one yes, one run"

    chat.talk(goes_on)
    assert in_project(project, "show", "relay/1:x") == "x\n"


def _told(project: Path) -> list[str]:
    """The prompts of all turns."""
    return [path.read_text() for path in (project / ".nobrakes" / "runs").glob("*/prompt.md")]
