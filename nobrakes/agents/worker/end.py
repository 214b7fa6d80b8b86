"""What becomes of a bead when an attempt ends: the outcome's consequences, in one transaction.

1. A counted failure sends the bead back; the last allowed one sends it to a person.
2. A machine fault waits, longer each time; the fifth in a row (the second if the agent does not start) goes to a
   person. A provider's refusal, or an agent that starts on no bead, begins a cooldown and leaves the bead untouched.
3. Commits are fetched first, so nothing is lost with the clone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...beads import model as beads_model
from ...beads.lifecycle import GIVEN_BACK
from ...beads.model import Attempt, AttemptLog, Bead, Outcome, Retry, Role, handed_back
from ...beads.progress import approaches
from ...beads.proposals import is_by_person, submitted
from ...daemon.model import Limits
from ...decisions import forms
from ...decisions.causes import hypothesis
from ...decisions.model import FILTERS, EscalationType, NewEscalation, too_many_failures
from ...events.kinds import Event, Kind
from ...features.model import get_built_feature
from ...host.port import Notice
from ...ports import Ports
from ...review.service.landed import epics_above
from ...sessions.model import Talk
from ...text.cleaning import count
from .. import limits
from ..adapter import Verdict
from ..limits import RESUMES, Breaker, Thresholds, gate_key
from . import process
from .watch import tokens_in_journal

if TYPE_CHECKING:
    from ...store import Store


# Each of these may be said again after a crash: nothing is counted twice. A cooldown begins before the attempt ends, so
# that nothing is started between the two.
NOBODY = "nobrakes"


def settle(ports: Ports, attempt: Attempt, verdict: Verdict) -> None:
    """Record the attempt's cost, and start or end its provider's cooldown."""
    store = ports.store
    if verdict.cost_usd is not None or verdict.tokens:
        # What the attempt took. Who goes on with a session may tell the whole session's sum at its end, as Codex does.
        told = total(verdict.tokens)
        own = tokens_in_journal(ports, attempt) if attempt.data.get(RESUMES) is not None else 0
        store.spend(attempt.id, verdict.cost_usd or 0.0, min(told, own) if own else told)
    cool(ports, attempt, verdict)
    if verdict.outcome is Outcome.COMPLETED:
        owner = beads_model.bead_owner(attempt.bead)
        for provider, one in store.breakers(owner).items():
            if provider == attempt.provider:
                store.save_breaker(owner, provider, limits.after(one, verdict.outcome, "", True, Thresholds()))


def cool(ports: Ports, work: Attempt | Talk, verdict: Verdict) -> None:
    """Start or end its provider's cooldown; a person is asked about an agent that does not start."""
    store, gates = ports.store, ports.store.gates()
    gate, shared = gates.get(gate_key(work, verdict.outcome)), beads_model.TABLE[verdict.outcome].is_of_model
    if beads_model.TABLE[verdict.outcome].gate_seconds and process.is_former(store, work, verdict.outcome):
        return
    if beads_model.TABLE[verdict.outcome].is_of_start:
        shared = process.is_shared(ports, work, verdict, gate)
    elif verdict.outcome in limits.LETS_IN:
        process.forget(ports, work)
    after = limits.close(gate, work, verdict.outcome, verdict.detail, store.now(), verdict.resets_at, shared)
    if after is not None and after != gate:
        with store.write():
            store.start_cooldown(after)
            is_asked = gate is not None and gate.is_asked
            if shared and not is_asked and not process.is_of_broken_checks(store, verdict):
                store.escalate(process.question(work, verdict, store.beads()), None, None, NOBODY)
        return
    for name in (limits.WORKSPACES, work.provider, limits.model_key_of(work)):
        if name in gates and limits.is_proven(gates[name], work, verdict.outcome):
            store.end_cooldown(name, NOBODY)


def total(tokens: Mapping[str, int]) -> int:
    return sum(tokens.values())


def blamed(attempt: Attempt, past: Sequence[Attempt]) -> Attempt | None:
    """The attempt whose provider a failure is about: for a review the Doer's."""
    if attempt.role is not Role.REVIEWER:
        return attempt
    return next((a for a in reversed(past) if a.role is Role.DOER and a.id != attempt.id), None)


def breaker_after(
    ports: Ports,
    attempt: Attempt,
    past: Sequence[Attempt],
    outcome: Outcome,
    detail: str,
    head: str | None,
    thresholds: Thresholds,
) -> tuple[str, Breaker] | None:
    """The provider and the bead's new breaker; None: unchanged."""
    worker = blamed(attempt, past)
    if worker is None:
        return None
    before = ports.store.breakers(beads_model.bead_owner(attempt.bead)).get(worker.provider, Breaker())
    progress = attempt.role is Role.REVIEWER or (head is not None and head != attempt.data.get("start"))
    after = limits.after(before, outcome, detail, progress, thresholds)
    return None if after == before else (worker.provider, after)


MACHINE_FAULTS = 5
"""Machine faults in a row before a person is asked."""

START_FAULTS = 2
"""Failed starts in a row on only one bead before a person is asked."""

STARTS_AFRESH = frozenset(
    {Outcome.BOUNDARY, Outcome.CONFLICT, Outcome.CHECKS_CHANGED, Outcome.UNUSUAL_CONTENT, Outcome.FILTER_NOT_ALLOWED}
)
"""After these the branch is archived and the next attempt starts without it."""

