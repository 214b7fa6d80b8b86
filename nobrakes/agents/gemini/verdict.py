"""What the end of a Gemini CLI process means.

1. Success: exit 0, and the last event is a `result` with status success. TERM also ends it with 0, without a result.
2. Its exit code after an API error is the HTTP status modulo 256, which looks like a signal's: a result is asked first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.beads.outcomes import Outcome
from .. import cli
from ..adapter import UNSEEN, AgentEnd, killed
from ..endings import by_status, by_wording, ended_well, not_started, worded
from ..events import tokens
from ..resets import reset_time
from .events import TOKENS, message, status

_BY_CODE: Mapping[int, Outcome] = {
    41: Outcome.AUTH,
    42: Outcome.BAD_CONFIGURATION,
    44: Outcome.BAD_CONFIGURATION,
    52: Outcome.BAD_CONFIGURATION,
    53: Outcome.TURN_LIMIT,
    55: Outcome.BAD_CONFIGURATION,
    130: Outcome.INTERRUPTED,
}
"""The CLI's own exit codes."""
_WORDING = worded(
    (r"api key not valid|API_KEY_INVALID|api key expired", Outcome.AUTH),
    (r"token count .* exceeds|exceeds the maximum number of tokens|context window", Outcome.CONTEXT_OVERFLOW),
    (r"exhausted your|quota exceeded|exceeded your current quota|RESOURCE_EXHAUSTED", Outcome.RATE_LIMITED),
    (r"max(?:imum)? session turns", Outcome.TURN_LIMIT),
    (r"billing", Outcome.BILLING),
    (r"INVALID_ARGUMENT", Outcome.INVALID_REQUEST),
    (r"models?/?\S* (?:is )?not found", Outcome.MODEL_UNAVAILABLE),
    (r"overloaded|high demand", Outcome.PROVIDER_DOWN),
    (r"fetch failed|econnrefused|econnreset|enotfound|etimedout|socket hang up", Outcome.NETWORK),
)
_LOOP = re.compile(r"loop detected", re.I)
"""What it says when the same call comes again and again."""
_UNKNOWN = re.compile(r"unknown arguments?:", re.I)
"""What it says of arguments that it does not know. They are always the same: it is too old or too new for them."""
_SESSION_GONE = ("Invalid session identifier", "No previous sessions found", "Error resuming session")
_FIRST = (Outcome.AUTH, Outcome.CONTEXT_OVERFLOW)
"""These come with status 400, which says nothing."""


@dataclass(slots=True)
class Read(cli.Read):
    """What the events of one process came to."""

    stopped: str = ""  # what it said when it ended the run itself: its result tells of success nevertheless
    said_or_did: bool = False  # the model wrote a word or called a tool
    result: Mapping[str, Any] | None = None
    result_is_last: bool = False
    text: str = ""

    last = re.compile(rb'"type":\s*"result"')

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        """A result; what is said or done after it begins anew."""
        kind = event.get("type")
        return kind == "result" if kind in ("result", "message", "tool_use", "tool_result") else None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one more event in."""
        kind = event.get("type")
        if kind == "init":
            self.session = str(event.get("session_id") or "") or None
        elif kind == "result":
            self.result, self.result_is_last = event, True
            self.worked = self.worked or event.get("status") == "success"
            self.tokens = tokens(event.get("stats"), TOKENS)
        elif kind == "error" and _LOOP.search(message(event)):
            self.stopped = message(event)
        elif kind == "tool_use" or (kind == "message" and event.get("role") == "assistant"):
            self.worked, self.result_is_last = True, False
            text = str(event.get("content", ""))
            self.said_or_did = self.said_or_did or kind == "tool_use" or bool(text.strip())
            self.text = self.text + text if event.get("delta") is True else text

    def resets_at(self, end: AgentEnd, detail: str) -> float | None:
        """By what its errors say as well."""
        return reset_time(f"{detail}\n{end.errors}", end.at)


def outcome(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    """By the last result, its error and the exit code together."""
    if read.result is None or not read.result_is_last:
        return _without_result(end, read)
    if read.result.get("status") != "success":
        text = message(read.result)
        return _class_of(text, end.code), text
    signal = killed(end.code)
    if signal is not None:
        return Outcome.KILLED, f"{signal}, after its result"
    if end.code not in (0, None):
        return Outcome.BAD_CONFIGURATION, f"it exited with {end.code} after a success: {end.errors}"
    if read.stopped:
        return Outcome.CRASHED, f"it ended the run itself: {read.stopped}"
    if not read.said_or_did:
        return Outcome.EMPTY_OUTPUT, "it ended well, and the model had said and done nothing"
    return ended_well(read.text)


def _without_result(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    own = _BY_CODE.get(end.code) if end.code is not None else None
    if end.code is None:
        return Outcome.LOST, UNSEEN
    signal = killed(end.code)
    if signal is not None and own is None:
        return Outcome.KILLED, signal
    if any(wording in end.errors for wording in _SESSION_GONE):
        own = Outcome.SESSION_LOST
    elif read.session is None and _UNKNOWN.search(end.errors):
        own = Outcome.VERSION_UNSUPPORTED
    if read.session is None:
        return not_started("Gemini CLI", end, own)
    return own or Outcome.CRASHED, f"it exited with {end.code} and no result: {end.errors}"


def _class_of(text: str, code: int | None) -> Outcome:
    wording = by_wording(_WORDING, text)
    if wording in _FIRST:
        return wording
    http = status(text) or (code + 256 if code is not None and code >= 400 - 256 else None)
    own = _BY_CODE.get(code) if code is not None else None
    if http in (400, 422):
        return wording or Outcome.INVALID_REQUEST
    return by_status(http) or own or wording or Outcome.CRASHED
