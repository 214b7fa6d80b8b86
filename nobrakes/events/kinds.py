"""The kinds of events, named in past tense, and positions in their log. Only an event moves a bead (beads.lifecycle).

1. A kind never changes its meaning; new meanings get new kinds.
2. `data` holds JSON values only, bounded by whoever records it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from ..records import frozen
from ..text.cleaning import is_seen, only_seen

if TYPE_CHECKING:
    from ..beads.model import Attempt, BeadRow
    from ..decisions.model import Escalation

QUIET: Final = True
"""Marks kinds that a rebuilt database need not know. Others record a fact of the plan or a person's decision or
question."""


class Kind(StrEnum):
    """Every kind of event, in the order of a bead's life; `events.catalog` has what is said of each."""

    is_quiet: bool

    def __new__(cls, value: str, is_quiet: bool = False) -> "Kind":
        made = str.__new__(cls, value)
        made._value_ = value
        made.is_quiet = is_quiet
        return made

    # the graph
    PROPOSED = "proposed"
    CHANGED = "changed"
    APPROVED = "approved"
    CHANGE_PROPOSED = "change_proposed"
    CHANGE_DROPPED = "change_dropped"
    CHANGE_APPROVED = "change_approved"
    STRATEGY_APPROVED = "strategy_approved"
    HELD = "held"
    RELEASED = "released"
    DEFERRED = "deferred"
    DEPENDENCY_ADDED = "dependency_added"
    DEPENDENCY_REMOVED = "dependency_removed"
    # attempts
    TEST_WRITER_STARTED = "test_writer_started", QUIET
    TESTS_PROVEN_RED = "tests_proven_red"
    TESTS_REJECTED = "tests_rejected"
    TEST_WRITER_STOPPED = "test_writer_stopped"
    DOER_STARTED = "doer_started", QUIET
    WORK_SUBMITTED = "work_submitted"
    DOER_STOPPED = "doer_stopped"
    STOP_ASKED = "stop_asked"
    # review
    REVIEW_STARTED = "review_started", QUIET
    CHECKS_BEGAN = "checks_began", QUIET
    REVIEW_STEP = "review_step", QUIET
    REVIEW_REJECTED = "review_rejected"
    REVIEW_INTERRUPTED = "review_interrupted"
    LANDED = "landed"
    MERGED = "merged"
    FOUND_MERGED = "found_merged"
    REVERTED = "reverted"
    FLAKED = "flaked", QUIET
    CODE_REVIEW_BEGAN = "code_review_began", QUIET
    CODE_REVIEW_ENDED = "code_review_ended", QUIET
    # pull requests
    PUSH_ALLOWED = "push_allowed"
    PULL_OPENED = "pull_opened", QUIET
    PULL_REVIEW_BEGAN = "pull_review_began", QUIET
    PULL_ISSUE_FOUND = "pull_issue_found", QUIET
    PULL_APPROVED = "pull_approved", QUIET
    PULL_MERGED = "pull_merged", QUIET
    # people
    ESCALATED = "escalated"
    SUGGESTED = "suggested"
    ANSWERED = "answered"
    ANSWER_READ = "answer_read"
    ANSWER_TAKEN_BACK = "answer_taken_back"
    RESOLVED = "resolved"
    RETRIED = "retried"
    TAKEN = "taken"
    HANDED_IN = "handed_in"
    CANCELLED = "cancelled"
    DONE_BY_HAND = "done_by_hand"
    REOPENED = "reopened"
    PREVIEW_STARTED = "preview_started", QUIET
    PREVIEW_STOPPED = "preview_stopped", QUIET
    EPIC_COMPLETED = "epic_completed"
    EPIC_LANDED = "epic_landed"
    # what agents say
    LOGGED = "logged", QUIET
    PROGRESSED = "progressed", QUIET
    NOTIFIED = "notified", QUIET
    TESTED = "tested", QUIET
    HANDED_OFF = "handed_off", QUIET
    # what the daemon sees of their work
    FILES_CHANGED = "files_changed", QUIET
    TESTS_RUN = "tests_run", QUIET
    DANGER_SEEN = "danger_seen", QUIET
    # sessions
    SESSION_BEGAN = "session_began", QUIET
    SESSION_SAID = "session_said", QUIET
    TURN_STARTED = "turn_started", QUIET
    TURN_ENDED = "turn_ended", QUIET
    SESSION_ENDED = "session_ended", QUIET
    PROJECT_SET = "project_set"
    # features
    FEATURE_BEGAN = "feature_began"
    FEATURE_MOVED = "feature_moved"
    FEATURE_CHANGED = "feature_changed"
    FEATURE_TOLD = "feature_told"
    PLAN_KEPT = "plan_kept"
    PLAN_REVIEW_BEGAN = "plan_review_began"
    PLAN_REVIEW_ENDED = "plan_review_ended"
    PLAN_ROUND_ENDED = "plan_round_ended"
    SIGN_OFF_ASKED = "sign_off_asked"
    SIGNED_OFF = "signed_off"
    FINDING_MADE = "finding_made"
    FINDING_SETTLED = "finding_settled"
    ITEM_COLLECTED = "item_collected"
    ITEM_SETTLED = "item_settled"
    # projects
    SPRINT_MOVED = "sprint_moved"
    # the machine
    DAEMON_STARTED = "daemon_started", QUIET
    DAEMON_STOPPED = "daemon_stopped", QUIET
    PAUSED = "paused"
    RESUMED = "resumed"
    LIMITS_CHANGED = "limits_changed"
    CONFIG_CHANGED = "config_changed"
    QUARANTINED = "quarantined"
    QUARANTINE_LIFTED = "quarantine_lifted"
    GATE_CLOSED = "gate_closed"
    GATE_OPENED = "gate_opened"
    BREAKER_RESET = "breaker_reset"
    CAP_REACHED = "cap_reached"
    MAIN_GREEN = "main_green"
    MAIN_FROZEN = "main_frozen"
    MAIN_UNFROZEN = "main_unfrozen"
    MAIN_REWRITTEN = "main_rewritten"
    CULPRIT_FOUND = "culprit_found"
    RECOVERED = "recovered", QUIET
    BROUGHT_BACK = "brought_back"
    ARCHIVE_EXPIRED = "archive_expired"
    UNDONE = "undone"
    UNCONFINED = "unconfined"
    DEGRADED = "degraded"
    HOSTS_REFUSED = "hosts_refused"


