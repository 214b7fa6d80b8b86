"""The model's server, on 127.0.0.1 only, in a thread. Four dialects, one script.

1. `http://127.0.0.1:<port>/s/<name>` answers with script <name>: its steps in order, the last for ever. Requests
   without tools (titles, probes) get "ok" and use no step, unless the script is one of `plain`, for a CLI that names no
   tools. The rest of the path chooses the dialect: Anthropic's Messages, OpenAI's Responses and Chat Completions,
   Gemini's generateContent.
2. A step is {"text": …, "tools": [[name, input], …]} or an HTTP error {"status": …, "type": …, "message": …}. {"until":
   mark} repeats it until a request has the mark; with {"then": step} it repeats for ever, and `then` answers whenever
   the last message has the mark. TURN in it is the number of messages, since Gemini CLI ends runs with equal calls.
3. For Gemini a tool name "*end" is the first declared tool that ends so.
"""

import json
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast


# Anthropic's Messages as far as Claude Code needs it.
def message(step: dict[str, Any], model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": step["text"]}] if step.get("text") else []
    for tool, given in step.get("tools", []):
        content.append({"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": tool, "input": given})
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if step.get("tools") else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as the events of a stream."""
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start: dict[str, Any] = {"type": "text", "text": ""}
            delta: dict[str, Any] = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


# Google's generateContent as far as Gemini CLI needs it.
def gemini_answer(step: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """A step as an answer; as a stream it is the only event."""
    schema = (body.get("generationConfig") or {}).get("responseJsonSchema")
    if schema and not body.get("tools"):  # it asks itself something, such as which model to take
        step = {"text": json.dumps(_filled(schema))}
    parts: list[dict[str, Any]] = [{"text": step["text"]}] if step.get("text") else []
    parts += [{"functionCall": {"name": _declared(name, body), "args": given}} for name, given in step.get("tools", [])]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "modelVersion": "scripted",
        "responseId": uuid.uuid4().hex,
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
    }


def _filled(schema: dict[str, Any]) -> Any:
    if (kind := str(schema.get("type", "")).lower()) == "object":
        return {name: _filled(of) for name, of in (schema.get("properties") or {}).items()}
    if schema.get("enum"):
        return schema["enum"][0]
    return {"integer": 1, "number": 1, "boolean": False, "array": []}.get(kind, "ok")


def _declared(name: str, body: dict[str, Any]) -> str:
    if not name.startswith("*"):
        return name
    groups = [group.get("functionDeclarations") or [] for group in body.get("tools") or []]
    names = (str(one.get("name")) for group in groups for one in group)
    return next((found for found in names if found.endswith(name[1:])), name)


# OpenAI's Responses API as far as Codex needs it.
USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}


def items(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if step.get("text"):
        content = [{"type": "output_text", "text": step["text"], "annotations": []}]
        yield {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": content}
    for name, given in step.get("tools", []):
        namespace, _, own = name.rpartition("::")
        call = {"id": _id("fc"), "call_id": _id("call"), "name": own, "status": "completed"}
        if namespace:  # a tool of an MCP server: mcp__<server>::<tool>
            call["namespace"] = namespace
        if isinstance(given, str):
            yield {"type": "custom_tool_call", **call, "input": given}
        else:
            yield {"type": "function_call", **call, "arguments": json.dumps(given)}


def openai_events(step: dict[str, Any], model: str) -> Iterator[dict[str, Any]]:
    """A step as the events of a stream."""
    response = {"id": _id("resp"), "object": "response", "model": model, "output": []}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    output = list(items(step))
    for index, item in enumerate(output):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {
        "type": "response.completed",
        "response": {**response, "status": "completed", "output": output, "usage": USAGE},
    }


# OpenAI's Chat Completions, which most other CLIs speak.
CHAT = "chat/completions"


def chat(step: dict[str, Any], model: str) -> dict[str, Any]:
    """A step as an answer."""
    calls = [
        {"id": _id("call"), "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for name, given in step.get("tools", [])
    ]
    message = {"role": "assistant", "content": step.get("text"), **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": _id("chat"), "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


def chunks(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer as the events of a stream."""
    (choice,) = whole["choices"]
    calls = [{"index": place, **call} for place, call in enumerate(choice["message"].get("tool_calls", ()))]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    base = {**whole, "object": "chat.completion.chunk", "usage": None}
    yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**base, "choices": [], "usage": whole["usage"]}


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:16]}"


Step = dict[str, Any]


class Scripts:
    """What is answered next, by name."""

    def __init__(self, scripts: dict[str, list[Step]], plain: Collection[str] = ()) -> None:
        self.scripts = {name: list(steps) for name, steps in scripts.items()}
        self.plain = plain
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def next(self, name: str, body: dict[str, Any]) -> Step:
        if not body.get("tools") and name not in self.plain:
            return {"text": "ok"}
        with self.lock:
            steps = self.scripts[name]
            if "then" in steps[0]:
                said = body.get("messages") or body.get("input") or body.get("contents") or [None]
                if steps[0]["until"] in json.dumps(said[-1]):
                    return cast(Step, steps[0]["then"])
                return cast(Step, json.loads(json.dumps(steps[0]).replace("TURN", str(len(said)))))
            self.requests.append({"script": name, "body": body})
            if "until" in steps[0] and steps[0]["until"] not in json.dumps(body):
                return steps[0]
            if "until" in steps[0]:
                del steps[0]
            return steps.pop(0) if len(steps) > 1 else steps[0]


class _Handler(BaseHTTPRequestHandler):
    scripts: Scripts

    def log_message(self, format: str, *args: object) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, _, name, *rest = self.path.partition("?")[0].split("/")
        path = "/".join(rest)
        if path not in ("v1/messages", "v1/responses") and not path.endswith(("enerateContent", CHAT)):
            self._send(404, "application/json", b"{}")
            return
        step = self.scripts.next(name, body)
        if "status" in step:
            kind = {"type": step["type"], "message": step["message"]}
            if path.endswith("enerateContent"):
                kind = {"code": step["status"], "status": step["type"], "message": step["message"]}
            elif path == "v1/responses":
                kind["code"] = step["type"]
            self._send(step["status"], "application/json", json.dumps({"type": "error", "error": kind}).encode())
        elif path == "v1/responses":
            self._stream(openai_events(step, body["model"]))
        elif path.endswith("enerateContent"):
            answer = gemini_answer(step, body)
            self._stream([answer] if ":stream" in path else answer)
        elif path.endswith(CHAT):
            whole = chat(step, body["model"])
            self._stream(chunks(whole) if body.get("stream") else whole, b"data: [DONE]\n\n")
        else:
            whole = message(step, body["model"])
            self._stream(events(whole) if body.get("stream") else whole)

    def _stream(self, what: dict[str, Any] | Iterable[dict[str, Any]], end: bytes = b"") -> None:
        if isinstance(what, dict):
            self._send(200, "application/json", json.dumps(what).encode())
            return
        parts = ((f"event: {e['type']}\n" if "type" in e else "") + f"data: {json.dumps(e)}\n\n" for e in what)
        self._send(200, "text/event-stream", "".join(parts).encode() + end)

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve(scripts: Scripts, port: int = 0) -> ThreadingHTTPServer:
    """Serve on a free port of the loopback, or this one, in a thread; `server_port` tells which."""
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"scripts": scripts}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
