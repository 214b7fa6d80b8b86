"""What was tried on the bead before a person was asked, and what the last agent said."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.beads.attempt import Attempt
from ...core.beads.bead import NO_AGENTS
from ...core.beads.escalations import Escalation
from ...core.beads.history import approaches
from ...core.beads.outcomes import Outcome
from ...paths import Paths
from ...ports.store import Store
from ...wording.glossary import OUTCOMES
from .. import sessions
from .excerpts import WHOLE, excerpt, line
from .view import LastWords, Tried

SHOWN = 5
"""So many attempts, the last ones."""
_DETAIL, _LEFT, _LAST = 6, 4, 8


def tried(found: Escalation, attempts: Sequence[Attempt], is_whole: bool) -> tuple[tuple[Tried, ...], int]:
    """The attempts that ended before the question was asked, and how many before those are not shown."""
    by_number = {attempt.number: attempt for attempt in attempts}
    rows = found.evidence.get("attempts")
    if not isinstance(rows, list | tuple):
        rows = approaches(one for one in attempts if one.outcome and (one.ended_at or 0.0) <= found.created_at)
    rows = [row for row in rows if isinstance(row, Mapping)]
    kept = rows if is_whole else rows[-SHOWN:]
    made = tuple(_tried(row, by_number.get(row.get("attempt", 0)), is_whole) for row in kept)
    return made, len(rows) - len(kept)


def _tried(row: Mapping[str, Any], attempt: Attempt | None, is_whole: bool) -> Tried:
    outcome = str(row.get("outcome") or "works")
    command = _words_of(attempt) if attempt else ""
    detail, left = (WHOLE, WHOLE) if is_whole else (_DETAIL, _LEFT)
    number = row.get("attempt")
    return Tried(
        number=number if isinstance(number, int) else 0,
        role=line(row.get("role") or ""),
        name=line(row.get("name") or ""),
        agent=line(row.get("agent") or ""),
        outcome=outcome,
        means=OUTCOMES[Outcome(outcome)] if outcome in set(Outcome) else "",
        detail=excerpt(str(row.get("detail") or ""), detail, command),
        summary=excerpt(str(row.get("summary") or ""), left, command),
        blockers=excerpt(str(row.get("blockers") or ""), left, command),
        learnings=excerpt(str(row.get("learnings") or ""), left, command),
        minutes=(attempt.ended_at - attempt.started_at) / 60 if attempt and attempt.ended_at else 0.0,
        cost_usd=attempt.cost_usd if attempt else 0.0,
        tokens=attempt.tokens if attempt else 0,
    )


def last_words(store: Store, paths: Paths, found: Escalation, attempts: Sequence[Attempt]) -> LastWords | None:
    """The last lines of the agent whose attempt led here, or worked last before it; None: no agent said anything."""
    agents = [one for one in attempts if one.role not in NO_AGENTS and one.started_at <= found.created_at]
    chosen = [one for one in agents if one.id == found.attempt] or agents
    if not chosen:
        return None
    one = chosen[-1]
    said = tuple(sessions.transcript(store, sessions.of(paths, one), follow=False, last=_LAST))
    command = _words_of(one)
    return LastWords(one.number, line(one.name), said, command) if said else None


def _words_of(attempt: Attempt) -> str:
    """The command that shows all that was said in an attempt."""
    return f"nobrakes history {attempt.bead} --transcript --attempt {attempt.number}"
