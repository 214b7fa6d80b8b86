"""The part of the port `Store` that moves beads: events of people, attempts, and their ends."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.beads.attempt import Attempt, AttemptLog
from ...core.beads.bead import Bead, Role
from ...core.beads.branches import PATTERN
from ...core.beads.events import Event, Kind
from ...core.beads.outcomes import Outcome
from ...ports.reviews import ByHand
from ...ports.store import NO_ANSWERS, NewEscalation
from .. import restoring
from ..beads import transitions
from ..database import Database
from . import by_hand, claims


class Life:
    """The life of beads on one database. Each method is one transaction of the module that it names."""

    _db: Database
    _token_source: Callable[[], str]

    def record(self, event: Event) -> Bead | None:
        """Append the event; a moving kind advances its bead."""
        return transitions.record(self._db, event)

    def approve(self, beads: Sequence[str], actor: str) -> None:
        """Make drafts live, all or none."""
        transitions.approve(self._db, beads, actor)

    def open_attempt(
        self,
        bead: str,
        role: Role,
        agent: str,
        names: Sequence[str],
        lease_seconds: float,
        base: str | None,
        provider: str = "",
        model: str = "",
        branch_pattern: str = PATTERN,
    ) -> Attempt | None:
        """Claim a ready bead; None: lost the race."""
        agent_spec, source = (agent, provider, model), self._token_source
        return claims.open_attempt(self._db, source, bead, role, agent_spec, names, lease_seconds, base, branch_pattern)

    def close_attempt(
        self,
        attempt: Attempt,
        kind: Kind,
        outcome: Outcome,
        *,
        detail: str = "",
        head: str | None = None,
        log: AttemptLog | None = None,
        data: Mapping[str, Any] | None = None,
        counts: bool = False,
        retry_at: float | None = None,
        escalation: NewEscalation | None = None,
        merged_commit: str | None = None,
    ) -> Bead:
        """End the attempt and advance its bead; Stale when it is not open any more."""
        return claims.close_attempt(
            self._db,
            attempt,
            kind,
            outcome,
            detail=detail,
            head=head,
            log=log,
            data=data,
            counts=counts,
            retry_at=retry_at,
            escalation=escalation,
            merged_commit=merged_commit,
        )

    def hand_in(self, work: ByHand) -> Attempt:
        """A person's work goes to the Reviewer; NotAllowed, Stale: nothing was written."""
        return by_hand.hand_in(self._db, work)

    def journal(self, attempt: int, data: Mapping[str, Any], answers: Mapping[int, str] = NO_ANSWERS) -> bool:
        """Replace the attempt's `data`; False: one of the answers that it is to act by does not stand any more."""
        return claims.journal(self._db, attempt, data, answers)

    def attempt(self, attempt: int) -> Attempt:
        """One attempt."""
        return claims.attempt(self._db, attempt)

    def attempts(self, bead: str) -> list[Attempt]:
        """All attempts of a bead, oldest first."""
        return claims.attempts(self._db, bead)

    def count_on(self, attempts_: int, fences: Mapping[str, int], turns: int = 0, sessions: int = 0) -> bool:
        """Number attempts, turns, sessions and fences above these; whether one of the first three was behind."""
        return restoring.count_on(self._db, attempts_, fences, turns, sessions)

    def renew(self, attempts_: Sequence[int], lease_seconds: float) -> None:
        """Prolong leases, when less than two thirds are left."""
        claims.renew(self._db, attempts_, lease_seconds)

    def move_times(self, seconds: float) -> None:
        """The clock jumped: move the times of runs and leases along; back, also retries and closed gates."""
        claims.move_times(self._db, seconds)

    def door(self, token: str) -> Attempt:
        """The open attempt that the token speaks for."""
        return claims.door(self._db, token)
