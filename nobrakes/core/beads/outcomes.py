"""How an attempt can end: one table that says for each ending what follows from it.

1. A usage limit, an outage or a broken machine is not the bead's failure: it does not count.
2. What the provider refuses closes the provider's gate, for every bead (core.limits.cooldowns); the bead waits without
   a mark.
3. An agent that does not start is a fault of the machine: the second bead that meets the same fault closes the agent's
   gate, with one question for all (daemon.attempts.starting). A bead that meets it alone twice goes to a person.
4. docs/reference/outcomes.md is printed from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Why an attempt ended."""

    COMPLETED = "completed"
    # the work was not good enough: counts
    GAVE_UP_CONTEXT = "gave_up_context"
    GAVE_UP_TESTS = "gave_up_tests"
    FAILED = "failed"
    FAILED_REVIEW = "failed_review"
    BOUNDARY = "boundary"
    NOT_RED = "not_red"
    WEAK_TESTS = "weak_tests"
    NO_WORK = "no_work"
    CONTRADICTED_ITSELF = "contradicted_itself"
    EMPTY_OUTPUT = "empty_output"
    CRASHED = "crashed"
    KILLED = "killed"
    STALLED = "stalled"
    TIMED_OUT = "timed_out"
    CONTEXT_OVERFLOW = "context_overflow"
    INVALID_REQUEST = "invalid_request"
    TURN_LIMIT = "turn_limit"
    # waiting for a person: does not count
    BLOCKED = "blocked"
    CONFLICT = "conflict"
    CHECKS_CHANGED = "checks_changed"
    UNUSUAL_CONTENT = "unusual_content"
    MERGE_REVIEW = "merge_review"
    CODE_REVIEW = "code_review"
    FINDINGS = "findings"
    REMARKS = "remarks"
    ASKED_AGAIN = "asked_again"
    PULL_CLOSED = "pull_closed"
    # the machine or the provider: does not count
    BROKEN_CHECKS = "broken_checks"
    LOST = "lost"
    WORKSPACE_FAILED = "workspace_failed"
    SESSION_LOST = "session_lost"
    MISSING_EXECUTABLE = "missing_executable"
    BAD_CONFIGURATION = "bad_configuration"
    GUARD_FAILED = "guard_failed"
    NOBRAKES_FAILED = "nobrakes_failed"
    VERSION_UNSUPPORTED = "version_unsupported"
    AUTH = "auth"
    BILLING = "billing"
    RATE_LIMITED = "rate_limited"
    PROVIDER_DOWN = "provider_down"
    NETWORK = "network"
    MODEL_UNAVAILABLE = "model_unavailable"
    INTERRUPTED = "interrupted"
    CAPPED = "capped"
    CANCELLED = "cancelled"


class Retry(StrEnum):
    """When the next attempt may come."""

    AT_ONCE = "at once"
    BACKOFF = "after a wait"  # longer each time it repeats
    GATE = "after the cooldown"
    STARTS = "when the agent starts again"
    PERSON = "when you decided"


class Session(StrEnum):
    """What the next attempt's agent remembers, where its CLI can."""

    RESUME = "resume"  # the session is whole and worth its context
    FRESH = "fresh"


class Told(StrEnum):
    """To whom it is reported."""

    NOBODY = "nobody"
    LAST = "you, at the last one"  # of so many failures, or of faults in a row
    ONCE = "you, once"  # for all beads together
    EACH = "you"


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows. `gate_seconds`: how long the provider's first cooldown lasts where it names no reset time."""

    counts: bool  # as a failed attempt of the bead
    retry: Retry
    session: Session
    told: Told
    gate_seconds: float = 0.0

    @property
    def backoff(self) -> bool:
        """Whether the bead waits, longer each time it repeats."""
        return self.retry is Retry.BACKOFF

    @property
    def needs_person(self) -> bool:
        """Whether no later attempt can help before somebody mends it."""
        return self.retry is Retry.PERSON

    @property
    def is_of_start(self) -> bool:
        """Whether the agent did not start, which no bead is to blame for."""
        return self.retry is Retry.STARTS

    @property
    def starts_cooldown(self) -> bool:
        """Whether nothing more is started at the provider for now."""
        return self.retry is Retry.GATE


def _gate(seconds: float, told: Told = Told.NOBODY) -> Consequence:
    return Consequence(False, Retry.GATE, Session.RESUME, told, seconds)


