"""Whether an attempt goes on with the agent's session of the one before it, or begins a fresh one.

1. It goes on where core.beads.outcomes.TABLE says so for how the last attempt ended, and the session was seen to begin.
2. A session belongs to its CLI, model, role and workspace: anybody or anything else begins afresh.
3. The last attempt of the bead decides, whoever made it: after a review that said no, nothing goes on. One that was
   stopped before its agent began leaves it to the one before.
"""

from collections.abc import Sequence

from ..beads.attempt import Attempt
from ..beads.outcomes import TABLE, Session

BEGUN = "begun"
"""In an attempt's data: whether the session was seen in the agent's output."""
RESUMES = "resumes"
"""In an attempt's data: the number of the attempt whose session it goes on with."""


def goes_on(attempt: Attempt, past: Sequence[Attempt], start: str) -> Attempt | None:
    """The attempt whose session `attempt` goes on with; None: it begins a fresh one.

    `past` are the bead's attempts, oldest first; `start` is the commit that the workspace is measured from.
    """
    for last in reversed([one for one in past if one.number < attempt.number]):
        if last.outcome is None or not last.log.keep_branch:
            return None
        if _seat(last) != _seat(attempt) or last.data.get("start") != start:
            return None
        if TABLE[last.outcome].session is not Session.RESUME:
            return None
        if last.data.get(BEGUN) and last.provider_session is not None:
            return last
    return None


def _seat(attempt: Attempt) -> tuple[str, str, str, str]:
    return attempt.role.value, attempt.agent, attempt.provider, attempt.model
