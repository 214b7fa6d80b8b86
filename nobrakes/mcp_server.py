"""The operations as MCP tools, by the official SDK: on stdin and stdout, the workspace by HTTP too.

1. With a token it serves the attempt's bead (agents.service.agent_api); without, the board read-only, and drafts
   (agents.service.board_api), fixed at start. The workspace (projects.service.coding) is requested by name.
2. Each call has a thread, a few at a time, so waiting for a person blocks no other.
3. Errors are the call's result, with a remedy; a bug's traceback goes to stderr.
"""

import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from . import __version__, serving
from .agents.service import agent_api, board_api
from .agents.service.agent_api import Operation, Reply
from .errors import NobrakesError, StoreBusy
from .projects.service import coding
from .projects.service.projects_folder import opened
from .text.cleaning import only_seen

AT_ONCE = 4

Perform = Callable[[str, Mapping[str, Any]], Reply]


def tool_name(operation: Operation) -> str:
    return operation.name.replace("-", "_")


def tool(operation: Operation) -> Tool:
    return Tool(
        name=tool_name(operation),
        description=operation.help,
        input_schema=agent_api.schema(operation),
        annotations=ToolAnnotations(read_only_hint=operation.reads, destructive_hint=False, open_world_hint=False),
    )


def answered(perform: Perform, operations: Sequence[Operation], name: str, given: Mapping[str, Any]) -> CallToolResult:
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
        "nobrakes", version=__version__, instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool
    )


async def _serve(server: "Server[Any]") -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve() -> None:
    api = agent_api if os.environ.get("NOBRAKES_TOKEN") else board_api
    anyio.run(_serve, build(api.OPERATIONS, api.perform, api.INSTRUCTIONS))


def workspace(session: str, client: str = "") -> "Server[Any]":
    """The server of a chat agent's session in the person's workspace; with an empty name each call names its own."""
    table = coding.operations(session, client)
    return build(table, partial(agent_api.choose, table), coding.instructions())


def serve_workspace(session: str) -> None:
    anyio.run(_serve, workspace(session))


# The workspace by HTTP listens on 127.0.0.1 alone. The Host is this machine's; an Origin is absent, since a browser's
# page is not a chat client. The token in the header Authorization is looked up each time, so a revoked one is good for
# nothing at once; a cookie is never looked at. Nothing of a session is kept here: a killed server is started again.
PORT = 7118
LOOPBACK = "127.0.0.1"
PATH = "/mcp"
MAX_BODY = 4 * 1024 * 1024

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Guard:
    """Passes calls of clients that know the server's name, and answers others."""

    def __init__(self, port: int) -> None:
        self.hosts = {f"{name}:{port}".encode() for name in (LOOPBACK, "localhost")}
        self.served: dict[str, Any] = {}
        self.group: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send, self)
            return
        if scope["type"] != "http":
            return
        status, why, client = await self._judged(scope)
        if status:
            await _refuse(send, status, why)
            return
        await (await self._get_app(client))(scope, receive, send)

    async def _judged(self, scope: Scope) -> tuple[int, str, str]:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        if len(headers.get(b"host", [])) != 1 or headers[b"host"][0].lower() not in self.hosts:
            return 421, "this server does not accept requests for that host name", ""
        if b"origin" in headers:
            return 403, "this server does not answer web pages", ""
        if scope["path"] != PATH:
            return 404, f"the only address is {PATH}", ""
        given = headers.get(b"authorization", [])
        word = given[0].decode("latin-1") if len(given) == 1 else ""
        kind, _, token = word.partition(" ")
        try:
            client = "" if kind.lower() != "bearer" else await anyio.to_thread.run_sync(coding.client_of, token.strip())
        except StoreBusy:
            return 503, "another process has locked nobrakes' database; try again in a moment", ""
        except NobrakesError:  # it may name paths, and nobody is known yet
            return 503, "nobrakes cannot read the tokens; `nobrakes mcp client` shows why, then try again", ""
        if not client:
            return 401, "the request needs a client's token: `nobrakes mcp client add NAME`", ""
        return 0, "", client

    async def _get_app(self, client: str) -> Any:
        if client not in self.served:
            app = workspace("", client).streamable_http_app(
                streamable_http_path=PATH, json_response=True, stateless_http=True, max_request_body_size=MAX_BODY
            )
            started = anyio.Event()
            self.served[client] = (app, started)
            self.group.start_soon(_keep, app, started)
        app, started = self.served[client]
        await started.wait()
        return app


async def _keep(app: Any, started: anyio.Event) -> None:
    async with app.router.lifespan_context(app):
        started.set()
        await anyio.sleep_forever()


async def _lifespan(receive: Receive, send: Send, guard: Guard) -> None:
    async with anyio.create_task_group() as group:
        guard.group = group
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                group.cancel_scope.cancel()
                return


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"error": why}).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    head += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


def serve_http(port: int | None, say: Callable[[str], None]) -> None:
    """Serve until a signal. UsageError: the port is taken."""
    opened()  # what is wrong with the workspace is said before anybody waits
    wanted = PORT if port is None else port
    listening = serving.bound(LOOPBACK, wanted, "Choose another port: nobrakes mcp --workspace --http --port 7200")
    say(f"projects are served at http://{LOOPBACK}:{wanted}{PATH}, to clients with a token (`nobrakes mcp client`)")
    serving.Server(uvicorn.Config(Guard(wanted), **serving.settings())).run(sockets=[listening])
