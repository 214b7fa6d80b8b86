"""`python -I -m nobrakes.acp_client RUN.json [--greet]`: one prompt to one agent; the exit code says how that ended.

1. Nothing is started before the guard has answered.
2. A session is continued (`session/load`, else `session/resume`) or the end is `session_lost`: never silently a new
   one. Replayed history is not written again.
3. The last line has type `end`, with the agent's stop reason or an error.
"""

import asyncio
import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from acp import PROTOCOL_VERSION, Client, RequestError, connect_to_agent, text_block
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    EnvVariable,
    FileSystemCapabilities,
    Implementation,
    InitializeResponse,
    McpServerStdio,
    ReadTextFileResponse,
    RequestPermissionResponse,
    WriteTextFileResponse,
)
from pydantic import BaseModel

from . import __version__
from .paths import process_environment
from .records import frozen

# A signal that would end the client ends the turn first: the agent is asked to cancel it and has GRACE seconds. At the
# end its stdin is closed; who does not go by itself gets TERM, then KILL.
LINE = 64 * 1024 * 1024
GRACE = 4.0
TIMEOUT = 3.0


async def start(command: Sequence[str], workspace: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, cwd=workspace, limit=LINE, start_new_session=True
    )


async def stop(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            _send(process.pid, number)
        try:
            await asyncio.wait_for(process.wait(), TIMEOUT)
            break
        except TimeoutError:
            continue
    _send(process.pid, signal.SIGKILL)


def _send(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class Outside(Exception):
    """The path leads out of the workspace."""


def inside(path: str, workspace: str) -> str:
    """The resolved file; raises Outside, also for links."""
    home = os.path.realpath(workspace)
    if (full := os.path.realpath(os.path.join(home, path))) == home or not full.startswith(home + os.sep):
        raise Outside(f"{path} is outside the workspace")
    return full


def read(path: str, workspace: str, line: int | None, limit: int | None) -> str:
    """The file's text, or `limit` of its lines from `line` on, the first being 1."""
    with open(inside(path, workspace), encoding="utf-8", errors="replace", newline="") as file:
        if line is None and limit is None:
            return file.read()
        lines = file.read().splitlines(keepends=True)
    start = max(0, (line or 1) - 1)
    return "".join(lines[start : None if limit is None else start + limit])


def write(path: str, workspace: str, content: str) -> None:
    full = inside(path, workspace)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8", newline="") as file:
        file.write(content)


# The guard is the same program that the other CLIs call before each tool; only exit 0 is a yes. A command is judged as
# a command, whatever the call says of itself; a change, by the files that it names. Where a call names nothing that can
# be judged, the answer is no. What only reads, searches, thinks or fetches, and tools of MCP servers, are let through.
# A yes is for once: after an "always" the agent would not ask again.
CHANGES = frozenset({"edit", "delete", "move"})
READS = frozenset({"read", "search", "think", "fetch"})
SECONDS = 20.0

Question = tuple[str, dict[str, str]]
"""A tool's name and input, in Claude Code's terms."""


class CannotJudge(Exception):
    """The call does not say enough of its effect."""


def questions(call: Mapping[str, Any]) -> list[Question]:
    """What to ask the guard about a tool call; CannotJudge: refuse it."""
    kind = call.get("kind") or "other"
    given = call.get("rawInput")
    raw = given if isinstance(given, dict) else {}
    if kind == "switch_mode":
        raise CannotJudge("the agent may not change its permission mode")
    found: list[Question] = [("Bash", {"command": command}) for command in commands(raw)]
    if kind == "execute" and not found:
        if not (title := str(call.get("title") or "").strip()):
            raise CannotJudge("the agent did not show the command that it wants to run")
        found.append(("Bash", {"command": title}))
    if kind not in READS and kind != "execute":
        paths = _paths(call, raw)
        if kind in CHANGES and not paths:
            raise CannotJudge("the agent did not name the file that it wants to change")
        found += [("Write", {"file_path": path}) for path in paths]
    return found


def commands(raw: Mapping[str, Any]) -> list[str]:
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
    kinds = ("allow_once",) if allow else ("reject_once", "reject_always")
    found = (str(one.get("optionId")) for kind in kinds for one in options if one.get("kind") == kind)
    return next(found, None)


class Guard:
    """The guard, asked as a program of its own."""

    def __init__(self, argv: Sequence[str], workspace: str) -> None:
        self.argv = argv
        self.workspace = workspace

    async def why_not(self, tool: str, given: Mapping[str, str]) -> str | None:
        return await self._ask("PreToolUse", tool, given)

    async def begin(self) -> str | None:
        """Why the guard did not answer; None: it left its sign (NOBRAKES_CANARY)."""
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
            return "the guard, which checks tool calls, does not answer"
        said = errors.decode(errors="replace").strip()
        return None if child.returncode == 0 else said[:2000] or f"the guard ended with exit code {child.returncode}"


# Text of the agent, which comes in pieces, is joined first. Where stdout is closed the agent goes on.
MAX_TEXT = 20_000


class Lines:
    """The output of one run."""

    def __init__(self) -> None:
        self._kind = ""
        self._pieces: list[str] = []
        self.live = True  # not while an old session is read again

    def piece(self, kind: str, text: str) -> None:
        """A piece of what the agent says or thinks."""
        if not self.live:
            return
        if kind != self._kind:
            self.flush()
        self._kind = kind
        self._pieces.append(text)
        if "\n" in text or sum(map(len, self._pieces)) > MAX_TEXT:
            self.flush()

    def event(self, kind: str, **values: Any) -> None:
        if self.live:
            self.flush()
            self._write({"type": kind, **values})

    def flush(self) -> None:
        text, self._pieces = "".join(self._pieces), []
        for start in range(0, len(text), MAX_TEXT):
            self._write({"type": self._kind, "text": text[start : start + MAX_TEXT]})

    def _write(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.write(json.dumps(event, default=str) + "\n")
            sys.stdout.flush()


# Permission is asked of the guard, files are those of the workspace; everything else that the protocol knows
# (terminals, forms to fill in) is not offered.
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
        """Ask the guard. The protocol has no place for a reason."""
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
            if (why := await self.guard.why_not(tool, given)) is not None:
                return why
        return None

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **more: Any
    ) -> ReadTextFileResponse:
        try:
            return ReadTextFileResponse(content=read(path, self.workspace, line, limit))
        except FileNotFoundError:
            raise RequestError.resource_not_found(path) from None
        except (Outside, OSError) as error:
            raise RequestError.invalid_params({"details": f"{REFUSED}{error}"}) from None

    async def write_text_file(self, session_id: str, path: str, content: str, **more: Any) -> WriteTextFileResponse:
        """Write a file of the workspace, where the guard lets the role."""
        why = await self.guard.why_not("Write", {"file_path": path})
        try:
            if why is None:
                write(path, self.workspace, content)
        except (Outside, OSError) as error:
            why = f"{REFUSED}{error}"
        if why is not None:
            self.lines.event("permission", title=f"write {path}", allowed=False, why=why)
            raise RequestError.invalid_params({"details": why})
        return WriteTextFileResponse()

    async def create_terminal(self, session_id: str, command: str, **more: Any) -> Any:
        """Unsupported: an agent runs its commands itself, after asking."""
        raise RequestError.method_not_found("terminal/create")

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        told = _plain(update)
        if (kind := told.get("sessionUpdate")) in ("agent_message_chunk", "agent_thought_chunk"):
            text = (told.get("content") or {}).get("text")
            if isinstance(text, str):
                self.lines.piece("text" if kind == "agent_message_chunk" else "thought", text)
        elif kind == "tool_call":
            title = str(told.get("title") or told.get("kind") or "")
            raw = told.get("rawInput")
            found = commands(raw) if isinstance(raw, dict) else []
            is_run = told.get("kind") == "execute" or bool(found)
            more = {"command": "\n".join(found or [title])[:MAX_TEXT]} if is_run else {}
            self.lines.event("tool", id=told.get("toolCallId"), title=title[:2000], **more)
            self._ended(told)
        elif kind == "tool_call_update":
            self._ended(told)
        elif kind == "usage_update":
            self.lines.event("usage", cost=told.get("cost"), context=told.get("used"), window=told.get("size"))

    def _ended(self, told: dict[str, Any]) -> None:
        if told.get("status") in ("completed", "failed"):
            text = "\n".join(_texts(told.get("content")))[:MAX_TEXT]
            self.lines.event("result", id=told.get("toolCallId"), failed=told["status"] == "failed", text=text)


def _texts(content: object) -> list[str]:
    found = []
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "diff":
            found.append(f"changed {part.get('path')}")
        elif isinstance(part.get("content"), dict) and isinstance(part["content"].get("text"), str):
            found.append(part["content"]["text"])
    return found


def _plain(model: Any) -> dict[str, Any]:
    if isinstance(model, BaseModel):
        return model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dict(model) if isinstance(model, dict) else {}


STOPPED = 130
HELLO_SECONDS = 30.0


@frozen
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
    greets: bool = False  # nothing is asked but its hello


class _Failed(Exception):
    """The run ends with an error of this class."""

    def __init__(self, kind: str, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code


async def turn(run: Run) -> int:
    """The exit code of the whole run."""
    lines = Lines()
    guard = Guard(run.guard, run.workspace)
    if (why := await guard.begin()) is not None:
        lines.event("end", error="guard", message=why)
        return 1
    try:
        process = await start(run.command, run.workspace)
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
        await stop(process)


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
            code = await asyncio.wait_for(process.wait(), TIMEOUT)
        except TimeoutError:
            code = None
        lines.event("end", error="died", message=f"the agent ended in the middle of a call, with exit code {code}")
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
        """From hello to the stop reason, with tokens if the agent counts them."""
        # Reading is answered but not offered: an agent reads by itself, and Gemini CLI 0.61 takes "no such file" for a
        # failure of the tool that would make it.
        files = FileSystemCapabilities(read_text_file=False, write_text_file=True)
        begin = self.conn.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(fs=files, terminal=False),
            client_info=Implementation(name="nobrakes", version=__version__),
        )
        try:
            hello = await self._ask("start", asyncio.wait_for(begin, HELLO_SECONDS if self.run.greets else None))
        except TimeoutError:
            raise _Failed("start", f"the agent did not answer `initialize` in {HELLO_SECONDS:.0f} seconds") from None
        if hello.protocol_version != PROTOCOL_VERSION:
            raise _Failed(
                "version", f"the agent uses version {hello.protocol_version} of the protocol, not {PROTOCOL_VERSION}"
            )
        if self.run.greets:
            return "end_turn", None
        if self.run.auth:
            await self._ask("auth", self.conn.authenticate(method_id=self.run.auth))
        self.session = await self._begin(hello)
        system, prompt = _text(self.run.system), _text(self.run.prompt)
        blocks = [text_block(text) for text in (system, prompt) if text.strip()]
        done = await self._ask("turn", self.conn.prompt(session_id=self.session, prompt=blocks))
        if (used := done.usage) is None:
            return done.stop_reason, None
        return done.stop_reason, {
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cache_read_input_tokens": used.cached_read_tokens or 0,
        }

    async def _begin(self, hello: InitializeResponse) -> str:
        """The session, new or old; writes a line that says which."""
        can = hello.agent_capabilities
        loads = bool(can and can.load_session)
        resumes = bool(can and can.session_capabilities and can.session_capabilities.resume is not None)
        where = {"cwd": self.run.workspace, "mcp_servers": [self._server(one) for one in self.run.mcp]}
        if (old := self.run.session) is None:
            session = str((await self._ask("session", self.conn.new_session(**where))).session_id)
        else:
            if not (loads or resumes):
                raise _Failed("session_lost", "the agent cannot continue a session")
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
            raise _Failed(kind, (f"{error}: {error.data}" if error.data else str(error))[:4000], error.code) from None

    async def cancel(self, working: "asyncio.Future[Any]") -> None:
        if self.session is None:
            return
        try:
            await self.conn.cancel(session_id=self.session)
            await asyncio.wait((working,), timeout=GRACE)
        except ConnectionError:
            return


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


# RUN.json is what nobrakes.agents.acp wrote; it reads the JSON objects on stdout, a line each. With `--greet` the agent
# is asked for its hello (`initialize`), and ended. 0: the agent ended its turn. 126 and 127: it could not be started.
# 130: it was stopped. 1: anything else.
def main(arguments: list[str]) -> int:
    with open(arguments[0], encoding="utf-8") as file:
        run = Run(**json.load(file), greets="--greet" in arguments[1:])
    return asyncio.run(turn(run))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
