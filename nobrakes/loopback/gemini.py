"""Google's generateContent as far as Gemini CLI needs it: a step as one answer."""

import json
import uuid
from typing import Any


def answer(step: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
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
    """Some value that the schema allows."""
    kind = str(schema.get("type", "")).lower()
    if kind == "object":
        return {name: _filled(of) for name, of in (schema.get("properties") or {}).items()}
    if schema.get("enum"):
        return schema["enum"][0]
    return {"integer": 1, "number": 1, "boolean": False, "array": []}.get(kind, "ok")


def _declared(name: str, body: dict[str, Any]) -> str:
    """The name; one that begins with `*` is that of the first declared tool that ends so, where there is one."""
    if not name.startswith("*"):
        return name
    groups = [group.get("functionDeclarations") or [] for group in body.get("tools") or []]
    names = (str(one.get("name")) for group in groups for one in group)
    return next((found for found in names if found.endswith(name[1:])), name)
