"""What becomes of a bead when an attempt ends: the outcome's consequences, in one transaction.

1. A counted failure sends the bead back; the last allowed one sends it to a person, with all that was tried.
2. A fault of the machine waits, longer each time; the fifth in a row goes to a person, the second where the agent does
   not start. What the provider refuses, and an agent that starts on no bead, leaves no mark on the bead: its cooldown
   begins (accounts.py).
3. Whatever an attempt committed is fetched to the daemon's side first: nothing is lost with its clone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.beads import blockers, escalations
from ...core.beads.attempt import Attempt, AttemptLog
from ...core.beads.bead import WAITING_FOR_AGENT, Bead, Role
from ...core.beads.causes import hypothesis
from ...core.beads.escalations import EscalationType
from ...core.beads.events import Event, Kind
from ...core.beads.history import approaches
from ...core.beads.lifecycle import GIVEN_BACK
from ...core.beads.outcomes import TABLE, Outcome, retry_after
from ...core.beads.taking import handed_back, is_by_person, submitted
from ...core.board import Limits
from ...core.forge import failing
from ...core.owners import of_bead
from ...ports.people import Notice
from ...ports.store import NewEscalation, Store
from ...roles.plan_beads import epics_above
from ..ports import Ports
from .accounts import breaker_after

MACHINE_FAULTS = 5
"""So many faults of the machine in a row, and a person is asked."""

START_FAULTS = 2
"""So often in a row an agent did not start on one bead, and on no other: a person is asked."""

STARTS_AFRESH = frozenset({Outcome.BOUNDARY, Outcome.CONFLICT, Outcome.CHECKS_CHANGED, Outcome.UNUSUAL_CONTENT})
"""After these the branch is archived and the next attempt starts without it."""

_NEEDS_PERSON: Mapping[Outcome, EscalationType] = {
    Outcome.CONFLICT: EscalationType.CONFLICT,
    Outcome.CHECKS_CHANGED: EscalationType.CHECKS_CHANGED,
    Outcome.UNUSUAL_CONTENT: EscalationType.UNUSUAL_CONTENT,
    Outcome.MERGE_REVIEW: EscalationType.MERGE_REVIEW,
    Outcome.CODE_REVIEW: EscalationType.CODE_REVIEW,
    Outcome.ASKED_AGAIN: EscalationType.ASKED_AGAIN,
    Outcome.PULL_CLOSED: EscalationType.PULL_CLOSED,
    Outcome.BROKEN_CHECKS: EscalationType.BROKEN_CHECKS,
}

_DECIDED_BY_WORK = (
    EscalationType.CONFLICT,
    EscalationType.CHECKS_CHANGED,
    EscalationType.UNUSUAL_CONTENT,
    EscalationType.MERGE_REVIEW,
    EscalationType.CODE_REVIEW,
    EscalationType.ASKED_AGAIN,
    EscalationType.PULL_CLOSED,
)
"""There is nothing to guess: what a person decides on is shown."""


def close(
    ports: Ports,
    limits: Limits,
    attempt: Attempt,
    outcome: Outcome,
    detail: str,
    *,
    kind: Kind | None = None,
    head: str | None = None,
    log: AttemptLog | None = None,
    evidence: Mapping[str, Any] | None = None,
    form: Mapping[str, Any] | None = None,
) -> Bead:
    """End an attempt that did not succeed; the bead goes back, a review's to where its `kind` says, or to a person."""
    store = ports.store
    bead = store.bead(attempt.bead)
    consequence = TABLE[outcome]
    log = log or attempt.log
    if outcome in STARTS_AFRESH:
        log = AttemptLog(log.summary, log.blockers, log.learnings, keep_branch=False)
    past = [*store.attempts(bead.id)]
    repeats = _in_a_row(past, attempt, outcome)
    retry_at = None
    gate = store.gates().get(attempt.provider) if consequence.is_of_start else None
    is_shared = gate is not None and gate.is_of_start
    alone = consequence.is_of_start and not is_shared
    waits = alone or consequence.backoff or (consequence.starts_cooldown and not attempt.provider)
    if waits:
        retry_at = store.now() + retry_after(outcome, repeats)
    asked = outcome is Outcome.BLOCKED and has_asked(ports, attempt, open_only=False)
    is_persons = attempt.role is Role.REVIEWER and is_by_person(past)
    counts = consequence.counts and not is_persons
    tried = None if is_persons else breaker_after(ports, attempt, past, outcome, detail, head, limits.breaker)
    escalation = _escalation(
        bead, past, attempt, outcome, detail, log, limits, repeats if waits else 0, evidence or {}, asked
    )
    if escalation is not None and form is not None:
        escalation = replace(escalation, form=form)
    elif escalation is not None:
        escalation = offered(store, bead, escalation)
    with store.together():
        if tried is not None:
            store.save_breaker(of_bead(bead.id), *tried)
        after = store.close_attempt(
            attempt,
            kind or GIVEN_BACK[attempt.role],
            outcome,
            detail=detail[:8000],
            head=head,
            log=log,
            counts=counts,
            retry_at=retry_at,
            escalation=None if is_persons and consequence.counts else escalation,
        )
        if is_persons and after.status in WAITING_FOR_AGENT:
            _hand_back(ports, after, past, detail)
        return after


