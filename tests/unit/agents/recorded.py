"""Events of Codex 0.169 and Gemini CLI 0.61, as the real CLIs write them, and those of our own ACP client."""

import json
from typing import Any

from nobrakes.agents.adapter import SELF_TEST

ID = "01a1fe84-21a6-7a00-a7e7-2efc6ddd4873"
READY = SELF_TEST + "\n"


def line(**event: Any) -> bytes:
    return json.dumps(event).encode()


# --- Codex ---------------------------------------------------------------------------------------

THREAD = line(type="thread.started", thread_id=ID)
WARNING = line(type="item.completed", item={"id": "item_0", "type": "error", "message": "hooks may run without review"})
TURN = line(type="turn.started")
CODEX = [THREAD, WARNING, TURN]
USAGE = {"input_tokens": 400, "cached_input_tokens": 30, "cache_write_input_tokens": 0, "output_tokens": 80}
TURN_DONE = line(type="turn.completed", usage=USAGE)


def item(kind: str, done: bool = True, **fields: Any) -> bytes:
    return line(type="item.completed" if done else "item.started", item={"id": "item_1", "type": kind, **fields})


def codex_said(text: str) -> bytes:
    return item("agent_message", text=text)


def codex_failed(text: str) -> list[bytes]:
    return [*CODEX, line(type="error", message=text), line(type="turn.failed", error={"message": text})]


# --- Gemini --------------------------------------------------------------------------------------

INIT = line(type="init", timestamp="t", session_id=ID, model="gemini-2.5-pro")
ASKED = line(type="message", timestamp="t", role="user", content="do it")
GEMINI = [INIT, ASKED]
STATS = {"total_tokens": 480, "input_tokens": 400, "output_tokens": 80, "cached": 30, "tool_calls": 3}
RESULT = line(type="result", timestamp="t", status="success", stats=STATS)


def gemini_said(text: str) -> bytes:
    return line(type="message", timestamp="t", role="assistant", content=text, delta=True)


def gemini_failed(text: str) -> list[bytes]:
    error = {"type": "unknown", "message": text}
    return [*GEMINI, line(type="result", timestamp="t", status="error", error=error, stats={"total_tokens": 0})]


def api_error(code: int, text: str, status: str = "X") -> list[bytes]:
    inner = json.dumps({"error": {"code": code, "message": text, "status": status}})
    return gemini_failed(f"[API Error: {inner}]")


# --- our ACP client ------------------------------------------------------------------------------

ACP = [line(type="session", session=ID, agent="agent 1", resumed=False, resumes=True)]


def acp_end(stop: str) -> bytes:
    return line(type="end", stop=stop)


def acp_failed(kind: str, message: str, code: int | None = None, begun: bool = True) -> list[bytes]:
    return [*(ACP if begun else []), line(type="end", error=kind, message=message, code=code)]
