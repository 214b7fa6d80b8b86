"""An agent that speaks the Agent Client Protocol and does what it is told: `acp_agent.py SCRIPT.json`, by the official SDK.

SCRIPT holds "turns": for each role (NOBRAKES_ROLE) a list of steps, and "sessions": a folder in which it remembers.
"loads" false: it cannot load a session. A step is a list: a verb and what it needs.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import acp
from acp.schema import (
    AgentCapabilities,
    Cost,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

OPTIONS = [
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Scripted:
    """The agent's side."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.conn: Any = None
        self.cancelled = asyncio.Event()
        self.calls = 0

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def initialize(self, protocol_version: int, **more: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=self.script.get("version", protocol_version),
            agent_capabilities=AgentCapabilities(load_session=self.script.get("loads", True)),
            agent_info=Implementation(name="scripted", version="1"),
        )

    def _file(self, session: str) -> Path:
        return Path(self.script["sessions"]) / session

    async def new_session(self, cwd: str, mcp_servers: Any = None, **more: Any) -> NewSessionResponse:
        if self.script.get("login"):
            raise acp.RequestError.auth_required()
        session = str(uuid.uuid4())
        servers = [server.model_dump(mode="json") for server in mcp_servers or []]
        self._file(session).write_text(json.dumps({"said": [], "mcp": servers}))
        return NewSessionResponse(session_id=session)

    async def load_session(self, cwd: str, session_id: str, **more: Any) -> LoadSessionResponse:
        if not self._file(session_id).exists():
            raise acp.RequestError.resource_not_found(session_id)
        for text in json.loads(self._file(session_id).read_text())["said"]:
            await self.conn.session_update(session_id, acp.update_agent_message_text(text))
        return LoadSessionResponse()

    async def cancel(self, session_id: str, **more: Any) -> None:
        if not self.script.get("deaf"):
            self.cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> PromptResponse:
        known = json.loads(self._file(session_id).read_text())
        known["said"].append("\n".join(block.text for block in prompt))
        self._file(session_id).write_text(json.dumps(known))
        for verb, *given in self.script["turns"][os.environ.get("NOBRAKES_ROLE", "doer")]:
            if verb == "stop":
                return PromptResponse(stop_reason=given[0])
            await getattr(self, verb)(session_id, *given)
            if self.cancelled.is_set():
                return PromptResponse(stop_reason="cancelled")
        used = Usage(total_tokens=120, input_tokens=100, output_tokens=20, cached_read_tokens=5)
        return PromptResponse(stop_reason="end_turn", usage=used)

    async def say(self, session: str, *pieces: str) -> None:
        for piece in pieces:
            await self.conn.session_update(session, acp.update_agent_message_text(piece))

    async def think(self, session: str, text: str) -> None:
        await self.conn.session_update(session, acp.update_agent_thought_text(text))

    async def spend(self, session: str, usd: float) -> None:
        cost = Cost(amount=usd, currency="USD")
        update = UsageUpdate(session_update="usage_update", used=1, size=2, cost=cost)
        await self.conn.session_update(session, update)

    async def fill(self, session: str, used: int, size: int, until: str) -> None:
        """Say how full the context is, again and again until a file is there."""
        while not os.path.exists(until) and not self.cancelled.is_set():
            await self.conn.session_update(
                session, UsageUpdate(session_update="usage_update", used=used, size=size, cost=None)
            )
            await asyncio.sleep(0.1)

    async def ask(self, session: str, kind: str, title: str, raw: Any = None, then: list[Any] | None = None) -> None:
        """Ask for permission, and do `then` where it is given; what came of it is told to the session."""
        self.calls += 1
        call = ToolCallUpdate(tool_call_id=str(self.calls), kind=kind, title=title, raw_input=raw)
        answer = (await self.conn.request_permission(session, call, OPTIONS)).outcome
        chosen = getattr(answer, "option_id", answer.outcome)
        await self.say(session, f"{title}: {chosen}\n")
        if chosen == "yes" and then:
            await getattr(self, then[0])(session, *then[1:])

    async def write(self, session: str, path: str, content: str) -> None:
        try:
            await self.conn.write_text_file(session, os.path.join(os.getcwd(), path), content)
        except acp.RequestError as error:
            await self.say(session, f"cannot write {path}: {error.data}\n")

    async def read(self, session: str, path: str) -> None:
        try:
            answer = await self.conn.read_text_file(session, os.path.join(os.getcwd(), path))
            await self.say(session, f"read {answer.content}\n")
        except acp.RequestError as error:
            await self.say(session, f"cannot read {path}: {error.code} {error.data}\n")

    async def terminal(self, session: str) -> None:
        try:
            await self.conn.create_terminal(session, "touch", ["terminal"])
        except acp.RequestError as error:
            await self.say(session, f"no terminal: {error.code}\n")

    async def run(self, session: str, command: str) -> None:
        self.calls += 1
        call = str(self.calls)
        await self.conn.session_update(session, acp.start_tool_call(call, command, kind="execute", status="pending"))
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        status = "completed" if done.returncode == 0 else "failed"
        content = [acp.tool_content(acp.text_block(done.stdout + done.stderr))]
        await self.conn.session_update(session, acp.update_tool_call(call, status=status, content=content))

    async def leave_here(self, session: str, command: str) -> None:
        """Start something, and not wait for it."""
        subprocess.Popen(command, shell=True, stdout=subprocess.DEVNULL)

    async def wait(self, session: str) -> None:
        await self.say(session, "waiting\n")
        await self.cancelled.wait()

    async def hang(self, session: str) -> None:
        await self.say(session, "hanging\n")
        await asyncio.sleep(0.2)  # what it said is on its way
        time.sleep(300)

    async def error(self, session: str, code: int, message: str) -> None:
        raise acp.RequestError(code, message)

    async def die(self, session: str, code: int) -> None:
        os._exit(code)


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Scripted(json.loads(Path(sys.argv[1]).read_text()))))