_COUNTS = Consequence(True, Retry.AT_ONCE, Session.FRESH, Told.LAST)
_CUT_OFF = Consequence(True, Retry.AT_ONCE, Session.RESUME, Told.LAST)
_MACHINE = Consequence(False, Retry.BACKOFF, Session.FRESH, Told.LAST)
_PERSON = Consequence(False, Retry.PERSON, Session.FRESH, Told.EACH)
_VANISHED = Consequence(False, Retry.BACKOFF, Session.RESUME, Told.LAST)
_QUIET = Consequence(False, Retry.AT_ONCE, Session.RESUME, Told.NOBODY)
_MINUTE = 60.0
_START = Consequence(False, Retry.STARTS, Session.FRESH, Told.ONCE, _MINUTE / 2)

TABLE: Mapping[Outcome, Consequence] = {
    Outcome.COMPLETED: _QUIET,
    Outcome.GAVE_UP_CONTEXT: _COUNTS,
    Outcome.GAVE_UP_TESTS: _COUNTS,
    Outcome.FAILED: _COUNTS,
    Outcome.FAILED_REVIEW: _COUNTS,
    Outcome.BOUNDARY: _COUNTS,
    Outcome.NOT_RED: _COUNTS,
    Outcome.WEAK_TESTS: _COUNTS,
    Outcome.NO_WORK: _COUNTS,
    Outcome.CONTRADICTED_ITSELF: _COUNTS,
    Outcome.EMPTY_OUTPUT: _COUNTS,
    Outcome.CRASHED: _COUNTS,
    Outcome.KILLED: _CUT_OFF,
    Outcome.STALLED: _COUNTS,
    Outcome.TIMED_OUT: _COUNTS,
    Outcome.CONTEXT_OVERFLOW: _COUNTS,
    Outcome.INVALID_REQUEST: _COUNTS,
    Outcome.TURN_LIMIT: _CUT_OFF,
    Outcome.BLOCKED: Consequence(False, Retry.AT_ONCE, Session.RESUME, Told.EACH),
    Outcome.CONFLICT: _PERSON,
    Outcome.CHECKS_CHANGED: _PERSON,
    Outcome.UNUSUAL_CONTENT: _PERSON,
    Outcome.MERGE_REVIEW: Consequence(False, Retry.PERSON, Session.RESUME, Told.EACH),
    Outcome.CODE_REVIEW: _PERSON,
    Outcome.FINDINGS: Consequence(False, Retry.AT_ONCE, Session.FRESH, Told.NOBODY),
    Outcome.REMARKS: Consequence(False, Retry.AT_ONCE, Session.FRESH, Told.NOBODY),
    Outcome.ASKED_AGAIN: _PERSON,
    Outcome.PULL_CLOSED: _PERSON,
    Outcome.BROKEN_CHECKS: _PERSON,
    Outcome.LOST: _VANISHED,
    Outcome.WORKSPACE_FAILED: _MACHINE,
    Outcome.SESSION_LOST: _MACHINE,
    Outcome.MISSING_EXECUTABLE: _START,
    Outcome.BAD_CONFIGURATION: _START,
    Outcome.GUARD_FAILED: _START,
    Outcome.NOBRAKES_FAILED: _PERSON,
    Outcome.VERSION_UNSUPPORTED: _START,
    Outcome.AUTH: _gate(15 * _MINUTE, Told.ONCE),
    Outcome.BILLING: _gate(15 * _MINUTE, Told.ONCE),
    Outcome.RATE_LIMITED: _gate(5 * _MINUTE, Told.ONCE),
    Outcome.PROVIDER_DOWN: _gate(_MINUTE, Told.ONCE),
    Outcome.NETWORK: _gate(_MINUTE / 2, Told.ONCE),
    Outcome.MODEL_UNAVAILABLE: _PERSON,
    Outcome.INTERRUPTED: _QUIET,
    Outcome.CAPPED: _QUIET,
    Outcome.CANCELLED: _QUIET,
}


def retry_after(outcome: Outcome, repeats: int) -> float:
    """Seconds to wait after `outcome` happened `repeats` times in a row: 30 s doubling, at most 15 minutes.

    An outcome of the provider waits here only where there can be no cooldown: an agent without a provider.
    """
    if TABLE[outcome].retry not in (Retry.BACKOFF, Retry.GATE, Retry.STARTS):
        return 0.0
    return float(min(30 * 2 ** max(0, repeats - 1), 900))
