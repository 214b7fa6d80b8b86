"""What the end of a Codex process means.

1. Success: exit 0, and the last turn is completed. Errors that a later turn got over are none.
2. Without a network Codex waits for ever: a run that was killed while it waited has met an outage.
3. Its errors have no codes, only sentences: an HTTP status in one is asked first, then the wording of 0.169.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.beads.outcomes import Outcome
from .. import cli
from ..adapter import UNSEEN, AgentEnd, killed
from ..endings import by_status_and, by_wording, ended_well, not_started, worded
from ..events import mapping, tokens
from .events import TOKENS, message

_STATUS = re.compile(r"(?:unexpected|last) status:? (\d{3})\b")
_WORDING = worded(
    (r"ran out of room in the model's context window|context_length_exceeded", Outcome.CONTEXT_OVERFLOW),
    (r"hit your usage limit|rate limit (?:exceeded|reached)|usage limit has been reached", Outcome.RATE_LIMITED),
    (r"quota exceeded|check your plan and billing|insufficient_quota", Outcome.BILLING),
    (r"missing environment variable|refresh token|not logged in|api key|token (?:has )?expired", Outcome.AUTH),
    (r"requires a newer version of codex|please upgrade to the latest", Outcome.VERSION_UNSUPPORTED),
    (r"model\b.* (?:does not exist|is not supported|not found)", Outcome.MODEL_UNAVAILABLE),
    (r"experiencing high demand|overloaded|at capacity|internal server error", Outcome.PROVIDER_DOWN),
    (r"waiting for network|stream disconnected|error sending request", Outcome.NETWORK),
    (r"invalid_request_error", Outcome.INVALID_REQUEST),
    (r"connection (?:failed|refused|reset)|timed? ?out", Outcome.NETWORK),
)
_USAGE = 2
"""The exit code for arguments that it does not know. They are always the same, so it is too old or too new for them."""
_SESSION_GONE = ("no rollout found", "No saved session", "thread not found", "session not found")


@dataclass(slots=True)
class Read(cli.Read):
    """What the events of one process came to."""

    worked_or_said: bool = False  # the model wrote a word or called a tool
    completed: bool = False
    failed: str | None = None
    waits: str | None = None  # what it said when it began to try again
    text: str = ""

    last = re.compile(rb'"turn\.(?:completed|failed)"')

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        """The end of a turn; another turn, or an item, begins anew."""
        kind = str(event.get("type"))
        if kind in ("turn.completed", "turn.failed"):
            return True
        return False if kind.startswith(("turn.", "item.")) else None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one more event in."""
        kind = event.get("type")
        said = message(event) if kind == "error" else ""
        self.waits = said if said.startswith("Reconnecting") else None
        if kind == "thread.started":
            self.session = str(event.get("thread_id") or "") or self.session
        elif kind == "turn.started":
            self.completed, self.failed = False, None
        elif kind == "turn.completed":
            self.completed, self.failed, self.worked = True, None, True
            self.tokens = tokens(event.get("usage"), TOKENS)
        elif kind == "turn.failed":
            self.completed, self.failed = False, message(event)
        elif kind in ("item.started", "item.completed"):
            item = mapping(event.get("item"))
            self.worked = self.worked or item.get("type") != "error"
            deed = item.get("type") not in ("error", "reasoning", "agent_message")
            self.worked_or_said = self.worked_or_said or deed or bool(str(item.get("text", "")).strip())
            if item.get("type") == "agent_message":
                self.text = str(item.get("text", ""))


def outcome(end: AgentEnd, read: Read) -> tuple[Outcome, str]:
    """By the last turn, its error and the exit code together."""
    signal = killed(end.code)
    if read.waits is not None and (signal is not None or end.code is None):
        return _class_of(read.waits), f"{signal or UNSEEN}, while it waited: {read.waits}"
    if signal is not None:
        return Outcome.KILLED, signal
    if read.failed is not None:
        return _class_of(read.failed), read.failed
    if end.code is None and not read.completed:
        return Outcome.LOST, UNSEEN
    if read.session is None:
        gone = any(wording in end.errors for wording in _SESSION_GONE)
        known = Outcome.VERSION_UNSUPPORTED if end.code == _USAGE else None
        return not_started("Codex", end, Outcome.SESSION_LOST if gone else known)
    if not read.completed or end.code not in (0, None):
        return Outcome.CRASHED, f"it exited with {end.code} in the middle of a turn: {end.errors}"
    if not read.worked_or_said:
        return Outcome.EMPTY_OUTPUT, "its turn was completed, and the model had said and done nothing"
    return ended_well(read.text)


def _class_of(text: str) -> Outcome:
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    status = _STATUS.search(text)
    wording = by_wording(_WORDING, text)
    if wording in (Outcome.CONTEXT_OVERFLOW, Outcome.BILLING):  # each comes with the status of something else
        return wording
    return by_status_and(int(status[1]) if status else None, wording) or Outcome.CRASHED
