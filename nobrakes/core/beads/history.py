"""What was tried on a bead, for whoever decides or tries next. Imports nothing: agents ask for it all night."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .attempt import Attempt


def approaches(attempts: "Iterable[Attempt]") -> "list[dict[str, Any]]":
    """What was tried, one entry an attempt, in the order given, as JSON values."""
    return [
        {
            "attempt": a.number,
            "role": str(a.role),
            "name": a.name,
            "agent": a.agent,
            "outcome": str(a.outcome) if a.outcome else None,
            "detail": a.detail,
            "summary": a.log.summary,
            "blockers": a.log.blockers,
            "learnings": a.log.learnings,
            "head": a.head,
        }
        for a in attempts
    ]
