"""What the end of a Claude Code process means. Its exit code alone lies both ways, so everything is asked.

1. Success: exit 0, the last event is a `result` that is no error, subtype success, and its reason is "completed" or
   missing. An API failure also says subtype "success"; a stopped run also exits with 0.
2. A run whose session began before the guard's canary answered was not guarded: it is refused, whatever it did.
3. Where nobody saw the exit code, the result alone speaks; without a last one the attempt is lost.
4. Failures are classified by the fields that machines read; wording is the last resort.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.beads.outcomes import Outcome
from .. import cli
from ..adapter import UNSEEN, AgentEnd, killed
from ..endings import by_status_and, by_wording, ended_well, not_started, worded
from ..events import mapping
from ..guarded import SELF_TEST
from ..resets import reset_time
from .events import limit_of, tokens_of

_BY_ERROR: Mapping[str, Outcome] = {
    "prompt_too_long": Outcome.CONTEXT_OVERFLOW,
    "max_output_tokens": Outcome.CONTEXT_OVERFLOW,
    "authentication_failed": Outcome.AUTH,
    "billing_error": Outcome.BILLING,
    "rate_limit": Outcome.RATE_LIMITED,
    "model_not_found": Outcome.MODEL_UNAVAILABLE,
    "invalid_request": Outcome.INVALID_REQUEST,
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
_WORDING = worded(
    (r"prompt is too long", Outcome.CONTEXT_OVERFLOW),
    (r"please run /login|oauth token (?:revoked|has expired)|invalid api key", Outcome.AUTH),
    (r"credit balance is too low|add funds to continue", Outcome.BILLING),
    (
        r"you've hit your .*limit|limit\s*(?:reached\s*)?·\s*resets|usage limit reached|rate limit reached",
        Outcome.RATE_LIMITED,
    ),
    (r"econnrefused|econnreset|enotfound|etimedout|connection error|fetch failed", Outcome.NETWORK),
)
_OLDEST = (2, 1)
"""The first version that knows all that it is started with."""
_TOO_OLD = re.compile(r"unknown option|requires a newer version|needs an update|claude update", re.I)
"""What it says of a flag that it does not know, and of an API that does not serve it any more."""
_SESSION_UNUSABLE = ("No conversation found with session ID", "is already in use")
"""A session that is gone or taken is no fault of the bead: the next attempt starts a fresh one."""


@dataclass(slots=True)
class Read(cli.Read):
    """What the events of one process came to."""

    guarded: bool = False
    began: bool = False
    began_guarded: bool = False
    result: Mapping[str, Any] | None = None
    result_is_last: bool = False
    error: str = ""
    status: int | None = None
    limit_ends: float | None = None
    version: tuple[int, ...] = ()
    said_or_did: bool = False  # the model wrote a word or called a tool

    last = re.compile(rb'"type":\s*"result"')

    @property
    def has_begun(self) -> bool:
        """A session or a result of it."""
        return self.began or self.result is not None

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        """A result; what is said or done after it begins anew."""
        kind = event.get("type")
        return kind == "result" if kind in ("result", "assistant", "user") else None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one more event in."""
        kind = event.get("type")
        if kind == "system":
            self._system(event)
        elif kind == "rate_limit_event":
            status, resets = limit_of(event)
            self.limit_ends = resets if status == "rejected" else None
        elif kind == "result":
            self.result, self.result_is_last = event, True
            self.session = str(event.get("session_id") or "") or self.session
            cost = event.get("total_cost_usd")
            self.cost = float(cost) if isinstance(cost, int | float) else None
            self.tokens = tokens_of(event.get("usage"))
        elif kind in ("assistant", "user"):
            self.result_is_last = False
            if kind == "assistant":
                self.error = str(event.get("error") or "")
                self.said_or_did = self.said_or_did or _holds_anything(event)

    def _system(self, event: Mapping[str, Any]) -> None:
        subtype = event.get("subtype")
        if subtype == "hook_response" and event.get("hook_event") == "SessionStart":
            said = f"{event.get('stdout', '')}\n{event.get('output', '')}"
            self.guarded = self.guarded or SELF_TEST in said.splitlines()
        elif subtype == "init" and not self.began:
            self.began, self.began_guarded = True, self.guarded
            self.session = str(event.get("session_id") or "") or None
            version = str(event.get("claude_code_version") or "").split(".")[:2]
            self.version = tuple(int(part) for part in version if part.isdigit())

    def unguarded(self, self_test: str) -> bool:
        """Whether the session began before the guard answered, which is in the output itself."""
        return self.began and not self.began_guarded

    def resets_at(self, end: AgentEnd, detail: str) -> float | None:
        """By the last event that tells of a limit, else by its words."""
        return self.limit_ends or reset_time(detail, end.at)

    @property
    def too_old(self) -> bool:
        """Whether it said so of itself."""
        return bool(self.version) and self.version < _OLDEST


