"""What the end of a Codex process means.

1. Success: exit 0, and the last turn is completed. Errors that a later turn got over are none.
2. Without a network Codex waits for ever: a run that was killed while it waited has met an outage.
3. A run that went on without the guard's canary is refused, whatever it did.
4. Its errors have no codes, only sentences: an HTTP status in one is asked first, then the wording of 0.169.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.cleaning import clean, shorten
from ...core.outcomes import Outcome
from ...core.transcript import marker_outcome, read_marker
from ..adapter import UNSEEN, AgentEnd, Verdict, killed
from ..endings import RESUMABLE, by_status_and, not_started, worded
from ..events import mapping, parse, tokens
from ..guarded import NOT_GUARDED, answered
from ..resets import reset_time
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
class _Read:
    """What the events of one process came to."""

    session: str | None = None
    worked: bool = False  # something happened that comes after the start of the session
    worked_or_said: bool = False  # the model wrote a word or called a tool
    completed: bool = False
    failed: str | None = None
    waits: str | None = None  # what it said when it began to try again
    text: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
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


def _read(lines: Iterable[bytes]) -> _Read:
    read = _Read()
    for raw in lines:
        event = parse(raw)
        if event is not None:
            read.take(event)
    return read


def refuses(head: bytes, canary: str) -> str | None:
    """Why a run whose output begins with `head` was not guarded; None: it was, or nothing happened yet."""
    read = _read(head.split(b"\n")[:-1])
    return NOT_GUARDED if read.worked and not answered(canary) else None


def session(lines: Iterable[bytes]) -> str | None:
    """The id of the thread."""
    return _read(lines).session


def verdict(end: AgentEnd) -> Verdict:
    """The outcome of the process, with its tokens and session."""
    read = _read(end.lines)
    outcome, detail = _outcome(end, read)
    return Verdict(
        outcome,
        shorten(clean(detail).strip(), 2000),
        session=read.session if outcome in RESUMABLE else None,
        tokens=read.tokens,
        resets_at=reset_time(detail, end.at) if outcome is Outcome.RATE_LIMITED else None,
    )


def _outcome(end: AgentEnd, read: _Read) -> tuple[Outcome, str]:
    if read.worked and not answered(end.canary):
        return Outcome.GUARD_FAILED, NOT_GUARDED
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
    marked = marker_outcome(read_marker(read.text))
    if marked is not None and marked is not Outcome.COMPLETED:
        return marked, f"its marker says so: {read.text}"
    return Outcome.COMPLETED, read.text


def _class_of(text: str) -> Outcome:
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    status = _STATUS.search(text)
    wording = next((outcome for pattern, outcome in _WORDING if pattern.search(text)), None)
    if wording in (Outcome.CONTEXT_OVERFLOW, Outcome.BILLING):  # each comes with the status of something else
        return wording
    return by_status_and(int(status[1]) if status else None, wording) or Outcome.CRASHED
