"""Notices, and their deliveries through one channel.

1. A notice is written once for what happened; each channel that takes it gets a delivery of its own.
2. A delivery is `due` until it has ended: sent, failed for good, counted in a digest, or no longer of interest.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime, timedelta, tzinfo
from enum import Enum, StrEnum
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import unquote, urlsplit

from ..agents.limits import PREFIX, reached_text
from ..beads.model import Outcome
from ..checks.contract import SETUP_FAILED
from ..command_table import typed_anywhere
from ..decisions.model import EscalationType
from ..errors import ConfigError
from ..events.kinds import Event, Kind
from ..records import copied, frozen
from ..sessions.model import State
from ..text.cleaning import clean, count, redacted, shorten


class Severity(StrEnum):
    """How much it matters, the least first."""

    INFO = "info"
    WARNING = "warning"
    URGENT = "urgent"

    @property
    def rank(self) -> int:
        """Higher is more important."""
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
    """A delivery's state; all but `due` are final."""

    DUE = "due"
    SENT = "sent"
    FAILED = "failed"
    DIGESTED = "digested"
    ANSWERED = "answered"


MAX_TEXT = 2000


@frozen
class NewNotice:
    """A notice to write, unless a recent one has its fingerprint."""

    kind: NoticeKind
    severity: Severity
    text: str
    bead: str | None = None
    session: int | None = None
    escalation: int | None = None
    link: str = ""
    fingerprint: str = ""


@frozen
class NoticeRecord:
    """A stored notice. `told_at`: its last delivery."""

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


@frozen
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


@frozen
class Queue:
    """A channel's queue. `due`: due single notices, `next_at`: the next one's time. `sent`: messages in the last
    window, `digest_at`: its last digest."""

    channel: str
    due: int = 0
    digests: int = 0
    next_at: float | None = None
    sent: int = 0
    digest_at: float | None = None


@frozen
class OpenQuestion:
    """An open escalation that was reported `times` times, last at `told_at`."""

    notice: NoticeRecord
    told_at: float
    times: int


@frozen
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


@frozen
class Sent:
    """A delivery's end; empty `error`: accepted."""

    channel: str
    delivery: int
    error: str = ""


@frozen
class ChannelRules:
    """The accepted kinds (`*`: all) from this severity on."""

    name: str
    kinds: tuple[str, ...] = ("*",)
    least: Severity = Severity.INFO


@frozen
class Rules:
    """`quiet`: from and to as minutes of the day; None: no quiet hours."""

    channels: tuple[ChannelRules, ...] = ()
    quiet: tuple[int, int] | None = None
    renotify_seconds: float = 0.0
    digest_after: int = 10
    keep_seconds: float = 30 * 86_400.0
    names: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(one.name for one in self.channels))


# A message says where it comes from in its title, and never begins like an option of a command.
EVERY = "*"
MAX_TITLE = 120


def takes(channel: ChannelRules, notice: NoticeRecord | NewNotice) -> bool:
    return (EVERY in channel.kinds or notice.kind.value in channel.kinds) and notice.severity.rank >= channel.least.rank


def routes(rules: Rules, notice: NoticeRecord | NewNotice) -> list[str]:
    return [channel.name for channel in rules.channels if takes(channel, notice)]


def bounded(text: str, most: int = MAX_TEXT) -> str:
    return shorten(redacted(clean(text)).strip(), most)


def message(notice: NoticeRecord, root: str) -> Message:
    """The notice as sent, from this repository. Its commands work in any folder."""
    project, text = root.rpartition("/")[2], typed_anywhere(notice.text, root)
    kind = notice.kind.value.replace("_", " ")
    about = f" {notice.bead}" if notice.bead else ""
    urgent = "URGENT: " if notice.severity.value == "urgent" else ""
    title = shorten(" ".join(bounded(f"nobrakes {urgent}{project}:{about} {kind}").split()), MAX_TITLE)
    words = _as_words(bounded(text)) or kind
    return copied(Message, notice, title=title, text=words, at=notice.created_at)


def _as_words(text: str) -> str:
    """No program takes the text for an option or file name."""
    return f"» {text}" if text.startswith(("-", "@", "/", "<")) else text