def _hand_back(ports: Ports, bead: Bead, past: Sequence[Attempt], why: str) -> None:
    """A person's work did not pass: it is theirs to mend, and no agent begins on it meanwhile."""
    done = submitted(past)
    person = done.name if done is not None else "you"
    ports.store.record(Event(Kind.HELD, bead.id, data={"reason": handed_back(person, why)}))
    then = f"Mend it, then `nobrakes hand-in {bead.id}`; or give it to agents: `nobrakes retry {bead.id}`."
    first = next(iter(why.strip().splitlines()), "it did not pass")[:200]
    ports.notifier.tell(Notice(f"{bead.id} is handed back to {person}: {first}. {then}", bead.id, urgent=True))


def has_asked(ports: Ports, attempt: Attempt, open_only: bool = True) -> bool:
    """Whether the attempt's own question or plan is open: then nothing has to be asked for it.

    Nor when it was answered a moment ago, in the last moments of an agent that had given up waiting.
    """
    found = ports.store.escalations(open_only=open_only, bead=attempt.bead)
    mine = (e.type for e in found if e.attempt == attempt.id)
    return any(type_ in (EscalationType.QUESTION, EscalationType.PLAN_REVIEW) for type_ in mine)


def _in_a_row(past: Sequence[Attempt], attempt: Attempt, outcome: Outcome) -> int:
    count = 1
    for earlier in reversed(past):
        if earlier.id == attempt.id:
            continue
        if earlier.outcome is not outcome:
            break
        count += 1
    return count


def _escalation(
    bead: Bead,
    past: Sequence[Attempt],
    attempt: Attempt,
    outcome: Outcome,
    detail: str,
    log: AttemptLog,
    limits: Limits,
    repeats: int,
    evidence: Mapping[str, Any],
    asked: bool,
) -> NewEscalation | None:
    consequence = TABLE[outcome]
    attempts = [a if a.id != attempt.id else _ended(a, outcome, detail, log) for a in past]
    tried = {"attempts": approaches(attempts), **evidence}
    if consequence.needs_person:
        type_ = _NEEDS_PERSON.get(outcome, EscalationType.BROKEN_ENVIRONMENT)
        title = f"{bead.id}: {outcome.value.replace('_', ' ')}"
        guess = "" if type_ in _DECIDED_BY_WORK else hypothesis(attempts[-1:])
        return NewEscalation(type_, title, detail, tried, guess)
    if repeats >= (START_FAULTS if consequence.is_of_start else MACHINE_FAULTS):
        title = f"{bead.id}: {outcome.value.replace('_', ' ')}, {repeats} times in a row"
        return NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, detail, tried, hypothesis(attempts))
    if consequence.counts and escalations.too_many_failures(bead.failures + 1, limits.max_failures):
        title = f"{bead.id} failed {bead.failures + 1} times"
        type_ = EscalationType.WEAK_TESTS if outcome is Outcome.WEAK_TESTS else EscalationType.REPEATED_FAILURE
        return NewEscalation(type_, title, detail, tried, hypothesis(attempts))
    if outcome is Outcome.BLOCKED and not asked:
        title = log.blockers or log.summary or "The agent says that it is blocked, and not by what"
        form = blockers.form_of(context=detail)
        return NewEscalation(EscalationType.QUESTION, title[:500], detail, {**tried, blockers.MARK: True}, form=form)
    return None


def offered(store: Store, bead: Bead, new: NewEscalation) -> NewEscalation:
    """With the ways that a person has where it is a step of a feature that fails."""
    feature = failing.of(store.features(), epics_above(store, bead)) if new.type in failing.OFFERED else None
    if feature is None:
        return new
    evidence = {**new.evidence, failing.FEATURE: feature.id}
    return replace(new, evidence=evidence, form=failing.form_of(feature))


def _ended(attempt: Attempt, outcome: Outcome, detail: str, log: AttemptLog) -> Attempt:
    return replace(attempt, outcome=outcome, detail=detail, log=log)
