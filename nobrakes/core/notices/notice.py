"""What a notice is, and what a delivery of it through one channel.

1. A notice is written once for what happened; each channel that takes it gets a delivery of its own.
2. A delivery is `due` until it has ended: sent, failed for good, counted in a digest, or no longer of interest.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How much it matters, the least first."""

    INFO = "info"
    WARNING = "warning"
    URGENT = "urgent"

    @property
    def rank(self) -> int:
        """Greater matters more."""
        return _ORDER.index(self)


_ORDER = tuple(Severity)


class NoticeKind(StrEnum):
    """What a notice is about; the settings of a channel name them."""

    QUESTION = "question"
    ESCALATION = "escalation"
    SUGGESTION = "suggestion"
    MERGED = "merged"
    PULL_REQUEST = "pull_request"
    EPIC_COMPLETED = "epic_completed"
    MAIN_FROZEN = "main_frozen"
    MAIN_GREEN = "main_green"
    MAIN_REWRITTEN = "main_rewritten"
    CAP_REACHED = "cap_reached"
    PROVIDER_REFUSES = "provider_refuses"
    AGENT_NOTIFY = "agent_notify"
    DANGER = "danger"
    SESSION = "session"
    RUN_FINISHED = "run_finished"
    DAEMON_TROUBLE = "daemon_trouble"
    DIGEST = "digest"
    TEST = "test"


class DeliveryState(StrEnum):
    """Where a delivery stands; all but `due` are ends."""

    DUE = "due"
    SENT = "sent"
    FAILED = "failed"
    DIGESTED = "digested"
    ANSWERED = "answered"


MOST_TEXT = 2000
"""So many characters of a notice are kept and sent."""


@dataclass(frozen=True, slots=True)
class NewNotice:
    """A notice to be written. One with the fingerprint of a recent one is the same, and not written again."""

    kind: NoticeKind
    severity: Severity
    text: str
    bead: str | None = None
    session: int | None = None
    escalation: int | None = None
    link: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class NoticeRecord:
    """A notice as the outbox has it. `told_at`: when a channel took it last."""

    id: int
    kind: NoticeKind
    severity: Severity
    text: str
    bead: str | None
    session: int | None
    escalation: int | None
    link: str
    fingerprint: str
    created_at: float
    told_at: float | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notice on its way through one channel."""

    id: int
    notice: NoticeRecord
    channel: str
    state: DeliveryState
    due_at: float
    tries: int
    ended_at: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits for a channel. `due` counts single notices whose time has come, `next_at`: when the next one's does.

    `sent` counts the messages of the last window, `digest_at` is when the last digest of it was made.
    """

    channel: str
    due: int = 0
    digests: int = 0
    next_at: float | None = None
    sent: int = 0
    digest_at: float | None = None


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open escalation of which people were told `times` times, the last time at `told_at`."""

    notice: NoticeRecord
    told_at: float
    times: int


@dataclass(frozen=True, slots=True)
class Message:
    """What a channel sends."""

    title: str
    text: str
    kind: NoticeKind
    severity: Severity
    at: float
    bead: str | None = None
    session: int | None = None
    escalation: int | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """How the sending of a delivery ended; `error` is empty when the channel took it."""

    channel: str
    delivery: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """What a channel takes: these kinds (`*` is every one) that matter at least so much."""

    name: str
    kinds: tuple[str, ...] = ("*",)
    least: Severity = Severity.INFO


@dataclass(frozen=True, slots=True)
class Rules:
    """How notices are sent. `quiet`: minutes of the day from and to; None: no quiet hours."""

    channels: tuple[ChannelRules, ...] = ()
    quiet: tuple[int, int] | None = None
    renotify_seconds: float = 0.0
    digest_after: int = 10
    keep_seconds: float = 30 * 86_400.0
    names: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(one.name for one in self.channels))
