"""The lines of our ACP client: what they say to a person, and what the end of its process means.

1. Success: exit 0, and the last line is `end` with the stop reason `end_turn`. An agent that said and did nothing at
   all has given no work, whatever its stop reason.
2. A run that went on without the guard's canary is refused, whatever it did.
3. The protocol has few error codes: for the rest the HTTP status and the wording that an agent hands on are asked.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.cleaning import clean, shorten
from ...core.outcomes import Outcome
from ...core.transcript import Line, LineKind, marker_outcome, read_marker
from ..adapter import UNSEEN, AgentEnd, Use, Verdict, killed
from ..endings import RESUMABLE, by_status, not_started, worded
from ..events import lined, mapping, parse, tokens
from ..guarded import NOT_GUARDED, answered
from ..resets import reset_time

_TEXT = 4000
_TOKENS = {name: name for name in ("input_tokens", "output_tokens", "cache_read_input_tokens")}
_BY_STOP: Mapping[str, Outcome] = {
    "max_tokens": Outcome.CONTEXT_OVERFLOW,
    "max_turn_requests": Outcome.TURN_LIMIT,
    "refusal": Outcome.INVALID_REQUEST,
    "cancelled": Outcome.INTERRUPTED,
}
_BY_ERROR: Mapping[str, Outcome] = {
    "guard": Outcome.GUARD_FAILED,
    "missing": Outcome.MISSING_EXECUTABLE,
    "not_executable": Outcome.BAD_CONFIGURATION,
    "version": Outcome.VERSION_UNSUPPORTED,
    "session_lost": Outcome.SESSION_LOST,
    "auth": Outcome.AUTH,
}
_STATUS = re.compile(r"(?:status|code)\W{1,6}(?:code\W{1,3})?([45]\d\d)\b|\b(?:HTTP|Error:?) ([45]\d\d)\b", re.I)
_WORDING = worded(
    (r"context (?:window|length)|prompt is too long|maximum number of tokens", Outcome.CONTEXT_OVERFLOW),
    (r"usage limit|rate.?limit|quota|RESOURCE_EXHAUSTED|too many requests", Outcome.RATE_LIMITED),
    (r"billing|credit balance|insufficient_quota|payment required", Outcome.BILLING),
    (r"api.?key|unauthori[sz]ed|authentication|not logged in|log ?in", Outcome.AUTH),
    (r"model\W.*(?:not found|does not exist|not supported)", Outcome.MODEL_UNAVAILABLE),
    (r"overloaded|high demand|service unavailable|internal server error", Outcome.PROVIDER_DOWN),
    (r"fetch failed|econnrefused|econnreset|enotfound|etimedout|connection (?:refused|reset|error)", Outcome.NETWORK),
)
_SAYS_MORE = (Outcome.CONTEXT_OVERFLOW, Outcome.BILLING)
"""Each of these comes with the status of something else."""


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
        return [lined(LineKind.TOOL_CALL, title or "tool", data)]
    if kind == "result":
        return [lined(LineKind.RESULT, text or "(done)", {**data, "failed": event.get("failed") is True})]
    if kind == "permission" and event.get("allowed") is not True:
        return [lined(LineKind.RESULT, f"refused: {title}: {event.get('why', '')}", {**data, "failed": True})]
    if kind == "usage":
        used = tokens(event, _TOKENS)
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


@dataclass(slots=True)
class _Read:
    """What the lines of one process came to."""

    session: str | None = None
    resumes: bool = False
    worked: bool = False  # something happened that comes after the start of the session
    text: str = ""
    end: Mapping[str, Any] | None = None
    cost: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "session":
            self.session = str(event.get("session") or "") or None
            self.resumes = event.get("resumes") is True
        elif kind == "text":
            self.worked, self.text = True, self.text + str(event.get("text", ""))
        elif kind in ("tool", "thought", "permission", "result"):
            self.worked = True
            self.text = "" if kind == "tool" else self.text
        elif kind == "usage":
            self.tokens = tokens(event, _TOKENS) or self.tokens
            spent = mapping(event.get("cost"))
            amount = spent.get("amount")
            if spent.get("currency") == "USD" and isinstance(amount, int | float):
                self.cost = float(amount)
        elif kind == "end":
            self.end = event


def _read(raw: Iterable[bytes]) -> _Read:
    read = _Read()
    for line in raw:
        read.take(parse(line) or {})
    return read


def refuses(head: bytes, canary: str) -> str | None:
    """Why a run whose output begins with `head` was not guarded; None: it was, or nothing happened yet."""
    read = _read(head.split(b"\n")[:-1])
    return NOT_GUARDED if read.worked and not answered(canary) else None


def session(raw: Iterable[bytes]) -> str | None:
    """The id of the session, where it can be gone on with."""
    read = _read(raw)
    return read.session if read.resumes else None


def verdict(end: AgentEnd) -> Verdict:
    """The outcome of the process, with tokens, cost and session where the agent told them."""
    read = _read(end.lines)
    outcome, detail = _outcome(end, read)
    return Verdict(
        outcome,
        shorten(clean(detail).strip(), 2000),
        session=read.session if outcome in RESUMABLE and read.resumes else None,
        cost_usd=read.cost,
        tokens=read.tokens,
        resets_at=reset_time(detail, end.at) if outcome is Outcome.RATE_LIMITED else None,
    )


def _outcome(end: AgentEnd, read: _Read) -> tuple[Outcome, str]:
    if read.worked and not answered(end.canary):
        return Outcome.GUARD_FAILED, NOT_GUARDED
    stop = str(read.end.get("stop")) if read.end is not None and "error" not in read.end else ""
    signal = killed(end.code)
    if signal is not None and stop != "cancelled":
        return Outcome.KILLED, signal
    if read.end is None:
        return _without_end(end, read)
    if "error" in read.end:
        message = str(read.end.get("message") or "")
        return _failure(str(read.end.get("error")), read.end.get("code"), f"{message}\n{end.errors}".strip())
    if stop != "end_turn":
        return _BY_STOP.get(stop, Outcome.CRASHED), f"it ended early: {stop}. {read.text}"
    if end.code not in (0, None):
        return Outcome.BAD_CONFIGURATION, f"it exited with {end.code} after a success: {end.errors}"
    if not read.worked:
        return Outcome.EMPTY_OUTPUT, "it ended its turn without a word and without a deed"
    marked = marker_outcome(read_marker(read.text))
    if marked is not None and marked is not Outcome.COMPLETED:
        return marked, f"its marker says so: {read.text}"
    return Outcome.COMPLETED, read.text


def _without_end(end: AgentEnd, read: _Read) -> tuple[Outcome, str]:
    if end.code is None:
        return Outcome.LOST, UNSEEN
    if read.session is None:
        return not_started("the ACP client", end)
    return Outcome.CRASHED, f"it exited with {end.code} and no end: {end.errors}"


def _failure(kind: str, code: object, text: str) -> tuple[Outcome, str]:
    """The class of an error: what our client knows, then status and wording of what the agent said."""
    known = _BY_ERROR.get(kind)
    if known is not None:
        return known, text
    wording = next((outcome for pattern, outcome in _WORDING if pattern.search(text)), None)
    if wording in _SAYS_MORE:
        return wording, text
    status = _STATUS.search(text)
    found = by_status(code) if isinstance(code, int) and code > 0 else None  # some give the HTTP status as it is
    found = found or (by_status(int(status[1] or status[2])) if status else None)
    default = Outcome.CRASHED if kind in ("turn", "died") else Outcome.BAD_CONFIGURATION
    return found or wording or default, text
