"""What the end of a Claude Code process means. Its exit code alone lies both ways, so everything is asked.

1. Success: exit 0, the last event is a `result` that is no error, subtype success, and its reason is "completed" or
   missing. An API failure also says subtype "success"; a stopped run also exits with 0.
2. A run whose session began before the guard's canary answered was not guarded: it is refused, whatever it did.
3. Failures are classified by the fields that machines read; wording is the last resort.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.outcomes import Outcome
from ..core.transcript import clean, marker_outcome, read_marker, shorten
from .adapter import AgentEnd, Verdict, killed
from .claude_events import limit_of, parse, tokens_of

CANARY = "nobrakes-guard: ready"
NOT_GUARDED = "the guard did not answer before the session began"

_BY_ERROR: Mapping[str, Outcome] = {
    "prompt_too_long": Outcome.CONTEXT_OVERFLOW,
    "max_output_tokens": Outcome.CONTEXT_OVERFLOW,
    "authentication_failed": Outcome.AUTH,
    "billing_error": Outcome.BILLING,
    "rate_limit": Outcome.RATE_LIMITED,
    "model_not_found": Outcome.MODEL_UNAVAILABLE,
}
_BY_STATUS: Mapping[int, Outcome] = {
    401: Outcome.AUTH,
    402: Outcome.BILLING,
    403: Outcome.AUTH,
    404: Outcome.MODEL_UNAVAILABLE,
    429: Outcome.RATE_LIMITED,
}
_BY_REASON: Mapping[str, Outcome] = {
    "prompt_too_long": Outcome.CONTEXT_OVERFLOW,
    "max_turns": Outcome.TURN_LIMIT,
    "budget_exhausted": Outcome.TURN_LIMIT,
    "aborted_tools": Outcome.INTERRUPTED,
    "aborted_streaming": Outcome.INTERRUPTED,
    "hook_stopped": Outcome.BAD_CONFIGURATION,
}
_BY_SUBTYPE: Mapping[str, Outcome] = {
    "error_max_turns": Outcome.TURN_LIMIT,
    "error_max_budget_usd": Outcome.TURN_LIMIT,
}
_WORDING: tuple[tuple[re.Pattern[str], Outcome], ...] = (
    (re.compile(r"prompt is too long", re.I), Outcome.CONTEXT_OVERFLOW),
    (re.compile(r"please run /login|oauth token (?:revoked|has expired)|invalid api key", re.I), Outcome.AUTH),
    (re.compile(r"credit balance is too low|add funds to continue", re.I), Outcome.BILLING),
    (
        re.compile(
            r"you've hit your .*limit|limit\s*(?:reached\s*)?·\s*resets|usage limit reached|rate limit reached", re.I
        ),
        Outcome.RATE_LIMITED,
    ),
    (re.compile(r"econnrefused|econnreset|enotfound|etimedout|connection error|fetch failed", re.I), Outcome.NETWORK),
)
_SESSION_UNUSABLE = ("No conversation found with session ID", "is already in use")
"""A session that is gone or taken is no fault of the bead: the next attempt starts a fresh one."""


@dataclass(slots=True)
class _Read:
    """What the events of one process came to."""

    session: str | None = None
    guarded: bool = False
    began: bool = False
    began_guarded: bool = False
    result: Mapping[str, Any] | None = None
    result_is_last: bool = False
    error: str = ""
    status: int | None = None
    resets_at: float | None = None
    words: list[str] = field(default_factory=list)

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "system":
            self._system(event)
        elif kind == "rate_limit_event":
            status, resets = limit_of(event)
            self.resets_at = resets if status == "rejected" else None
        elif kind == "result":
            self.result, self.result_is_last = event, True
            self.session = str(event.get("session_id") or "") or self.session
        elif kind in ("assistant", "user"):
            self.result_is_last = False
            if kind == "assistant":
                self.error = str(event.get("error") or "")

    def _system(self, event: Mapping[str, Any]) -> None:
        subtype = event.get("subtype")
        if subtype == "hook_response" and event.get("hook_event") == "SessionStart":
            said = f"{event.get('stdout', '')}\n{event.get('output', '')}"
            self.guarded = self.guarded or CANARY in said.splitlines()
        elif subtype == "init" and not self.began:
            self.began, self.began_guarded = True, self.guarded
            self.session = str(event.get("session_id") or "") or None


def refuses(head: bytes) -> str | None:
    """Why a run whose output begins with `head` was not guarded; None: it was, or it did not begin yet."""
    read = _Read()
    for raw in head.split(b"\n")[:-1]:
        read.take(parse(raw) or {})
    return NOT_GUARDED if read.began and not read.began_guarded else None


def verdict(end: AgentEnd) -> Verdict:
    """The outcome of the process, with its cost and session."""
    read = _Read()
    for raw in end.lines:
        read.take(parse(raw) or {})
    outcome, detail = _outcome(end, read)
    result = read.result or {}
    cost = result.get("total_cost_usd")
    return Verdict(
        outcome,
        shorten(clean(detail).strip(), 2000),
        session=read.session if outcome in _RESUMABLE else None,
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        tokens=tokens_of(result.get("usage")),
        resets_at=read.resets_at if outcome is Outcome.RATE_LIMITED else None,
    )


_RESUMABLE = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.BLOCKED,
        Outcome.RATE_LIMITED,
        Outcome.PROVIDER_DOWN,
        Outcome.NETWORK,
        Outcome.AUTH,
        Outcome.BILLING,
        Outcome.INTERRUPTED,
        Outcome.KILLED,
        Outcome.TURN_LIMIT,
    }
)
"""After these the session is whole and worth its context; after any other a fresh one does better."""


def _outcome(end: AgentEnd, read: _Read) -> tuple[Outcome, str]:
    if read.began and not read.began_guarded:
        return Outcome.BAD_CONFIGURATION, NOT_GUARDED
    signal = killed(end.code)
    if signal is not None:
        return Outcome.KILLED, signal
    if end.code == 127:
        return Outcome.MISSING_EXECUTABLE, f"Claude Code was not found: {end.errors}"
    if end.code == 126:
        return Outcome.BAD_CONFIGURATION, f"Claude Code may not be executed: {end.errors}"
    if read.result is None:
        return _without_result(end, read)
    result = read.result
    text = str(result.get("result") or "; ".join(map(str, result.get("errors") or ())))
    if result.get("is_error") is not False or result.get("subtype") != "success":
        return _failure(result, read, text)
    if result.get("terminal_reason") not in ("completed", None):
        reason = str(result.get("terminal_reason"))
        return _BY_REASON.get(reason, Outcome.CRASHED), f"it ended early: {reason}"
    if end.code != 0:
        return Outcome.BAD_CONFIGURATION, f"it exited with {end.code} after a success: {end.errors}"
    if result.get("num_turns") == 0:
        return Outcome.BAD_CONFIGURATION, f"it did nothing: {text}"
    if not read.result_is_last:
        return Outcome.CRASHED, "it ended in the middle of a turn"
    marked = marker_outcome(read_marker(text))
    if marked is not None and marked is not Outcome.COMPLETED:
        return marked, f"its marker says so: {text}"
    return Outcome.COMPLETED, text


def _without_result(end: AgentEnd, read: _Read) -> tuple[Outcome, str]:
    errors = end.errors.strip()
    if read.began or end.code == 0:
        return Outcome.CRASHED, f"it exited with {end.code} and no result: {errors}"
    if _session_unusable(errors):
        return Outcome.WORKSPACE_FAILED, errors
    return Outcome.BAD_CONFIGURATION, f"it did not start: {errors}"


def _failure(result: Mapping[str, Any], read: _Read, text: str) -> tuple[Outcome, str]:
    """The class of a failed result: reason and subtype, the error's name, the HTTP status, then the wording."""
    status = result.get("api_error_status")
    reason, subtype = str(result.get("terminal_reason")), str(result.get("subtype"))
    wording = next((outcome for pattern, outcome in _WORDING if pattern.search(text)), None)
    found = (
        _BY_REASON.get(reason)
        or (Outcome.CONTEXT_OVERFLOW if wording is Outcome.CONTEXT_OVERFLOW else None)
        or _BY_SUBTYPE.get(subtype)
        or _BY_ERROR.get(read.error)
        or _by_status(status)
        or (Outcome.NETWORK if read.error == "server_error" else None)
        or wording
        or (Outcome.WORKSPACE_FAILED if _session_unusable(text) and not read.began else Outcome.CRASHED)
    )
    return found, text or f"{subtype}, {reason}"


def _session_unusable(text: str) -> bool:
    return any(wording in text for wording in _SESSION_UNUSABLE)


def _by_status(status: object) -> Outcome | None:
    if not isinstance(status, int):
        return None
    return Outcome.PROVIDER_DOWN if status >= 500 else _BY_STATUS.get(status)