def _holds_anything(event: Mapping[str, Any]) -> bool:
    content = mapping(event.get("message")).get("content")
    blocks = [mapping(block) for block in content] if isinstance(content, list) else []
    return any(block.get("type") == "tool_use" or str(block.get("text") or "").strip() for block in blocks)


def outcome(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    """By the last result, the last error and the exit code together."""
    signal = killed(end.code)
    if signal is not None:
        return Outcome.KILLED, signal
    if end.code is None and (read.result is None or not read.result_is_last):
        return Outcome.LOST, UNSEEN
    if read.result is None:
        return _without_result(end, read)
    result = read.result
    text = str(result.get("result") or "; ".join(map(str, result.get("errors") or ())))
    if result.get("is_error") is not False or result.get("subtype") != "success":
        return _failure(result, read, text)
    if result.get("terminal_reason") not in ("completed", None):
        reason = str(result.get("terminal_reason"))
        return _BY_REASON.get(reason, Outcome.CRASHED), f"it ended early: {reason}"
    if end.code not in (0, None):
        return Outcome.BAD_CONFIGURATION, f"it exited with {end.code} after a success: {end.errors}"
    if result.get("num_turns") == 0:
        return Outcome.BAD_CONFIGURATION, f"it did nothing: {text}"
    if not read.result_is_last:
        return Outcome.CRASHED, "it ended in the middle of a turn"
    if not text.strip() and not read.said_or_did:
        return Outcome.EMPTY_OUTPUT, "it ended well, and the model had said and done nothing"
    return ended_well(text)


def _without_result(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    errors = end.errors.strip()
    if read.too_old or (not read.began and _TOO_OLD.search(errors)):
        return Outcome.VERSION_UNSUPPORTED, errors or f"Claude Code {'.'.join(map(str, read.version))} is too old"
    if read.began:
        return Outcome.CRASHED, f"it exited with {end.code} and no result: {errors}"
    return not_started("Claude Code", end, Outcome.SESSION_LOST if _session_unusable(errors) else None)


def _failure(result: Mapping[str, Any], read: Read, text: str) -> tuple[Outcome, str]:
    """The class of a failed result: reason and subtype, the error's name, the HTTP status, then the wording."""
    status = result.get("api_error_status")
    reason, subtype = str(result.get("terminal_reason")), str(result.get("subtype"))
    wording = by_wording(_WORDING, text)
    found = (
        _BY_REASON.get(reason)
        or (Outcome.CONTEXT_OVERFLOW if wording is Outcome.CONTEXT_OVERFLOW else None)
        or _BY_SUBTYPE.get(subtype)
        or _BY_ERROR.get(read.error)
        or (Outcome.VERSION_UNSUPPORTED if read.too_old or _TOO_OLD.search(text) else None)
        or (by_status_and(status, wording) if status is not None else None)
        or (Outcome.NETWORK if read.error == "server_error" else None)
        or wording
        or (Outcome.SESSION_LOST if _session_unusable(text) and not read.began else Outcome.CRASHED)
    )
    return found, text or f"{subtype}, {reason}"


def _session_unusable(text: str) -> bool:
    return any(wording in text for wording in _SESSION_UNUSABLE)
