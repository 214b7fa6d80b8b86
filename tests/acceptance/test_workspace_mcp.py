"""A chat agent, by the official SDK: which project is confirmed, who is refused where, and what comes of a coding tool."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.mcp_agent import call
from tests.support.scripted import until
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow
ACP = Path(__file__).parents[1] / "support" / "acp_agent.py"
REFUSED = (
    "No project has been confirmed for this session. Before using coding tools, you must select a project. "
    "Read the project-setup skill at SKILLS/project-setup.md and follow its instructions to confirm a project with the "
    "user, then call set_project."
)
TOOLS = [
    "list_projects",
    "skill",
    "set_project",
    "claude",
    "codex",
    "gemini",
    "acp",
    "status",
    "output",
    "hand_in",
    "plan",
    "propose",
]


class Chat:
    """A person's workspace, and a chat agent that comes and goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "NOBRAKES_USER_HOME": str(folder / "mine")}
        self.projects = folder / "mine" / "workspace" / "PROJECTS"

    def talk(self, conversation: Callable[[Client], Awaitable[Any]], session: str = "phone") -> Any:
        """One life of the server: it is started, asked, and gone."""
        words = ["mcp", "--workspace", "--session", session]
        server = StdioServerParameters(command=NOBRAKES, args=words, env=self.env, cwd=str(self.folder))

        async def run() -> Any:
            async with Client(stdio_client(server)) as client:
                return await conversation(client)

        return anyio.run(run)

    def nobrakes(self, *words: str, expect: int | None = 0) -> str:
        done = subprocess.run([NOBRAKES, *words], cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert expect is None or done.returncode == expect, done.stdout + done.stderr
        return done.stdout + done.stderr

    def ask(self, *words: str) -> Any:
        return json.loads(self.nobrakes(*words, "--json"))["data"]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    made = Chat(tmp_path)
    yield made
    for project in made.projects.iterdir() if made.projects.is_dir() else ():
        subprocess.run([NOBRAKES, "daemon", "stop"], cwd=project, env=made.env, capture_output=True)


async def refused(client: Client, name: str, **given: Any) -> str:
    with pytest.raises(RuntimeError) as told:
        await call(client, name, **given)
    return str(told.value)


def test_a_project_is_confirmed_before_any_coding_tool_and_stays_confirmed(chat: Chat) -> None:
    async def first(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [*TOOLS, "approve", "answer"]
        for tool in ("claude", "codex", "gemini", "acp"):
            assert (await refused(client, tool, prompt="code")).startswith(REFUSED)
        assert (await refused(client, "plan")).startswith(REFUSED)
        assert "Read the" not in await call(client, "skill") and "isNew: true" in await call(client, "skill")
        missing = await refused(client, "set_project", projectName="tea", isNew=False)
        assert missing.splitlines()[0] == "Project 'tea' not found. Available projects: none"
        made = (
            "New project 'tea' created and set as active project. Initialized git repo and copied CLAUDE.md template."
        )
        assert await call(client, "set_project", projectName="tea", isNew=True) == made
        clash = await refused(client, "set_project", projectName="tea", isNew=True)
        assert clash.splitlines()[0] == (
            "A project named 'tea' already exists. To work on the existing project, call set_project with isNew: false. "
            "To create a new project, choose a different name."
        )
        for name in ("../tea", "tea/../tea", "/tmp", ".", ""):
            assert await refused(client, "set_project", projectName=name, isNew=False)
            assert await refused(client, "set_project", projectName=name, isNew=True)

    chat.talk(first)

    async def again(client: Client) -> None:
        asked = json.loads(await call(client, "list_projects", message="go on with tea"))
        assert asked["confirmed"] == "tea" and "1. Work on **tea** (existing project)" in asked["ask"]
        assert json.loads(await call(client, "status"))["path"] == str(chat.projects / "tea")
        said = "Project set to 'tea' (existing project). All coding tools will now operate in this directory."
        assert await call(client, "set_project", projectName="tea", isNew=False) == said

    chat.talk(again)  # the server was gone in between
    (one,) = chat.ask("project", "status")["sessions"]
    assert (one["name"], one["project"]) == ("phone", "tea")

    async def other(client: Client) -> None:
        assert (await refused(client, "claude", prompt="code")).startswith(REFUSED)

    chat.talk(other, session="another")


def test_no_directory_leads_a_coding_tool_out_of_its_project(chat: Chat) -> None:
    chat.nobrakes("project", "new", "tea")
    chat.nobrakes("project", "new", "site")
    chat.nobrakes("project", "use", "tea", "--session", "phone")
    tea, away = chat.projects / "tea", chat.folder / "away"
    (tea / "out").symlink_to(chat.folder)
    (tea / "beside").symlink_to(chat.projects / "site")

    async def wrong(client: Client) -> None:
        outside = [
            str(chat.projects),
            str(chat.folder),
            "/",
            "..",
            "../site",
            "../tea/../site",
            str(chat.projects / "site"),
        ]
        for path in [*outside, "out", "beside", "out/away", str(chat.projects / "teapot")]:
            assert (await refused(client, "acp", prompt="code", workingDirectory=path)).startswith(REFUSED), path
        assert "not a folder of project 'tea'" in await refused(
            client, "acp", prompt="code", workingDirectory="nowhere"
        )
        tea.rename(away)
        tea.symlink_to(chat.projects / "site")  # the confirmed folder is now a different session
        assert (await refused(client, "acp", prompt="code")).startswith(REFUSED)
        tea.unlink()
        tea.symlink_to(away)
        assert (await refused(client, "acp", prompt="code")).startswith(REFUSED), "a link to the very same is a link"
        tea.unlink()
        subprocess.run(["cp", "-r", str(chat.projects / "site"), str(tea)], check=True)
        assert (await refused(client, "acp", prompt="code")).startswith(REFUSED), "a folder of the same name is not it"
        subprocess.run(["rm", "-r", str(tea)], check=True)
        assert (await refused(client, "acp", prompt="code")).startswith(REFUSED)
        away.rename(tea)
        assert json.loads(await call(client, "status"))["runs"] == []

    chat.talk(wrong)


def coder(chat: Chat, project: str) -> None:
    """Let the tool `acp` of the project be an agent that commits, and asks when it is told to."""
    steps = [
        ["run", "echo $$ >>made && git add -A && git commit -qm Made"],
        ["run", "test $(wc -l <made) != 2 || nobrakes agent ask 'Which tea?'"],
        ["say", "I made it.\n\nNOBRAKES: COMPLETED"],
    ]
    script = chat.folder / "script.json"
    (chat.folder / "agent").mkdir()
    script.write_text(json.dumps({"turns": {"doer": steps}, "sessions": str(chat.folder / "agent")}))
    config = chat.projects / project / ".nobrakes" / "config.toml"
    command = json.dumps([sys.executable, str(ACP), str(script)])
    config.write_text(f'main = "main"\n[agents.acp]\ncommand = {command}\n[sandbox]\nmode = "none"\n')


async def status(client: Client) -> Any:
    """How far the chat's first run is."""
    return json.loads(await call(client, "status"))["runs"][-1]


async def asked(client: Client) -> int:
    """The number of what it asks, when it asks."""
    while (number := (await status(client))["question"]) is None:
        await anyio.sleep(0.1)
    return int(number)


def test_a_coding_tool_answers_at_once_and_hands_back_a_branch(chat: Chat) -> None:
    chat.nobrakes("project", "new", "tea")
    chat.nobrakes("project", "use", "tea", "--session", "phone")
    coder(chat, "tea")
    git = ["git", "-C", str(chat.projects / "tea")]
    before = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout

    async def begin(client: Client) -> Any:
        text = await call(client, "acp", prompt="Make it")
        assert len(text) < 1024
        begun = json.loads(text)
        assert (begun["run"], begun["goes_on"]) == ("tea/1", False)
        for _ in range(600):
            (run,) = json.loads(await call(client, "status"))["runs"]
            if run["state"] == "idle":
                break
            await anyio.sleep(0.1)
        assert (run["branch"], run["commits"], run["last_words"]) == ("relay/1", 1, "I made it.")
        assert json.loads(await call(client, "acp", prompt="More"))["run"] == "tea/1", "in the same session"
        assert json.loads(await call(client, "acp", prompt="More", model="large"))["run"] == "tea/2"
        assert json.loads(await call(client, "acp", prompt="More", model="large", persona="A tester"))["run"] == "tea/3"
        await call(client, "set_project", projectName="tea", isNew=False)
        assert json.loads(await call(client, "acp", prompt="More", model="large"))["run"] == "tea/4"
        proposed = await call(client, "propose", plan="beads:\n  - id: brew\n    title: Brew\n")
        assert "nobrakes approve" in proposed
        assert json.loads(await call(client, "plan"))["beads"] == [{"id": "brew", "title": "Brew", "status": "draft"}]
        assert "nobrakes approve`" in await refused(client, "approve")
        assert await refused(client, "answer", number=99, text="yes")
        assert "the text is empty" in await refused(client, "answer", number=await asked(client), text=" ")
        said = await call(client, "answer", number=await asked(client), text="Green")
        assert said == "answered; session 1 continues"
        while (first := await status(client))["commits"] < 3:
            await anyio.sleep(0.1)
        assert first["question"] is None

    chat.talk(begin)
    shown = [*git, "show", "relay/1:made"]
    until(lambda: subprocess.run(shown, capture_output=True).returncode == 0)
    assert subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout == before


@contextmanager
def served(chat: Chat) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [NOBRAKES, "mcp", "--workspace", "--http", "--port", str(port)]
    process = subprocess.Popen(words, cwd=chat.folder, env=chat.env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and str(port) in process.stdout.readline()
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def test_over_http_a_client_has_a_token_for_these_tools_alone(chat: Chat) -> None:
    import httpx

    token = chat.ask("mcp", "client", "add", "pocket")["token"]
    assert "has a token" in chat.nobrakes("mcp", "client", "add", "pocket", expect=17)
    assert token not in (chat.folder / "mine" / "state" / "user.db").read_bytes().decode("latin-1")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}

    def called(port: int, name: str, **given: Any) -> Any:
        asked = {**hello, "method": "tools/call", "params": {"name": name, "arguments": given}}
        return httpx.post(f"http://127.0.0.1:{port}/mcp", json=asked, headers=good, timeout=60).json()["result"]

    with served(chat) as port:
        address = f"http://127.0.0.1:{port}/mcp"

        def status(**headers: str) -> int:
            return httpx.post(address, json=hello, headers={**good, **headers}, timeout=60).status_code

        assert status() == 200
        assert status(Origin="http://127.0.0.1") == 403 and status(Host="evil.example") == 421
        assert status(Authorization="Bearer nbc_wrong") == status(Authorization="", Cookie=f"session={token}") == 401
        assert httpx.post(f"http://127.0.0.1:{port}/other", json=hello, headers=good).status_code == 404
        assert called(port, "acp", prompt="code", session="one")["content"][0]["text"].startswith(REFUSED)
        called(port, "set_project", projectName="tea", isNew=True, session="one")
    with served(chat) as port:  # it was gone in between
        found = json.loads(called(port, "status", session="one")["content"][0]["text"])
        assert (found["session"], found["project"]) == ("pocket: one", "tea")
        assert json.loads(called(port, "status", session="two")["content"][0]["text"])["project"] is None
        chat.nobrakes("mcp", "client", "revoke", "pocket")
        assert httpx.post(f"http://127.0.0.1:{port}/mcp", json=hello, headers=good).status_code == 401


def test_no_agent_reaches_the_tools(chat: Chat) -> None:
    chat.env["NOBRAKES_TOKEN"] = "1.1.x"
    assert "cannot use the data" in chat.nobrakes("mcp", "--workspace", "--session", "phone", expect=None)
    assert not (chat.folder / "mine").exists()
