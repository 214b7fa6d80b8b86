"""One prompt: start the agent, begin or find its session, let it work, say how it ended.

1. The guard says first that it is there; without that nothing is started.
2. A session is gone on with (`session/load`, or `session/resume` where only that is offered), else the end is
   `session_lost`: never silently a new one. What an old session says of its past is not written down again.
3. The last line is of type `end`, with the agent's stop reason or with an error.
"""

import asyncio
import os
import signal
from dataclasses import dataclass
from typing import Any, cast

from acp import PROTOCOL_VERSION, Client, RequestError, connect_to_agent, text_block
from acp.schema import (
    ClientCapabilities,
    EnvVariable,
    FileSystemCapabilities,
    Implementation,
    InitializeResponse,
    McpServerStdio,
)

from .. import __version__
from . import child
from .answers import Answers
from .lines import Lines
from .permission import Guard

STOPPED = 130


@dataclass(frozen=True, slots=True)
class Run:
    """What RUN.json holds."""

    command: list[str]
    guard: list[str]
    workspace: str
    prompt: str  # a file
    system: str  # a file
    mcp: list[dict[str, Any]]  # name, command, args, and the names of variables
    session: str | None = None
    auth: str = ""


class _Failed(Exception):
    """The run ends with an error of this class."""

    def __init__(self, kind: str, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code


async def turn(run: Run) -> int:
    """The whole run; its exit code."""
    lines = Lines()
    guard = Guard(run.guard, run.workspace)
    why = await guard.begin()
    if why is not None:
        lines.event("end", error="guard", message=why)
        return 1
    try:
        process = await child.start(run.command, run.workspace)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        message = f"{run.command[0]}: {error.strerror}"
        lines.event("end", error="missing" if missing else "not_executable", message=message)
        return 127 if missing else 126
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    try:
        return await _work(run, process, Answers(run.workspace, guard, lines), lines, stopped)
    finally:
        await child.stop(process)


async def _work(
    run: Run, process: asyncio.subprocess.Process, answers: Answers, lines: Lines, stopped: asyncio.Event
) -> int:
    conn = connect_to_agent(cast(Client, answers), process.stdin, process.stdout)
    talk = _Talk(run, conn, lines)
    working = asyncio.ensure_future(talk.whole())
    stop = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait((working, stop), return_when=asyncio.FIRST_COMPLETED)
        if stopped.is_set():
            await talk.cancel(working)
            lines.event("end", stop="cancelled")
            return STOPPED
        reason, usage = working.result()
        if usage is not None:
            lines.event("usage", **usage)
        lines.event("end", stop=reason)
        return 0 if reason == "end_turn" else 1
    except _Failed as error:
        lines.event("end", error=error.kind, message=str(error), code=error.code)
    except ConnectionError:
        try:
            code = await asyncio.wait_for(process.wait(), child.PATIENCE)
        except TimeoutError:
            code = None
        lines.event("end", error="died", message=f"the agent ended in the middle of it, with {code}")
    finally:
        stop.cancel()
        working.cancel()
        lines.flush()
        await conn.close()
    return 1


class _Talk:
    """The requests to the agent, one after the other."""

    def __init__(self, run: Run, conn: Any, lines: Lines) -> None:
        self.run = run
        self.conn = conn
        self.lines = lines
        self.session: str | None = None

    async def whole(self) -> tuple[str, dict[str, int] | None]:
        """From hello to the stop reason, with the tokens where the agent counts them."""
        # Reading is answered but not offered: an agent reads by itself, and Gemini CLI 0.61 takes "no such file" for a
        # failure of the tool that would make it.
        files = FileSystemCapabilities(read_text_file=False, write_text_file=True)
        hello = await self._ask(
            "start",
            self.conn.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(fs=files, terminal=False),
                client_info=Implementation(name="nobrakes", version=__version__),
            ),
        )
        if hello.protocol_version != PROTOCOL_VERSION:
            raise _Failed(
                "version", f"it speaks version {hello.protocol_version} of the protocol, not {PROTOCOL_VERSION}"
            )
        if self.run.auth:
            await self._ask("auth", self.conn.authenticate(method_id=self.run.auth))
        self.session = await self._begin(hello)
        system, prompt = _text(self.run.system), _text(self.run.prompt)
        blocks = [text_block(text) for text in (system, prompt) if text.strip()]
        done = await self._ask("turn", self.conn.prompt(session_id=self.session, prompt=blocks))
        used = done.usage
        if used is None:
            return done.stop_reason, None
        counts = {
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cache_read_input_tokens": used.cached_read_tokens or 0,
        }
        return done.stop_reason, counts

    async def _begin(self, hello: InitializeResponse) -> str:
        """The session, new or old, and a line that says which."""
        can = hello.agent_capabilities
        loads = bool(can and can.load_session)
        resumes = bool(can and can.session_capabilities and can.session_capabilities.resume is not None)
        servers = [self._server(one) for one in self.run.mcp]
        where = {"cwd": self.run.workspace, "mcp_servers": servers}
        old = self.run.session
        if old is None:
            new = await self._ask("session", self.conn.new_session(**where))
            session = str(new.session_id)
        else:
            if not (loads or resumes):
                raise _Failed("session_lost", "it cannot go on with a session")
            self.lines.live = False
            find = self.conn.load_session if loads else self.conn.resume_session
            try:
                await self._ask("session_lost", find(session_id=old, **where))
                await asyncio.sleep(0)  # what it told of the past has been heard
            finally:
                self.lines.live = True
            session = old
        about = hello.agent_info
        agent = f"{about.name} {about.version}" if about else self.run.command[0]
        self.lines.event("session", session=session, agent=agent, resumed=old is not None, resumes=loads or resumes)
        return session

    def _server(self, one: dict[str, Any]) -> McpServerStdio:
        env = [EnvVariable(name=name, value=os.environ[name]) for name in one["variables"] if name in os.environ]
        return McpServerStdio(name=one["name"], command=one["command"], args=one["args"], env=env)

    async def _ask(self, what: str, request: Any) -> Any:
        try:
            return await request
        except RequestError as error:
            kind = "auth" if error.code == -32000 else what
            detail = f"{error}: {error.data}" if error.data else str(error)
            raise _Failed(kind, detail[:4000], error.code) from None

    async def cancel(self, working: "asyncio.Future[Any]") -> None:
        """Ask the agent to end its turn, and give it a little time."""
        if self.session is None:
            return
        try:
            await self.conn.cancel(session_id=self.session)
            await asyncio.wait((working,), timeout=child.GRACE)
        except ConnectionError:
            return


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
