"""Codex's JSON events: reading them, and what they say to a person.

1. A line that is no JSON object is a note; an event of an unknown type says nothing. Neither is an error.
2. An item of type `error` is a warning, not a failure: a turn fails by `turn.failed` alone.
3. There is no cost in its events, and a call that a hook refused leaves none.
"""

from collections.abc import Mapping
from typing import Any

from ...core.text.cleaning import clean
from ...core.transcript import Line, LineKind
from ..adapter import Use
from ..events import called, lined, mapping, moment, parse, tokens

_TEXT = 4000
TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cache_read_input_tokens",
}


def lines(raw: bytes) -> tuple[Line, ...]:
    """What one line of stdout says."""
    event = parse(raw)
    if event is None:
        text = raw.decode(errors="replace")
        return (lined(LineKind.NOTE, text),) if clean(text).strip() else ()
    kind = str(event.get("type"))
    if kind in ("item.started", "item.completed"):
        found = _item(mapping(event.get("item")), kind == "item.completed")
    elif kind == "thread.started":
        session = str(event.get("thread_id", ""))
        found = [lined(LineKind.NOTE, f"session {session}", {"session": session})]
    elif kind == "turn.completed":
        used = tokens(event.get("usage"), TOKENS)
        found = [lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)]
    elif kind in ("error", "turn.failed"):
        found = [lined(LineKind.LIMIT, f"API error: {message(event)}", {"error": message(event)})]
    else:
        found = []
    return tuple(line for line in found if line.text)


def used(raw: bytes) -> Use | None:
    """What a line of the session's file tells of a call, or of how much the model's context holds."""
    event = parse(raw) if b'"token_' in raw else None
    payload = mapping(mapping(event).get("payload"))
    if event is None:
        return None
    at = moment(event.get("timestamp"))
    if event.get("type") == "token_usage_record":  # as soon as the model has answered
        total = tokens(payload.get("usage"), {"total_tokens": "total"}).get("total", 0)
        return Use(str(payload.get("response_id")), total, total, at=at) if total > 0 else None
    if payload.get("type") == "token_count":  # when the tools have ended that it called
        window = tokens(payload.get("info"), {"model_context_window": "window"}).get("window", 0)
        return Use("", 0, 0, window, at)
    return None


def message(event: Mapping[str, Any]) -> str:
    """What an `error` or `turn.failed` says."""
    return str(mapping(event.get("error")).get("message") or event.get("message") or "")


def _item(item: Mapping[str, Any], ended: bool) -> list[Line]:
    kind, text = str(item.get("type")), str(item.get("text", ""))
    data = {"tool": kind, "id": str(item.get("id", ""))}
    if kind == "command_execution":
        if not ended:
            return [called("Bash", str(item.get("command", "")), data)]
        failed = {"id": data["id"], "failed": item.get("exit_code") != 0}
        return [lined(LineKind.RESULT, str(item.get("aggregated_output") or "(no output)"), failed)]
    if kind == "mcp_tool_call":
        return _mcp(item, ended, data)
    if not ended:
        return []
    if kind == "agent_message":
        return [lined(LineKind.TEXT, text, limit=_TEXT)]
    if kind == "reasoning":
        return [lined(LineKind.THINKING, text, limit=_TEXT)]
    if kind == "file_change":
        changes = item.get("changes")
        named = [mapping(c) for c in changes] if isinstance(changes, list) else []
        what = ", ".join(f"{c.get('kind')} {c.get('path')}" for c in named)
        return [lined(LineKind.TOOL_CALL, f"apply_patch: {what}", data)]
    if kind == "web_search":
        return [lined(LineKind.TOOL_CALL, f"web_search: {item.get('query', '')}", data)]
    return [lined(LineKind.NOTE, str(item.get("message", "")))] if kind == "error" else []


def _mcp(item: Mapping[str, Any], ended: bool, data: Mapping[str, str]) -> list[Line]:
    if not ended:
        return [lined(LineKind.TOOL_CALL, f"{item.get('server')}: {item.get('tool')}", data)]
    error = str(mapping(item.get("error")).get("message", ""))
    return [lined(LineKind.RESULT, error or "(done)", {"id": data["id"], "failed": item.get("status") == "failed"})]
