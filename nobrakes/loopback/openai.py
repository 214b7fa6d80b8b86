"""OpenAI's Responses API as far as Codex needs it: a step as the events of a stream."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}


def items(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the model says: a message, calls of functions, and of the free-form tool `apply_patch`."""
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


def events(step: dict[str, Any], model: str) -> Iterator[dict[str, Any]]:
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


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:16]}"