_NEEDS_PERSON: Mapping[Outcome, EscalationType] = {
    Outcome.CONFLICT: EscalationType.CONFLICT,
    Outcome.CHECKS_CHANGED: EscalationType.CHECKS_CHANGED,
    Outcome.UNUSUAL_CONTENT: EscalationType.UNUSUAL_CONTENT,
    Outcome.FILTER_NOT_ALLOWED: EscalationType.FILTER_NOT_ALLOWED,
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
"""The evidence shows what a person decides on."""


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
    """End a failed attempt; the bead goes back, to where a review's `kind` says, or to a person."""
    store = ports.store
    bead = store.bead(attempt.bead)
    consequence = beads_model.TABLE[outcome]
    log = log or attempt.log
    if outcome in STARTS_AFRESH:
        log = AttemptLog(log.summary, log.blockers, log.learnings, keep_branch=False)
    past = [*store.attempts(bead.id)]
    repeats = _in_a_row(past, attempt, outcome)
    retry_at = None
    gate = store.gates().get(gate_key(attempt, outcome)) if consequence.is_of_start else None
    is_shared = gate is not None and gate.is_of_start
    alone = consequence.is_of_start and not is_shared
    waits = alone or consequence.backoff or (consequence.starts_cooldown and not attempt.provider)
    if waits:
        retry_at = store.now() + beads_model.retry_after(outcome, repeats)
    asked = outcome is Outcome.BLOCKED and has_asked(ports, attempt, open_only=False)
    is_persons = attempt.role is Role.REVIEWER and is_by_person(past)
    counts = consequence.counts and not is_persons
    tried = None if is_persons else breaker_after(ports, attempt, past, outcome, detail, head, limits.breaker)
    new = _escalation(bead, past, attempt, outcome, detail, log, limits, repeats if waits else 0, evidence or {}, asked)
    if new is not None and form is not None:
        new = replace(new, form=form)
    elif new is not None:
        new = offered(store, bead, new)
    with store.write():
        if tried is not None:
            store.save_breaker(beads_model.bead_owner(bead.id), *tried)
        after = store.close_attempt(
            attempt,
            kind or GIVEN_BACK[attempt.role],
            outcome,
            detail=detail[:8000],
            head=head,
            log=log,
            counts=counts,
            retry_at=retry_at,
            escalation=None if is_persons and consequence.counts else new,
        )
        if is_persons and after.status in beads_model.WAITING_FOR_AGENT:
            _hand_back(ports, after, past, detail)
        return after


def _hand_back(ports: Ports, bead: Bead, past: Sequence[Attempt], why: str) -> None:
    done = submitted(past)
    person = done.name if done is not None else "you"
    ports.store.record(Event(Kind.HELD, bead.id, data={"reason": handed_back(person, why)}))
    then = f"Fix the work, then `nobrakes hand-in {bead.id}`; or let agents do it: `nobrakes retry {bead.id}`."
    first = next(iter(why.strip().splitlines()), "the work did not pass")[:200]
    ports.notifier.tell(Notice(f"{bead.id} is handed back to {person}: {first}. {then}", bead.id, urgent=True))


def has_asked(ports: Ports, attempt: Attempt, open_only: bool = True) -> bool:
    """Whether the attempt has an open question or plan, or one answered just after the agent gave up waiting."""
    mine = (e.type for e in ports.store.escalations(open_only=open_only, bead=attempt.bead) if e.attempt == attempt.id)
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
    consequence = beads_model.TABLE[outcome]
    attempts = [replace(a, outcome=outcome, detail=detail, log=log) if a.id == attempt.id else a for a in past]
    tried = {"attempts": approaches(attempts), **evidence}
    if consequence.needs_person:
        type_ = _NEEDS_PERSON.get(outcome, EscalationType.BROKEN_ENVIRONMENT)
        title = ": ".join((bead.id, outcome.value.replace("_", " "), *evidence.get(FILTERS, ())))
        guess = "" if type_ in _DECIDED_BY_WORK else hypothesis(attempts[-1:])
        return NewEscalation(type_, title, detail, tried, guess)
    if repeats >= (START_FAULTS if consequence.retry is Retry.STARTS else MACHINE_FAULTS):
        title = f"{bead.id}: {outcome.value.replace('_', ' ')}, {count(repeats, 'time')} in a row"
        return NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, detail, tried, hypothesis(attempts))
    if consequence.counts and too_many_failures(bead.failures + 1, limits.max_failures):
        title = f"{bead.id} failed {count(bead.failures + 1, 'time')}"
        type_ = EscalationType.WEAK_TESTS if outcome is Outcome.WEAK_TESTS else EscalationType.REPEATED_FAILURE
        return NewEscalation(type_, title, detail, tried, hypothesis(attempts))
    if outcome is Outcome.BLOCKED and not asked:
        title = log.blockers or log.summary or "The agent reported that it is blocked, but gave no reason"
        form = forms.form_of(context=detail)
        return NewEscalation(EscalationType.QUESTION, title[:500], detail, {**tried, forms.MARK: True}, form=form)
    return None


def offered(store: "Store", bead: Bead, new: NewEscalation) -> NewEscalation:
    """Add a person's options for a failing step of a feature."""
    failing = (EscalationType.REPEATED_FAILURE, EscalationType.WEAK_TESTS, EscalationType.BREAKER_OPEN)
    feature = get_built_feature(store.features(), epics_above(store, bead)) if new.type in failing else None
    if feature is None:
        return new
    return replace(new, evidence={**new.evidence, forms.FEATURE: feature.id}, form=forms.failing_form())
