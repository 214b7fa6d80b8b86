"""Claude Code's stream-json events: reading them, and what they say to a person.

1. A line that is no JSON object is a note; an event of an unknown type says nothing. Neither is an error.
2. Usage and cost are taken from `result` alone: those of an assistant message are a snapshot of its start. They are
   good enough to tell, while it works, how full its context is and about how many tokens went by.
"""

from collections.abc import Mapping
from typing import Any

from ...core.text.cleaning import clean
from ...core.transcript import Line, LineKind
from ..adapter import Use
from ..events import called, lined, mapping, parse

_TEXT = 4000
_TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MAIN_INPUT = ("command", "file_path", "pattern", "path", "notebook_path", "url", "query", "description")


def text_of(value: object) -> str:
    """The text in a message's content: a string, or the text blocks of a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(str(block["text"]) for block in value if isinstance(block, dict) and "text" in block)
    return ""


def tokens_of(usage: object) -> dict[str, int]:
    """The token counts of a `usage` object."""
    found = mapping(usage)
    return {key: found[key] for key in _TOKENS if isinstance(found.get(key), int)}


def used(raw: bytes) -> Use | None:
    """What an assistant message tells of its call; the context is that of the agent itself, not of a subagent."""
    event = parse(raw) if b'"usage"' in raw else None
    if event is None or event.get("type") != "assistant":
        return None
    message = mapping(event.get("message"))
    tokens = sum(tokens_of(message.get("usage")).values())
    if not tokens:
        return None
    return Use(str(message.get("id")), tokens, 0 if event.get("parent_tool_use_id") else tokens)


def limit_of(event: Mapping[str, Any]) -> tuple[str, float | None]:
    """Status and reset time (seconds since 1970) of a rate_limit_event."""
    info = mapping(event.get("rate_limit_info")) or event
    resets = info.get("resetsAt", info.get("resets_at"))
    known = isinstance(resets, int | float) and not isinstance(resets, bool)
    return str(info.get("status", "")), float(resets) if known else None


def lines(raw: bytes) -> tuple[Line, ...]:
    """What one line of stdout says."""
    event = parse(raw)
    if event is None:
        text = raw.decode(errors="replace")
        return (lined(LineKind.NOTE, text),) if clean(text).strip() else ()
    reader = _READERS.get(str(event.get("type")))
    return tuple(line for line in reader(event) if line.text) if reader else ()


def _system(event: Mapping[str, Any]) -> list[Line]:
    subtype = str(event.get("subtype"))
    if subtype == "init":
        data = {"session": str(event.get("session_id", "")), "model": str(event.get("model", ""))}
        return [lined(LineKind.NOTE, f"session {data['session']}, model {data['model']}", data)]
    if subtype == "api_retry":
        what = f"{event.get('error')}, attempt {event.get('attempt')} of {event.get('max_retries')}"
        return [lined(LineKind.LIMIT, f"the API is asked again: {what}", {"error": str(event.get("error"))})]
    if subtype == "permission_denied":
        return [lined(LineKind.NOTE, f"denied: {event.get('tool_name', 'a tool')}")]
    if subtype == "hook_response" and event.get("exit_code") not in (0, None):
        return [lined(LineKind.NOTE, f"hook {event.get('hook_event')} said no: {event.get('stderr', '')}")]
    if subtype == "informational":
        return [lined(LineKind.NOTE, str(event.get("content", event.get("message", ""))))]
    return []


def _assistant(event: Mapping[str, Any]) -> list[Line]:
    found: list[Line] = []
    content = mapping(event.get("message")).get("content")
    for block in content if isinstance(content, list) else []:
        kind = mapping(block).get("type")
        if kind == "text":
            found.append(lined(LineKind.TEXT, str(block.get("text", "")), limit=_TEXT))
        elif kind == "thinking":
            found.append(lined(LineKind.THINKING, str(block.get("thinking", "")), limit=_TEXT))
        elif kind == "tool_use":
            found.append(_tool_call(block))
    if event.get("error"):
        found.append(lined(LineKind.LIMIT, f"API error: {event['error']}", {"error": str(event["error"])}))
    return found


def _tool_call(block: Mapping[str, Any]) -> Line:
    name = str(block.get("name", "tool"))
    given = mapping(block.get("input"))
    what = next((str(given[key]) for key in _MAIN_INPUT if given.get(key)), "")
    data = {"tool": name, "id": str(block.get("id", ""))}
    return called(name, what, data)


def _user(event: Mapping[str, Any]) -> list[Line]:
    found: list[Line] = []
    content = mapping(event.get("message")).get("content")
    for block in content if isinstance(content, list) else []:
        if mapping(block).get("type") == "tool_result":
            failed = block.get("is_error") is True
            data = {"id": str(block.get("tool_use_id", "")), "failed": failed}
            text = text_of(block.get("content")) or "(no output)"
            found.append(lined(LineKind.RESULT, text, data))
    return found


def _rate_limit(event: Mapping[str, Any]) -> list[Line]:
    status, resets = limit_of(event)
    return [lined(LineKind.LIMIT, f"usage limit: {status}", {"status": status, "resets_at": resets})]


def _result(event: Mapping[str, Any]) -> list[Line]:
    found: list[Line] = []
    tokens = tokens_of(event.get("usage"))
    if tokens:
        found.append(lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in tokens.items()), tokens))
    cost = event.get("total_cost_usd")
    if isinstance(cost, int | float):
        found.append(lined(LineKind.COST, f"{cost:.4f} USD", {"usd": cost}))
    ended = f"{event.get('subtype')}, {event.get('terminal_reason', 'no reason')}, {event.get('num_turns')} turns"
    found.append(lined(LineKind.NOTE, f"ended: {ended}", {"is_error": event.get("is_error") is True}))
    return found


_READERS = {
    "system": _system,
    "assistant": _assistant,
    "user": _user,
    "rate_limit_event": _rate_limit,
    "result": _result,
}
