"""Events of the CLIs that profiles describe, as the real ones write them: by profile how a session begins, and what a
model's last words are."""

import json
from collections.abc import Callable
from typing import Any

ID = "01a1fe84-21a6-7a00-a7e7-2efc6ddd4873"


def line(**event: Any) -> bytes:
    return json.dumps(event).encode()


def opencode(kind: str, **part: Any) -> bytes:
    return line(type=kind, timestamp=1796095313087, sessionID=ID, part={"id": "prt_1", "sessionID": ID, **part})


def opencode_finish(reason: str) -> bytes:
    tokens = {"total": 480, "input": 370, "output": 80, "reasoning": 0, "cache": {"write": 0, "read": 30}}
    return opencode("step_finish", reason=reason, type="step-finish", tokens=tokens, cost=0.5)


QWEN_USAGE = {"input_tokens": 370, "output_tokens": 80, "cache_read_input_tokens": 30, "total_tokens": 480}


def qwen(*content: Any, kind: str = "assistant") -> bytes:
    message = {"id": "m1", "type": "message", "role": kind, "content": list(content), "usage": QWEN_USAGE}
    return line(type=kind, uuid="u1", session_id=ID, message=message)


def qwen_said(text: str) -> list[bytes]:
    result = line(type="result", subtype="success", session_id=ID, is_error=False, result=text, usage=QWEN_USAGE)
    return [qwen({"type": "text", "text": text}), result]


PI_USAGE = {"input": 370, "output": 80, "cacheRead": 30, "cacheWrite": 0, "totalTokens": 480, "cost": {"total": 0.5}}


def pi(*content: Any, **more: Any) -> bytes:
    message = {"role": "assistant", "content": list(content), "usage": PI_USAGE, "stopReason": "stop", **more}
    return line(type="message_end", message=message)


def copilot(kind: str, **data: Any) -> bytes:
    return line(type=kind, data=data, id="i1", timestamp="2026-12-01T04:09:31.379Z")


def cline(kind: str, **event: Any) -> bytes:
    return line(ts="2026-12-01T04:01:10.756Z", type="agent_event", event={"type": kind, **event})


def plain(text: str) -> list[bytes]:
    return text.encode().split(b"\n")


BEGINS: dict[str, list[bytes]] = {
    "aider": [],
    "cline": [cline("iteration_start", iteration=1)],
    "continue": [],
    "copilot": [copilot("session.tools_updated", model="scripted"), copilot("user.message", content="Do it")],
    "kilo": [opencode("step_start", type="step-start", snapshot="4b825dc")],
    "mini": [],
    "opencode": [opencode("step_start", type="step-start", snapshot="4b825dc")],
    "pi": [line(type="session", version=3, id=ID, cwd="/w"), line(type="agent_start"), line(type="turn_start")],
    "qwen": [line(type="system", subtype="init", session_id=ID, cwd="/w", tools=["edit"], model="scripted")],
}
SAYS: dict[str, Callable[[str], list[bytes]]] = {
    "aider": plain,
    "cline": lambda text: [
        cline("usage", inputTokens=400, outputTokens=80, totalInputTokens=400, totalOutputTokens=80, totalCost=0),
        cline("content_start", contentType="text", text=text, accumulated=text),
        cline("content_end", contentType="text", text=text),
        line(type="run_result", finishReason="completed", iterations=1, text=text),
    ],
    "continue": plain,
    "copilot": lambda text: [
        copilot("assistant.message_delta", deltaContent=text),
        copilot("assistant.message", messageId="m1", content=text, toolRequests=[]),
        line(type="result", timestamp="t", sessionId=ID, exitCode=0, usage={"premiumRequests": 0}),
    ],
    "kilo": lambda text: [opencode("text", type="text", text=text), opencode_finish("stop")],
    "mini": plain,
    "opencode": lambda text: [opencode("text", type="text", text=text), opencode_finish("stop")],
    "pi": lambda text: [pi({"type": "text", "text": text}), line(type="agent_end", messages=[])],
    "qwen": qwen_said,
}
