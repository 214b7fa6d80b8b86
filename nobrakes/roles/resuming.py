"""What an agent is told whose session goes on: what stopped it, and what is new since. It knows the rest.

The rules of prompts.py hold here as well: what agents wrote is quoted and fenced, what people wrote is bounded.
"""

from collections.abc import Mapping, Sequence

from ..core.beads.attempt import Attempt
from ..core.beads.bead import Bead
from ..core.beads.branches import branch_of
from ..core.beads.escalations import Escalation
from ..core.beads.outcomes import Outcome
from ..core.transcript import PREFIX
from .beadtexts import answers_of
from .quoting import answered

_HAPPENED: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "You handed in, and the bead came back to you",
    Outcome.MERGE_REVIEW: "A person looked at what you handed in before the merge, and sent it back",
    Outcome.BLOCKED: "You stopped to wait for the human",
    Outcome.KILLED: "Your process was killed from outside",
    Outcome.LOST: "Your process or the machine went down",
    Outcome.TURN_LIMIT: "You had used up what one run may use",
    Outcome.AUTH: "The provider did not accept the credentials for a while",
    Outcome.BILLING: "The provider wanted money for a while",
    Outcome.RATE_LIMITED: "The provider's usage limit was reached, and is over now",
    Outcome.PROVIDER_DOWN: "The provider had an outage",
    Outcome.NETWORK: "The provider could not be reached for a while",
    Outcome.INTERRUPTED: "You were stopped, by the human or with nobrakes itself",
    Outcome.CAPPED: "You were stopped because a cap on what agents may cost was reached; there is room again",
    Outcome.CANCELLED: "The bead was taken away from you, and given back",
}


def resume_prompt(bead: Bead, last: Attempt, filed: Sequence[Escalation], changed: str, plan: str, nonce: str) -> str:
    """The prompt of an attempt that goes on with the session of `last`.

    `changed` is the bead as it is now, where that is not what the session was told; `plan` the section about its plan.
    """
    happened = _HAPPENED.get(last.outcome or Outcome.LOST, "You were stopped")
    parts = [
        f"# You go on with bead {bead.id}\n\n{happened}. This is the same session, in a new process: your branch "
        f"`{branch_of(bead)}` and your files are as they were, what you had started is gone, and what you were doing "
        "last may be done by halves. Look (`git status`, `git log`), then go on where you stopped."
    ]
    answers = answers_of(new_since(last, filed))
    if answers:
        parts.append("# What the human answered\n\n" + answered(answers, nonce))
    if plan:
        parts.append(plan)
    if changed:
        parts.append("The bead was changed meanwhile. It now reads:\n\n" + changed)
    parts.append(
        "All of your first prompt holds: commit, hand in with `nobrakes agent done`, and end your last "
        f"message with exactly one line `{PREFIX}…`."
    )
    return "\n\n".join(parts) + "\n"


def new_since(last: Attempt, filed: Sequence[Escalation]) -> list[Escalation]:
    """What was decided after the session of `last` stopped, or in its last moments while it gave up waiting; and what
    was answered while it worked, and it did not read.
    """
    ended = last.ended_at or last.started_at
    begin = last.started_at if last.outcome is Outcome.BLOCKED else ended
    decided = (one for one in filed if one.resolved_at is not None)
    return [
        one
        for one in decided
        if (one.resolved_at or 0.0) >= begin
        or (one.answer is not None and (one.read_at is None or one.read_at >= ended))
    ]