def numbers(found: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found)


# A try that failed is repeated after 30 s, 1 min, 2 min … at most an hour. Within a window a channel gets at most
# `digest_after` single messages and one digest, so whatever happens at most `digest_after` + 2 a minute.
FIRST_PAUSE = 30.0
MAX_PAUSE = 3600.0
MAX_TRIES = 8
WINDOW = 60.0
SAME_WITHIN = 600.0
MAX_REMINDERS = 3


def next_try(tries: int, now: float) -> float | None:
    """The time of the next try; None: give up."""
    if tries >= MAX_TRIES:
        return None
    return now + min(MAX_PAUSE, FIRST_PAUSE * 2.0 ** max(0, tries - 1))


class Step(Enum):
    """A free channel's next action."""

    NOTHING = "nothing"
    SEND = "send"
    DIGEST = "digest"


def step(queue: Queue, digest_after: int, now: float) -> tuple[Step, float | None]:
    """The next action, and when to ask again if it is none."""
    if queue.digests:
        return Step.SEND, None
    if not queue.due:
        return Step.NOTHING, queue.next_at
    if queue.due + queue.sent <= digest_after:
        return Step.SEND, None
    free_at = now if queue.digest_at is None or queue.digest_at > now else queue.digest_at + WINDOW
    return (Step.DIGEST, None) if free_at <= now else (Step.NOTHING, free_at)


def reminds_at(question: OpenQuestion, rules: Rules) -> float | None:
    if not rules.renotify_seconds or question.times > MAX_REMINDERS:
        return None
    return question.told_at + rules.renotify_seconds


# Quiet hours are a time of the local day, and may cross midnight. On a day on which the clock is set back, a time that
# comes twice begins them the first time and ends them the second; one that the clock jumps over is the jump.
_QUIET_HINT = 'Write quiet hours as "22:00-07:00", or "" for none.'
_FORM = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")


def parsed(text: str) -> tuple[int, int] | None:
    """`22:00-07:00` as minutes of the day; None: empty. Raises ConfigError."""
    if not text.strip():
        return None
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"notify.quiet_hours '{text[:40]}' is not a period of the day", _QUIET_HINT)
    hour, minute, until_hour, until_minute = (int(part) for part in found.groups())
    begin, end = 60 * hour + minute, 60 * until_hour + until_minute
    if begin == end:
        raise ConfigError("notify.quiet_hours begin and end at the same time", _QUIET_HINT)
    return begin, end


def quiet_until(quiet: tuple[int, int] | None, now: float, zone: tzinfo) -> float | None:
    """The end of the present quiet hours."""
    if quiet is None:
        return None
    begin, end = quiet
    today = datetime.fromtimestamp(now, zone).date()
    for days in (-1, 0):
        first = today + timedelta(days=days)
        last = first if begin < end else first + timedelta(days=1)
        if _to_time(first, begin, zone, fold=0) <= now < (over := _to_time(last, end, zone, fold=1)):
            return over
    return None


