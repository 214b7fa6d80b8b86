"""The operations as MCP tools, by the official SDK, on stdin and stdout. Nothing is decided here.

1. With a token it serves the attempt's own bead (agents.service.api); without one the board, read-only, and drafts
   (agents.service.board_api). Which of the two is settled when it starts. The workspace (projects.service.coding) is
   asked for by name.
2. Each call is a call of its own on a thread, a few at a time: one that waits for a person stops no other.
3. Whatever goes wrong is told as the call's error, with what to do next; a bug is told without its traceback, which
   goes to stderr.
"""

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from .. import __version__
from ..agents.service import api, board_api
from ..agents.service.api import Operation, Reply
from ..errors import NobrakesError
from ..projects.service import coding
from ..text.cleaning import only_seen

AT_ONCE = 4
"""Calls at a time; the others wait their turn."""

Perform = Callable[[str, Mapping[str, Any]], Reply]


def tool_name(operation: Operation) -> str:
    """What the tool is called: clients know no '-' in names everywhere."""
    return operation.name.replace("-", "_")


def tool(operation: Operation) -> Tool:
    """The operation as a client sees it."""
    return Tool(
        name=tool_name(operation),
        description=operation.help,
        input_schema=api.schema(operation),
        annotations=ToolAnnotations(read_only_hint=operation.reads, destructive_hint=False, open_world_hint=False),
    )


def answered(perform: Perform, operations: Sequence[Operation], name: str, given: Mapping[str, Any]) -> CallToolResult:
    """One call, done; an error is an answer too."""
    by_tool = {tool_name(operation): operation.name for operation in operations}
    try:
        return _result(perform(by_tool.get(name, name), given).text)
    except NobrakesError as error:
        return _result("\n".join(filter(None, (str(error), error.hint))), wrong=True)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return _result(f"nobrakes itself failed: {type(error).__name__}. Use the command line instead.", wrong=True)


def _result(text: str, wrong: bool = False) -> CallToolResult:
    shown = only_seen(text).encode("utf-8", "backslashreplace").decode()  # what was given may be no text
    return CallToolResult(content=[TextContent(type="text", text=shown)], is_error=wrong)


def build(operations: Sequence[Operation], perform: Perform, instructions: str) -> "Server[Any]":
    """The server of these operations."""
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool(operation) for operation in operations])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        def call() -> CallToolResult:
            return answered(perform, operations, params.name, params.arguments or {})

        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)

    return Server(
        "nobrakes",
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _serve() -> None:
    if os.environ.get("NOBRAKES_TOKEN"):
        server = build(api.OPERATIONS, api.perform, api.INSTRUCTIONS)
    else:
        server = build(board_api.OPERATIONS, board_api.perform, board_api.INSTRUCTIONS)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve() -> None:
    """Serve until stdin ends."""
    anyio.run(_serve)


def workspace(session: str, client: str = "") -> "Server[Any]":
    """The server of a chat agent's session in the person's workspace; with an empty name each call names its own."""
    table = coding.operations(session, client)
    return build(table, partial(api.choose, table), coding.instructions())


def serve_workspace(session: str) -> None:
    """Serve the workspace to one chat agent until stdin ends."""

    async def run() -> None:
        server = workspace(session)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
