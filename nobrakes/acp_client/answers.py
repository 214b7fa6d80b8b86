"""What the agent asks of its client, and the answers: permission by the guard, files of the workspace, no terminal.

Everything else that the protocol knows (terminals, forms to fill in) is not offered.
"""

from typing import Any

from acp import RequestError
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    ReadTextFileResponse,
    RequestPermissionResponse,
    WriteTextFileResponse,
)
from pydantic import BaseModel

from . import files
from .lines import LONGEST, Lines
from .permission import CannotJudge, Guard, choice, commands, questions

REFUSED = "nobrakes refuses this: "


class Answers:
    """The client's side of a session."""

    def __init__(self, workspace: str, guard: Guard, lines: Lines) -> None:
        self.workspace = workspace
        self.guard = guard
        self.lines = lines

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **more: Any
    ) -> RequestPermissionResponse:
        """By the guard. The agent is told no more than no: the protocol has no place for a reason."""
        call = _plain(tool_call)
        why = await self._why_not(call)
        title = str(call.get("title") or call.get("kind") or "")
        self.lines.event(
            "permission", title=title[:2000], id=call.get("toolCallId"), allowed=why is None, why=why or ""
        )
        chosen = choice([_plain(option) for option in options], why is None)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def _why_not(self, call: dict[str, Any]) -> str | None:
        try:
            asked = questions(call)
        except CannotJudge as error:
            return str(error)
        for tool, given in asked:
            why = await self.guard.why_not(tool, given)
            if why is not None:
                return why
        return None

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **more: Any
    ) -> ReadTextFileResponse:
        """A file of the workspace."""
        try:
            return ReadTextFileResponse(content=files.read(path, self.workspace, line, limit))
        except FileNotFoundError:
            raise RequestError.resource_not_found(path) from None
        except (files.Outside, OSError) as error:
            raise RequestError.invalid_params({"details": f"{REFUSED}{error}"}) from None

    async def write_text_file(self, session_id: str, path: str, content: str, **more: Any) -> WriteTextFileResponse:
        """A file of the workspace, where the guard lets the role write."""
        why = await self.guard.why_not("Write", {"file_path": path})
        try:
            if why is None:
                files.write(path, self.workspace, content)
        except (files.Outside, OSError) as error:
            why = f"{REFUSED}{error}"
        if why is not None:
            self.lines.event("permission", title=f"write {path}", allowed=False, why=why)
            raise RequestError.invalid_params({"details": why})
        return WriteTextFileResponse()

    async def create_terminal(self, session_id: str, command: str, **more: Any) -> Any:
        """None: an agent runs its commands by itself, and asks before."""
        raise RequestError.method_not_found("terminal/create")

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        """What the agent says and does, as lines."""
        told = _plain(update)
        kind = told.get("sessionUpdate")
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            content = told.get("content") or {}
            text = content.get("text")
            if isinstance(text, str):
                self.lines.piece("text" if kind == "agent_message_chunk" else "thought", text)
        elif kind == "tool_call":
            self._tool(told)
            self._ended(told)
        elif kind == "tool_call_update":
            self._ended(told)
        elif kind == "usage_update":
            self.lines.event("usage", cost=told.get("cost"), context=told.get("used"), window=told.get("size"))

    def _tool(self, told: dict[str, Any]) -> None:
        title = str(told.get("title") or told.get("kind") or "")
        raw = told.get("rawInput")
        found = commands(raw) if isinstance(raw, dict) else []
        is_run = told.get("kind") == "execute" or bool(found)
        more = {"command": "\n".join(found or [title])[:LONGEST]} if is_run else {}
        self.lines.event("tool", id=told.get("toolCallId"), title=title[:2000], **more)

    def _ended(self, told: dict[str, Any]) -> None:
        if told.get("status") in ("completed", "failed"):
            text = "\n".join(_texts(told.get("content")))[:LONGEST]
            failed = told["status"] == "failed"
            self.lines.event("result", id=told.get("toolCallId"), failed=failed, text=text)


def _texts(content: object) -> list[str]:
    found = []
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "diff":
            found.append(f"changed {part.get('path')}")
        elif isinstance(part.get("content"), dict) and isinstance(part["content"].get("text"), str):
            found.append(part["content"]["text"])
    return found


def _plain(model: Any) -> dict[str, Any]:
    """The message as its JSON has it."""
    if isinstance(model, BaseModel):
        return model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dict(model) if isinstance(model, dict) else {}
