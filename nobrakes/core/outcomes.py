"""How an attempt can end: one table that says for each ending what follows from it.

The reasons and their order are those of docs/design.md, "Endings". A usage limit, an outage or a broken
machine is not the bead's failure and does not count.
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
    NO_WORK = "no_work"
    CONTRADICTED_ITSELF = "contradicted_itself"
    CRASHED = "crashed"
    KILLED = "killed"
    STALLED = "stalled"
    TIMED_OUT = "timed_out"
    CONTEXT_OVERFLOW = "context_overflow"
    TURN_LIMIT = "turn_limit"
    # waiting for a person: does not count
    BLOCKED = "blocked"
    CONFLICT = "conflict"
    # the machine or the provider: does not count
    BROKEN_CHECKS = "broken_checks"
    WORKSPACE_FAILED = "workspace_failed"
    MISSING_EXECUTABLE = "missing_executable"
    BAD_CONFIGURATION = "bad_configuration"
    AUTH = "auth"
    BILLING = "billing"
    RATE_LIMITED = "rate_limited"
    PROVIDER_DOWN = "provider_down"
    NETWORK = "network"
    MODEL_UNAVAILABLE = "model_unavailable"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows: does it count as a failed attempt, and how long to wait before the next one."""

    counts: bool
    backoff: bool = False  # wait, longer each time it repeats, before the next attempt
    needs_person: bool = False  # no later attempt can help before somebody mends it


_COUNTS = Consequence(counts=True)
_MACHINE = Consequence(counts=False, backoff=True)
_PERSON = Consequence(counts=False, needs_person=True)

TABLE: Mapping[Outcome, Consequence] = {
    Outcome.COMPLETED: Consequence(counts=False),
    Outcome.GAVE_UP_CONTEXT: _COUNTS,
    Outcome.GAVE_UP_TESTS: _COUNTS,
    Outcome.FAILED: _COUNTS,
    Outcome.FAILED_REVIEW: _COUNTS,
    Outcome.BOUNDARY: _COUNTS,
    Outcome.NOT_RED: _COUNTS,
    Outcome.NO_WORK: _COUNTS,
    Outcome.CONTRADICTED_ITSELF: _COUNTS,
    Outcome.CRASHED: _COUNTS,
    Outcome.KILLED: _COUNTS,
    Outcome.STALLED: _COUNTS,
    Outcome.TIMED_OUT: _COUNTS,
    Outcome.CONTEXT_OVERFLOW: _COUNTS,
    Outcome.TURN_LIMIT: _COUNTS,
    Outcome.BLOCKED: Consequence(counts=False),
    Outcome.CONFLICT: _PERSON,
    Outcome.BROKEN_CHECKS: _PERSON,
    Outcome.WORKSPACE_FAILED: _MACHINE,
    Outcome.MISSING_EXECUTABLE: _PERSON,
    Outcome.BAD_CONFIGURATION: _PERSON,
    Outcome.AUTH: _PERSON,
    Outcome.BILLING: _PERSON,
    Outcome.RATE_LIMITED: _MACHINE,
    Outcome.PROVIDER_DOWN: _MACHINE,
    Outcome.NETWORK: _MACHINE,
    Outcome.MODEL_UNAVAILABLE: _PERSON,
    Outcome.INTERRUPTED: Consequence(counts=False),
    Outcome.CANCELLED: Consequence(counts=False),
}


def retry_after(outcome: Outcome, repeats: int) -> float:
    """Seconds to wait after `outcome` happened `repeats` times in a row: 30 s doubling, at most 15 minutes."""
    if not TABLE[outcome].backoff:
        return 0.0
    return float(min(30 * 2 ** max(0, repeats - 1), 900))
