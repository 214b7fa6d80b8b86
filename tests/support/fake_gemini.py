"""A CLI that behaves like Gemini CLI as far as nobrakes looks, or misbehaves: the last part of its file's name says how.

`gemini-sound` does all; `-permits` does not ask its hooks; `-forgets` begins anew where it should go on; `-leaves` has a
command started by somebody else, as by a service of the system; `-mute` says nothing; `-idle` calls no tool; `-broken`
ends at once. With `--acp` it speaks the Agent Client Protocol and does or misbehaves in the same way; `-unheard` asks no
model there, `-lastingly` says that it cannot go on, and `-unguarded` asks for no leave.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import acp
from acp import schema

HOW = Path(sys.argv[0]).stem.rpartition("-")[2]
HOME = Path(os.environ.get("GEMINI_CLI_HOME", ".")) / ".gemini"


def say(**event: Any) -> None:
    if HOW != "mute":
        print(json.dumps(event), flush=True)


def hook(event: str, tool: str, given: dict[str, Any]) -> str:
    """Why a hook refuses; empty: it does not."""
    settings = json.loads((HOME / "settings.json").read_text())
    for one in settings["hooks"][event]:
        for own in one["hooks"]:
            call = {"hook_event_name": event, "cwd": os.getcwd(), "tool_name": tool, "tool_input": given}
            done = subprocess.run(own["command"], shell=True, input=json.dumps(call), capture_output=True, text=True)
            if done.returncode == 2:
                return done.stderr
    return ""


def do(tool: str, given: dict[str, Any], guarded: bool = True) -> str:
    if HOW == "idle":
        return "not now"
    why = "" if HOW == "permits" or not guarded else hook("BeforeTool", tool, given)
    if why:
        return why
    if tool == "write_file":
        Path(given["file_path"]).write_text(given["content"])
        return "written"
    if HOW == "leaves" and "sleeper" in given["command"]:
        Path(f"{sys.argv[0]}.asked").write_text(json.dumps([os.getcwd(), given["command"]]) + "\n")
        while True:
            time.sleep(1)
    return subprocess.run(given["command"], shell=True, capture_output=True, text=True).stdout or "(no output)"


def ask(history: list[Any]) -> list[dict[str, Any]]:
    url = f"{os.environ['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/scripted:generateContent"
    body = json.dumps({"contents": history, "tools": [{"functionDeclarations": []}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as answer:
        return json.load(answer)["candidates"][0]["content"]["parts"]


class Acp:
    """The agent's side of the protocol."""

    conn: Any = None

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    def kept(self, session: str) -> Path:
        return Path(os.environ["HOME"]) / f"{session}.json"

    async def initialize(self, protocol_version: int, **more: Any) -> Any:
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(load_session=HOW != "lastingly"),
            agent_info=schema.Implementation(name="fake", version="0.99.1"),
        )

    async def authenticate(self, method_id: str, **more: Any) -> Any:
        return schema.AuthenticateResponse()

    async def new_session(self, **more: Any) -> Any:
        if HOW == "broken":
            raise acp.RequestError(-32603, "it is broken")
        session = str(uuid.uuid4())
        self.kept(session).write_text("[]")
        return schema.NewSessionResponse(session_id=session)

    async def load_session(self, session_id: str, **more: Any) -> Any:
        if HOW == "forgets":
            self.kept(session_id).write_text("[]")
        return schema.LoadSessionResponse()

    async def cancel(self, **more: Any) -> None:
        os._exit(0)

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> Any:
        history = json.loads(self.kept(session_id).read_text())
        history.append({"role": "user", "parts": [{"text": block.text} for block in prompt]})
        while HOW != "unheard":
            parts = ask(history)
            calls = [part["functionCall"] for part in parts if "functionCall" in part]
            for call in calls:
                history.append({"role": "user", "parts": [{"text": await self.do(session_id, call)}]})
            if not calls:
                text = acp.update_agent_message_text("".join(part.get("text", "") for part in parts))
                await self.conn.session_update(session_id, text)
                break
        self.kept(session_id).write_text(json.dumps(history))
        return schema.PromptResponse(stop_reason="end_turn")

    async def do(self, session: str, call: dict[str, Any]) -> str:
        given = call["args"]
        kind, title = ("execute", given["command"]) if "command" in given else ("edit", given["file_path"])
        if HOW == "idle":
            return "not now"
        if HOW not in ("permits", "unguarded"):
            asked = schema.ToolCallUpdate(tool_call_id="1", kind=kind, title=title, raw_input=given)
            options = [
                schema.PermissionOption(option_id=one, name=one, kind=one) for one in ("allow_once", "reject_once")
            ]
            answer = (await self.conn.request_permission(session, asked, options)).outcome
            if getattr(answer, "option_id", "") != "allow_once":
                return "no"
        await self.conn.session_update(session, acp.start_tool_call("1", title, kind=kind, status="pending"))
        return await asyncio.to_thread(do, call["name"], given, guarded=False)


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        print("0.99.1")
        return 0
    if "--acp" in sys.argv:
        asyncio.run(acp.run_agent(Acp()))
        return 0
    if HOW == "broken":
        print("Unknown argument: output-format", file=sys.stderr)
        return 42
    resume = "--resume" in sys.argv
    session = sys.argv[sys.argv.index("--resume" if resume else "--session-id") + 1]
    kept = HOME / "tmp" / session
    history = json.loads(kept.read_text()) if resume and HOW != "forgets" else []
    prompt = next(word for word in sys.argv if word.startswith("--prompt="))
    say(type="init", session_id=session, model="scripted")
    hook("SessionStart", "", {})
    history.append({"role": "user", "parts": [{"text": prompt}]})
    text = ""
    while True:
        parts = ask(history)
        text = "".join(part.get("text", "") for part in parts)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        for call in calls:
            say(type="tool_use", tool_name=call["name"], tool_id="1", parameters=call["args"])
            history.append({"role": "user", "parts": [{"text": do(call["name"], call["args"])}]})
        if not calls:
            break
    kept.write_text(json.dumps(history))
    say(type="message", role="assistant", content=text, delta=True)
    say(type="result", status="success", stats={"total_tokens": 1})
    return 0


if __name__ == "__main__":
    sys.exit(main())