def _to_time(day: date, minutes: int, zone: tzinfo, fold: int) -> float:
    """The time at which the local clock shows it, first or second; for a skipped time, after the jump."""
    wall = datetime(day.year, day.month, day.day, minutes // 60, minutes % 60)
    one, other = (wall.replace(tzinfo=zone, fold=at).timestamp() for at in (0, 1))
    if one <= other:  # it comes once, or twice
        return other if fold else one
    before = _offset(other, zone)  # it is left out: the jump lies between the two readings
    low, high = other, one
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(middle, zone) == before else (low, middle)
    return high


def _offset(moment: float, zone: tzinfo) -> timedelta | None:
    return datetime.fromtimestamp(moment, zone).utcoffset()


SHOWN = 5
MAX_LINE = 200


def digest(counts: Sequence[tuple[str, int]], shown: Sequence[NoticeRecord]) -> NewNotice:
    """The message for `counts` (kind, number); `shown`: the most important, not empty."""
    ordered = sorted(counts, key=lambda one: (-one[1], one[0]))
    total = sum(many for _, many in ordered)
    lines = [f"{count(total, 'notice')}: {numbers(ordered)}"]
    for one in shown[:SHOWN]:
        about = f"{one.bead}: " if one.bead else ""
        mark = "! " if one.severity is Severity.URGENT else ""
        lines.append(f"{mark}{about}{bounded(' '.join(one.text.split()), MAX_LINE)}")
    if total > len(shown[:SHOWN]):
        lines.append(f"and {total - len(shown[:SHOWN])} more: `nobrakes events` shows everything")
    most = max((one.severity for one in shown), key=lambda severity: severity.rank)
    return NewNotice(NoticeKind.DIGEST, most, "\n".join(lines))


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def mistake(url: str, insecure: bool) -> str:
    """Why a webhook's address is wrong; empty: valid. Does not quote it, since it may hold a secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "the address is not a URL"
    if parts.scheme not in ("https", "http") or not host or not url.isprintable() or " " in url:
        return "the address must begin with https:// and name a host"
    if parts.scheme == "http" and not insecure and not is_loopback(host):
        return "http is allowed only for this machine: use https, or set `insecure = true`"
    return ""


# Services quote the address that they were given, whole or in parts.
_PARTS = re.compile(r"[/:@?&=,\s]+")
SHORTEST = 6
"""Shorter parts of a secret (a port, `mailto`) may appear in errors."""
MAX_DETAIL = 300
HIDDEN = "…"


def scrubbed(text: str, secret: str) -> str:
    """One short line without the secret or long parts of it."""
    parts = {secret, unquote(secret), *_PARTS.split(secret), *_PARTS.split(unquote(secret))}
    for part in sorted((one for one in parts if len(one) >= SHORTEST), key=len, reverse=True):
        text = text.replace(part, HIDDEN)
    return shorten(" ".join(redacted(clean(text)).split()), MAX_DETAIL)


FOR_PEOPLE = frozenset({Outcome.AUTH.value, Outcome.BILLING.value})
_QUESTIONS = frozenset({EscalationType.QUESTION.value, EscalationType.PLAN_REVIEW.value})


def refusal(event: Event) -> str:
    """The effect of a provider's refusal."""
    reason = str(event.data["reason"]).replace("_", " ")
    minutes = max(0.0, float(event.data["until"]) - event.at) / 60
    text = f"{event.data['provider']}: {reason}; no agent starts at this provider for {minutes:.0f} min"
    return f"{text}, then nobrakes tries again: {' '.join(str(event.data['detail']).split())[:200]}"


def cap_text(event: Event) -> str:
    name, spent, limit = str(event.data["cap"]), float(event.data["spent"]), float(event.data["limit"])
    if name.startswith(PREFIX):
        return reached_text(name, spent, limit)
    return f"no new work starts: the cap caps.{name} is reached ({spent:g} of {limit:g})"


def notice_of(event: Event) -> NewNotice | None:
    """None: no notice needed."""
    make = _MAKES.get(event.kind)
    return None if make is None else make(event)


def _made(event: Event, kind: NoticeKind, severity: Severity, text: str, same: str = "", link: str = "") -> NewNotice:
    """`same`: identifies equal recent notices; without it each event is a notice."""
    escalation, session = event.data.get("escalation"), event.data.get("session")
    return NewNotice(
        kind,
        severity,
        bounded(text),
        event.bead,
        int(session) if session is not None else None,
        int(escalation) if escalation is not None else None,
        link,
        f"{kind.value}:{event.bead or ''}:{same}" if same else f"event:{event.seq}",
    )


def _severity(event: Event, default: Severity) -> Severity:
    said = str(event.data.get("severity", ""))
    return Severity(said) if said in [one.value for one in Severity] else default


def _asked(event: Event) -> NewNotice:
    number, title, type_ = event.data.get("escalation"), event.data.get("title", ""), event.data.get("type", "")
    is_question = type_ in _QUESTIONS
    kind = NoticeKind.QUESTION if is_question else NoticeKind.ESCALATION
    default = Severity.WARNING
    if event.kind is Kind.SUGGESTED:
        kind, default = NoticeKind.SUGGESTION, Severity.INFO
    verb = "answer" if is_question else "resolve"
    how = f"`nobrakes {verb} {number}`" if is_question else f"`nobrakes escalation {number}`"
    what = str(type_).replace("_", " ")
    return _made(
        event,
        kind,
        _severity(event, default),
        f"{what} {number}: {title} ({how})",
        f"{number}:{title}",
        f"escalation/{number}",
    )


def _merged(event: Event) -> NewNotice:
    commit = str(event.data.get("merged_commit") or "")[:12]
    return _made(
        event, NoticeKind.MERGED, Severity.INFO, f"{event.bead} was merged" + (f" as {commit}" if commit else "")
    )


def _pull(event: Event) -> NewNotice:
    """Each once; comments and red checks of a request share a notice."""
    data = event.data
    name = f"pull request #{data['pr_number']}" if data.get("pr_number") else f"branch {data.get('branch', '')}"
    whose, link = f"{name} of {event.bead}", str(data.get("pr_url") or "")
    if event.kind is Kind.PULL_ISSUE_FOUND:
        what = f"the check {data['check']} failed" if data.get("check") else f"{data.get('by')} asks for changes"
        text = f"{whose}: {what} (`nobrakes pr show {event.bead}`)"
        return _made(event, NoticeKind.PULL_REQUEST, Severity.WARNING, text, f"issue {data.get('pr_number')}")
    if event.kind is Kind.PULL_APPROVED:
        return _made(event, NoticeKind.PULL_REQUEST, Severity.INFO, f"{whose} is approved by {data.get('by')}: {link}")
    return _made(event, NoticeKind.PULL_REQUEST, Severity.INFO, f"{whose} is waiting for people: {link}")


def _frozen(event: Event) -> NewNotice:
    failed = any(str(row.get("reason")).startswith(SETUP_FAILED) for row in event.data.get("results") or ())
    why = SETUP_FAILED if failed else "main is red"
    return _made(event, NoticeKind.MAIN_FROZEN, Severity.URGENT, f"{why}: nobrakes merges only beads of type repair")


def _refuses(event: Event) -> NewNotice | None:
    if event.data["times"] != 1:  # it closes again as long as it lasts, and that is not news
        return None
    severity = Severity.URGENT if event.data["reason"] in FOR_PEOPLE else Severity.INFO
    return _made(event, NoticeKind.PROVIDER_REFUSES, severity, refusal(event), str(event.data["provider"]))


def _notified(event: Event) -> NewNotice:
    text = str(event.data.get("text", ""))
    return _made(event, NoticeKind.AGENT_NOTIFY, Severity.INFO, f"{event.actor}: {text}", f"{event.actor}:{text}")


def _talked(event: Event) -> NewNotice | None:
    """Questions have escalations, and automatic progress needs no notice."""
    session = event.data["session"]
    show = f"`nobrakes session show {session}`"
    if event.data.get("state") == State.IDLE.value:
        return _made(event, NoticeKind.SESSION, Severity.INFO, f"session {session}: the agent has answered ({show})")
    if event.data.get("state") == State.STUCK.value:
        why = str(event.data["outcome"]).replace("_", " ")
        return _made(event, NoticeKind.SESSION, Severity.WARNING, f"session {session} stopped: {why} ({show})")
    if event.data.get("outcome") == Outcome.TIMED_OUT.value:
        text = f"session {session}: a turn took too long; nobrakes ended it and tries again ({show})"
        return _made(event, NoticeKind.SESSION, Severity.WARNING, text)
    return None


def _feature_notice(event: Event) -> NewNotice:
    text = f"feature {event.bead}: {event.data['text']} (`nobrakes forge show {event.bead}`)"
    return _made(event, NoticeKind.SESSION, _severity(event, Severity.INFO), text, f"{event.bead}:{text}")


def _sign_off(event: Event) -> NewNotice:
    reviews = count(int(event.data["reviews"]), "review")
    what = f"the plan of feature {event.bead} is waiting for your sign-off after {reviews}"
    text = f"{what} (`nobrakes forge show {event.bead}`)"
    return _made(event, NoticeKind.SESSION, Severity.WARNING, text)


def _sprint_notice(event: Event) -> NewNotice | None:
    state, number = str(event.data.get("state", "")), event.data.get("sprint")
    if number is not None:
        over = f"sprint {number} has ended, and its review is on main"
        return _made(event, NoticeKind.SESSION, Severity.INFO, over) if state == "done" else None
    text = f"the sprints are {state}: {event.data.get('reason', '')} (`nobrakes project status`)"
    if state in ("missed", "refused"):
        return _made(
            event, NoticeKind.SESSION, Severity.WARNING, f"sprints did not start: {event.data.get('reason', '')}"
        )
    if state == "claimed":
        text = f"the project is waiting for you: {event.data.get('reason', '')} (`nobrakes project status`)"
        return _made(event, NoticeKind.SESSION, Severity.URGENT, text)
    if state == "waits":
        text = f"the sprints are waiting for your approval: {event.data.get('reason', '')} (`nobrakes project status`)"
        return _made(event, NoticeKind.SESSION, Severity.URGENT, text)
    return _made(event, NoticeKind.SESSION, Severity.INFO, text) if state in ("complete", "over") else None


def _unconfined(event: Event) -> NewNotice:
    return _made(event, NoticeKind.DAEMON_TROUBLE, Severity.WARNING, str(event.data.get("why", "")), "unconfined")


def _danger(event: Event) -> NewNotice:
    session = event.data.get("session")
    look = f"`nobrakes watch {event.bead or f'session~{session}'}`"
    text = f"{event.actor} may do harm: {event.data['why']} ({look}): {event.data['text']}"
    return _made(event, NoticeKind.DANGER, Severity.URGENT, text)


_MAKES: Mapping[Kind, Callable[[Event], NewNotice | None]] = {
    Kind.ESCALATED: _asked,
    Kind.SUGGESTED: _asked,
    Kind.MERGED: _merged,
    Kind.FOUND_MERGED: _merged,
    Kind.PULL_OPENED: _pull,
    Kind.PULL_ISSUE_FOUND: _pull,
    Kind.PULL_APPROVED: _pull,
    Kind.EPIC_COMPLETED: lambda event: _made(
        event, NoticeKind.EPIC_COMPLETED, Severity.INFO, f"epic {event.bead} is complete"
    ),
    Kind.MAIN_FROZEN: _frozen,
    Kind.MAIN_UNFROZEN: lambda event: _made(event, NoticeKind.MAIN_GREEN, Severity.INFO, "main passes again"),
    Kind.MAIN_REWRITTEN: lambda event: _made(
        event, NoticeKind.MAIN_REWRITTEN, Severity.URGENT, str(event.data["text"])
    ),
    Kind.CAP_REACHED: lambda event: _made(
        event, NoticeKind.CAP_REACHED, Severity.WARNING, cap_text(event), str(event.data["cap"])
    ),
    Kind.GATE_CLOSED: _refuses,
    Kind.NOTIFIED: _notified,
    Kind.TURN_ENDED: _talked,
    Kind.FEATURE_TOLD: _feature_notice,
    Kind.SIGN_OFF_ASKED: _sign_off,
    Kind.SPRINT_MOVED: _sprint_notice,
    Kind.UNCONFINED: _unconfined,
    Kind.DANGER_SEEN: _danger,
}


class Channels(Protocol):
    """Sends messages in the background, one at a time for each channel."""

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called after each end, from any thread."""

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        """Errors are reported by `ended`."""

    def is_busy(self, channel: str) -> bool:
        """Whether its end was not collected."""

    def ended(self) -> list[Sent]:
        """Ends since the last call."""

    def close(self, seconds: float) -> None:
        """Wait so long, then abort; `ended` then has everything."""


class NoChannels:
    """Where nothing is sent."""

    def wakes(self, wake: Callable[[], None]) -> None: ...

    def begin(self, channel: str, delivery: int, message: Message) -> None: ...

    def is_busy(self, channel: str) -> bool:
        return False

    def ended(self) -> list[Sent]:
        return []

    def close(self, seconds: float) -> None: ...
