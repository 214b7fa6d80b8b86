"""Gemini CLI's stream-json events: reading them, and what they say to a person.

1. A line that is no JSON object is a note; an event of an unknown type says nothing. Neither is an error.
2. Text comes in pieces, one event each; there is no cost in its events.
"""

import json
from collections.abc import Mapping
from typing import Any

from ...core.text.cleaning import clean
from ...core.transcript import Line, LineKind
from ..adapter import Use
from ..events import called, lined, mapping, moment, parse, tokens

_TEXT = 4000
_MAIN_INPUT = ("command", "file_path", "pattern", "dir_path", "path", "url", "query", "description")
TOKENS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens", "cached": "cache_read_input_tokens"}


def lines(raw: bytes) -> tuple[Line, ...]:
    """What one line of stdout says."""
    event = parse(raw)
    if event is None:
        text = raw.decode(errors="replace")
        return (lined(LineKind.NOTE, text),) if clean(text).strip() else ()
    return tuple(line for line in _read(event) if line.text)


def used(raw: bytes) -> Use | None:
    """What a message in the session's file tells of its call."""
    event = parse(raw) if b'"tokens"' in raw else None
    total = tokens(mapping(event).get("tokens"), {"total": "total"}).get("total", 0)
    if event is None or event.get("type") != "gemini" or total <= 0:
        return None
    return Use(str(event.get("id")), total, total, at=moment(event.get("timestamp")))


def message(event: Mapping[str, Any]) -> str:
    """What the error of an event says, out of the JSON that it may be wrapped in."""
    return str(mapping(event.get("error")).get("message") or event.get("message") or "")


def status(text: str) -> int | None:
    """The HTTP status in an API error's own JSON."""
    start = text.find("{")
    try:
        found = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    code = mapping(mapping(found).get("error")).get("code")
    return code if isinstance(code, int) else None


def _read(event: Mapping[str, Any]) -> list[Line]:
    kind = str(event.get("type"))
    if kind == "init":
        session = str(event.get("session_id", ""))
        return [lined(LineKind.NOTE, f"session {session}, model {event.get('model', '')}", {"session": session})]
    if kind == "message" and event.get("role") == "assistant":
        return [lined(LineKind.TEXT, str(event.get("content", "")), limit=_TEXT)]
    if kind == "tool_use":
        name, given = str(event.get("tool_name", "tool")), mapping(event.get("parameters"))
        what = next((str(given[key]) for key in _MAIN_INPUT if given.get(key)), "")
        data = {"tool": name, "id": str(event.get("tool_id", ""))}
        return [called(name, what, data)]
    if kind == "tool_result":
        failed = {"id": str(event.get("tool_id", "")), "failed": event.get("status") != "success"}
        return [lined(LineKind.RESULT, message(event) or str(event.get("output") or "(no output)"), failed)]
    if kind == "error":
        return [lined(LineKind.NOTE, message(event))]
    return _result(event) if kind == "result" else []


def _result(event: Mapping[str, Any]) -> list[Line]:
    used = tokens(event.get("stats"), TOKENS)
    found = [lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)]
    if event.get("status") != "success":
        found.append(lined(LineKind.LIMIT, f"API error: {message(event)}", {"error": message(event)}))
    return [*found, lined(LineKind.NOTE, f"ended: {event.get('status')}")]
