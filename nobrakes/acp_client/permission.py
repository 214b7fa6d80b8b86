"""What the guard is asked about a tool call for which the agent wants permission, and the answer that is chosen.

1. The guard is the same program that the other CLIs call before each tool; only exit 0 is a yes.
2. A command is judged as a command, whatever the call says of itself; a change, by the files that it names. Where a
   call says that it runs or changes something and names nothing that can be judged, the answer is no.
3. What only reads, searches, thinks or fetches, and tools of MCP servers, are let through. A change of the mode in
   which the agent asks is not.
4. A yes is for once: after an "always" the agent would not ask again.
"""

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ..environ import process_environment

CHANGES = frozenset({"edit", "delete", "move"})
READS = frozenset({"read", "search", "think", "fetch"})
SECONDS = 20.0
"""The guard ends itself long before, with a no."""

Question = tuple[str, dict[str, str]]
"""A tool's name and what it is given, in Claude Code's words."""


class CannotJudge(Exception):
    """The call says too little of what it would do."""


def questions(call: Mapping[str, Any]) -> list[Question]:
    """What to ask the guard about a tool call; CannotJudge where it must be refused without asking."""
    kind = call.get("kind") or "other"
    given = call.get("rawInput")
    raw = given if isinstance(given, dict) else {}
    if kind == "switch_mode":
        raise CannotJudge("the mode in which you ask is not yours to change")
    found: list[Question] = [("Bash", {"command": command}) for command in commands(raw)]
    if kind == "execute" and not found:
        title = str(call.get("title") or "").strip()
        if not title:
            raise CannotJudge("a command that is not shown")
        found.append(("Bash", {"command": title}))
    if kind not in READS and kind != "execute":
        paths = _paths(call, raw)
        if kind in CHANGES and not paths:
            raise CannotJudge("a change of a file that is not named")
        found += [("Write", {"file_path": path}) for path in paths]
    return found


def commands(raw: Mapping[str, Any]) -> list[str]:
    """The command lines that a call of a tool names."""
    found = []
    for name in ("command", "cmd", "script"):
        value = raw.get(name)
        if isinstance(value, str) and value.strip():
            found.append(value)
        elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            found.append(shlex.join(value))
    return found


def _paths(call: Mapping[str, Any], raw: Mapping[str, Any]) -> list[str]:
    found = [part.get("path") for part in (*_list(call, "locations"), *_list(call, "content"))]
    found += [raw.get(name) for name in ("file_path", "path", "notebook_path", "abs_path", "destination", "target")]
    return list(dict.fromkeys(path for path in found if isinstance(path, str) and path))


def _list(call: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = call.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def choice(options: Sequence[Mapping[str, Any]], allow: bool) -> str | None:
    """The id of the option to choose; None: none of them says it, so the call is cancelled."""
    kinds = ("allow_once",) if allow else ("reject_once", "reject_always")
    for kind in kinds:
        for option in options:
            if option.get("kind") == kind:
                return str(option.get("optionId"))
    return None


class Guard:
    """The guard, asked as a program of its own."""

    def __init__(self, argv: Sequence[str], workspace: str) -> None:
        self.argv = argv
        self.workspace = workspace

    async def why_not(self, tool: str, given: Mapping[str, str]) -> str | None:
        """Why the guard refuses the call, or None."""
        return await self._ask("PreToolUse", tool, given)

    async def begin(self) -> str | None:
        """Why the guard does not say that it is there, or None: it left its sign (NOBRAKES_CANARY)."""
        return await self._ask("SessionStart", "", {})

    async def _ask(self, event: str, tool: str, given: Mapping[str, str]) -> str | None:
        call = {"hook_event_name": event, "cwd": self.workspace, "tool_name": tool, "tool_input": given}
        pipe = asyncio.subprocess.PIPE
        try:
            child = await asyncio.create_subprocess_exec(
                *self.argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self.workspace, env=process_environment()
            )
        except OSError as error:
            return f"the guard cannot be started: {error}"
        try:
            _, errors = await asyncio.wait_for(child.communicate(json.dumps(call).encode()), SECONDS)
        except TimeoutError:
            child.kill()
            return "the guard does not answer"
        said = errors.decode(errors="replace").strip()
        return None if child.returncode == 0 else said[:2000] or f"the guard ended with {child.returncode}"
