"""What an agent's end says about others: the provider's gate, the bead's breaker, what was spent.

1. Each may be said again after a crash: it says the same, and nothing is counted twice.
2. A breaker is stored in the transaction that ends the attempt (daemon.attempts.end); a cooldown begins before the
   attempt ends, so that nothing is started between the two.
"""

from collections.abc import Mapping, Sequence

from ...agents.adapter import Verdict
from ...core.beads.attempt import Attempt
from ...core.beads.bead import Role
from ...core.beads.outcomes import TABLE, Outcome
from ...core.limits import breaker, cooldowns
from ...core.limits.breaker import Breaker, Thresholds
from ...core.limits.resuming import RESUMES
from ...core.owners import of_bead
from ...core.sessions.session import Talk
from ..ports import Ports
from . import starting
from .metering import in_diary

NOBODY = "nobrakes"


def settle(ports: Ports, attempt: Attempt, verdict: Verdict) -> None:
    """Keep what the attempt has cost, and close or open its provider's gate."""
    store = ports.store
    if verdict.cost_usd is not None or verdict.tokens:
        store.spend(attempt.id, verdict.cost_usd or 0.0, _tokens(ports, attempt, verdict))
    cool(ports, attempt, verdict)
    if verdict.outcome is Outcome.COMPLETED:
        owner = of_bead(attempt.bead)
        for provider, one in store.breakers(owner).items():
            if provider == attempt.provider:
                store.save_breaker(owner, provider, breaker.after(one, verdict.outcome, "", True, Thresholds()))


def cool(ports: Ports, work: Attempt | Talk, verdict: Verdict) -> None:
    """Begin or end the cooldown of the provider that served it; of an agent that does not start a person is asked."""
    store = ports.store
    gate, shared = store.gates().get(work.provider), False
    if TABLE[verdict.outcome].is_of_start:
        shared = starting.is_shared(ports, work, verdict, gate)
    elif verdict.outcome in cooldowns.LETS_IN:
        starting.forget(ports, work)
    after = cooldowns.close(gate, work, verdict.outcome, verdict.detail, store.now(), verdict.resets_at, shared)
    if after is not None and after != gate:
        with store.together():
            store.start_cooldown(after)
            if shared and not (gate is not None and gate.is_of_start):
                store.escalate(starting.question(work, verdict), None, None, NOBODY)
    elif gate is not None and cooldowns.is_proven(gate, work, verdict.outcome):
        store.end_cooldown(work.provider, NOBODY)


def _tokens(ports: Ports, attempt: Attempt, verdict: Verdict) -> int:
    """What the attempt took. Who goes on with a session may tell the whole session's sum at its end, as Codex does."""
    told = total(verdict.tokens)
    own = in_diary(ports, attempt) if attempt.data.get(RESUMES) is not None else 0
    return min(told, own) if own else told


def total(tokens: Mapping[str, int]) -> int:
    """All tokens of a verdict, read and written."""
    return sum(tokens.values())


def blamed(attempt: Attempt, past: Sequence[Attempt]) -> Attempt | None:
    """Whose provider a failure speaks of: for a review the Doer whose work it was."""
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
    """The provider and its breaker for the bead after this end; None: it is as it was."""
    worker = blamed(attempt, past)
    if worker is None:
        return None
    before = ports.store.breakers(of_bead(attempt.bead)).get(worker.provider, Breaker())
    progress = attempt.role is Role.REVIEWER or (head is not None and head != attempt.data.get("start"))
    after = breaker.after(before, outcome, detail, progress, thresholds)
    return None if after == before else (worker.provider, after)
