"""What the end of our ACP client means.

1. Success: exit 0, and the last line is `end` with the stop reason `end_turn`. An agent that said and did nothing at
   all has given no work, whatever its stop reason.
2. The protocol has few error codes: for the rest the HTTP status and the wording that an agent hands on are asked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.beads.outcomes import Outcome
from .. import cli
from ..adapter import UNSEEN, AgentEnd, killed
from ..endings import by_status, by_wording, ended_well, not_started, worded
from ..events import mapping, tokens
from .events import TOKENS

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


@dataclass(slots=True)
class Read(cli.Read):
    """What the lines of one process came to."""

    began: bool = False  # there is a session, be it one that cannot be gone on with
    text: str = ""
    end: Mapping[str, Any] | None = None

    last = re.compile(rb'"type":\s*"end"')

    @property
    def has_begun(self) -> bool:
        """A session, be it one that cannot be gone on with."""
        return self.began or self.worked

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        """The `end` of our client."""
        kind = event.get("type")
        return kind == "end" if kind in ("end", "text", "tool", "thought", "permission", "result") else None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one more event in."""
        kind = event.get("type")
        if kind == "session":
            named = str(event.get("session") or "")
            self.began = bool(named)
            self.session = named if named and event.get("resumes") is True else None
        elif kind == "text":
            self.worked, self.text = True, self.text + str(event.get("text", ""))
        elif kind in ("tool", "thought", "permission", "result"):
            self.worked = True
            self.text = "" if kind == "tool" else self.text
        elif kind == "usage":
            self.tokens = tokens(event, TOKENS) or self.tokens
            spent = mapping(event.get("cost"))
            amount = spent.get("amount")
            if spent.get("currency") == "USD" and isinstance(amount, int | float):
                self.cost = float(amount)
        elif kind == "end":
            self.end = event


def outcome(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    """By the stop reason or error in its last line, and the exit code."""
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
    return ended_well(read.text)


def _without_end(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    if end.code is None:
        return Outcome.LOST, UNSEEN
    if not read.began:
        return not_started("the ACP client", end)
    return Outcome.CRASHED, f"it exited with {end.code} and no end: {end.errors}"


def _failure(kind: str, code: object, text: str) -> tuple[Outcome, str]:
    """The class of an error: what our client knows, then status and wording of what the agent said."""
    known = _BY_ERROR.get(kind)
    if known is not None:
        return known, text
    wording = by_wording(_WORDING, text)
    if wording in _SAYS_MORE:
        return wording, text
    status = _STATUS.search(text)
    found = by_status(code) if isinstance(code, int) and code > 0 else None  # some give the HTTP status as it is
    found = found or (by_status(int(status[1] or status[2])) if status else None)
    default = Outcome.CRASHED if kind in ("turn", "died") else Outcome.BAD_CONFIGURATION
    return found or wording or default, text