MERGES = (Kind.MERGED, Kind.FOUND_MERGED)
"""Kinds that put a bead on main: merged by us, or found there."""


@frozen
class Event:
    """One thing that happened. `seq` and `at` are given by the store when it is recorded."""

    kind: Kind
    bead: str | None = None
    attempt: int | None = None
    actor: str = "nobrakes"
    data: Mapping[str, Any] = field(default_factory=dict)
    seq: int = 0
    at: float = 0.0


WATCHED: Final = frozenset({Kind.FILES_CHANGED, Kind.TESTS_RUN})
"""Seen of a working agent; lists for people leave them out."""

MAX_NAME = 80
UNDO_MARK = " (undo)"
"""Ends the actor's name in events of an undo."""
_SESSION = "Session "
RESERVED = frozenset((Event(Kind.PROPOSED).actor, "reviewer"))
NOBODY = "person"


class Surface(StrEnum):
    """The interface of an action."""

    CLI = "cli"
    MCP = "mcp"
    WEB = "web"


# Who acts: a name is one short line that people see whole, and none that the machine signs with.
@frozen
class Actor:
    """Somebody who acts. Events are signed with `name`."""

    name: str
    surface: Surface


def session_actor(session: int) -> str:
    return f"{_SESSION}{session}"


def is_session(actor: str) -> bool:
    """No person can take such a name."""
    return actor.startswith(_SESSION) and actor.removeprefix(_SESSION).isdecimal()


def given(name: str, surface: Surface) -> Actor:
    """Raises UsageError."""
    if wrong := _mistake(name):
        raise UsageError(
            f"'{only_seen(name)[:40]}' cannot be a name: it {wrong}", f"Use a name of at most {MAX_NAME} characters."
        )
    return Actor(name, surface)


def default_actor(name: str, surface: Surface) -> Actor:
    """The system's name, cleaned; `person` if nothing is left."""
    found = " ".join(only_seen(name).split())[:MAX_NAME].strip()
    return Actor(NOBODY if _mistake(found) else found, surface)


def _mistake(name: str) -> str:
    if not name.strip():
        return "is empty"
    if name != " ".join(name.split()) or not name.isprintable() or not is_seen(name):
        return "has leading, trailing or double spaces, line breaks, or invisible characters"
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters"
    if name.casefold() in RESERVED or name.endswith(UNDO_MARK.strip()) or is_session(name.capitalize()):
        return "is reserved for nobrakes itself"
    return ""


@frozen
class Position:
    """A position in one database's event log: seq and time. (0, 0): before all."""

    seq: int = 0
    at: float = 0.0


@frozen
class Changes:
    """Facts changed after a position; `upto`: the position they hold for. `restarted`: from another database, so
    everything is included. `settings` None: unchanged. `attempts`: ended ones. `more`: there is more after `upto`."""

    upto: Position
    beads: "Sequence[BeadRow]" = ()
    escalations: "Sequence[Escalation]" = ()
    settings: Mapping[str, str] | None = None
    restarted: bool = False
    attempts: "Sequence[Attempt]" = ()
    more: bool = False

    def __bool__(self) -> bool:
        return bool(self.beads or self.escalations or self.attempts or self.settings is not None or self.restarted)


# The mark at the end of what was written since the snapshot: up to which event nothing is missing.
MARKS_BEGIN = '{"_type":"nobrakes_mark","seq":'
BETWEEN = ',"at":'
END = "}"


def mark(place: Position) -> str:
    return f"{MARKS_BEGIN}{place.seq}{BETWEEN}{place.at!r}{END}\n"


def last_mark(text: str) -> Position | None:
    """An incomplete last line does not count."""
    for line in reversed(text.split("\n")[:-1]):
        if line.startswith(MARKS_BEGIN) and line.endswith(END):
            seq, _, at = line[len(MARKS_BEGIN) : -len(END)].partition(BETWEEN)
            try:
                return Position(int(seq), float(at))
            except ValueError:
                continue
    return None
