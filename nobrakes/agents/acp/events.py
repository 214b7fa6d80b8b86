"""What the lines of our ACP client say to a reader. A line that is no event is a note."""

from collections.abc import Mapping
from typing import Any

from ...core.text.cleaning import clean
from ...core.transcript import Line, LineKind
from ..adapter import Use
from ..events import lined, parse, tokens

_TEXT = 4000
TOKENS = {name: name for name in ("input_tokens", "output_tokens", "cache_read_input_tokens")}


def lines(raw: bytes) -> tuple[Line, ...]:
    """What one line of stdout says."""
    event = parse(raw)
    if event is None:
        text = raw.decode(errors="replace")
        return (lined(LineKind.NOTE, text),) if clean(text).strip() else ()
    return tuple(line for line in _readable(event) if line.text)


def _readable(event: Mapping[str, Any]) -> list[Line]:
    kind, text, title = str(event.get("type")), str(event.get("text", "")), str(event.get("title") or "")
    data = {"id": str(event.get("id", ""))}
    if kind == "session":
        again = ", gone on with" if event.get("resumed") is True else ""
        said = f"session {event.get('session', '')}{again}, {event.get('agent', '')}"
        return [lined(LineKind.NOTE, said, {"session": str(event.get("session", ""))})]
    if kind in ("text", "thought"):
        return [lined(LineKind.TEXT if kind == "text" else LineKind.THINKING, text, limit=_TEXT)]
    if kind == "tool":
        command = str(event.get("command") or "")
        more = {"tool": "execute", "given": command} if command else {}
        return [lined(LineKind.TOOL_CALL, title or "tool", {**data, **more})]
    if kind == "result":
        return [lined(LineKind.RESULT, text or "(done)", {**data, "failed": event.get("failed") is True})]
    if kind == "permission" and event.get("allowed") is not True:
        return [lined(LineKind.RESULT, f"refused: {title}: {event.get('why', '')}", {**data, "failed": True})]
    if kind == "usage":
        used = tokens(event, TOKENS)
        return [lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)]
    return _ended(event) if kind == "end" else []


def used(raw: bytes) -> Use | None:
    """How full the model's context is, where the agent tells of it; of the tokens it tells at its end alone."""
    event = parse(raw) if b'"window"' in raw else None
    if event is None or event.get("type") != "usage":
        return None
    context, window = event.get("context"), event.get("window")
    if type(context) is not int or type(window) is not int or not 0 < context <= window:
        return None
    return Use("context", 0, context, window)


def _ended(event: Mapping[str, Any]) -> list[Line]:
    if "error" in event:
        said = f"{event.get('error')}: {event.get('message', '')}"
        return [lined(LineKind.LIMIT, said, {"error": str(event.get("message", ""))})]
    return [lined(LineKind.NOTE, f"ended: {event.get('stop')}")]
