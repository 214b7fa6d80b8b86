"""Claude Code's events, as the real CLI writes them."""

import json
from typing import Any

from nobrakes.agents.adapter import SELF_TEST

SESSION = "6f1c0c52-0000-4000-8000-000000000001"


def line(**event: Any) -> bytes:
    return json.dumps(event).encode() + b"\n"


HOOK_STARTED = line(type="system", subtype="hook_started", hook_event="SessionStart", session_id=SESSION)
GUARD = line(
    type="system",
    subtype="hook_response",
    hook_event="SessionStart",
    stdout=SELF_TEST + "\n",
    output=SELF_TEST + "\n",
    stderr="",
    exit_code=0,
    outcome="success",
)
INIT = line(type="system", subtype="init", session_id=SESSION, model="opus", tools=["Bash"], permissionMode="default")
START = [HOOK_STARTED, GUARD, INIT]


def assistant(*blocks: dict[str, Any], **more: Any) -> bytes:
    return line(type="assistant", message={"id": "m", "content": list(blocks)}, session_id=SESSION, **more)


def said(text: str, **more: Any) -> bytes:
    return assistant({"type": "text", "text": text}, **more)


def api_error(name: str) -> bytes:
    return said("API Error", error=name, is_api_error_message=True)


def tool_result(content: Any, is_error: bool = False) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": is_error}
    return line(type="user", message={"content": [block]})


def result(**fields: Any) -> bytes:
    """A result; `...` leaves a key out."""
    whole = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "terminal_reason": "completed",
        "num_turns": 2,
        "result": "All done.",
        "total_cost_usd": 0.25,
        "usage": {"input_tokens": 10, "output_tokens": 5, "service_tier": "standard"},
        "api_error_status": None,
        "session_id": SESSION,
    } | fields
    return line(**{key: value for key, value in whole.items() if value is not ...})
