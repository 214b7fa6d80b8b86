"""Plans that a person approves before the work begins: which beads ask for it, and whether it was given.

1. A bead asks for it by its label `plan-review`.
2. A plan is approved by a person's decision "approve" and by nothing else; an answer in words means: change it.
3. Work that is handed in without an approved plan is not taken.
4. Imports next to nothing, since agents ask all night: what is compared here are the enums' own words, so that a row
   of the store as JSON does as well as a Bead or an Escalation.
"""

from ..beads.approval import is_approval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..beads.bead import Bead, Role
    from ..beads.escalations import Escalation

LABEL = "plan-review"
_PLAN = "plan_review"  # EscalationType.PLAN_REVIEW


def needed(bead: "Bead", role: "Role") -> bool:
    """Whether the role works on the bead only by a plan that was approved. Tests are no plan: only Doers need one."""
    return role == "doer" and LABEL in bead.labels


def approved(escalations: "Iterable[Escalation]") -> "Escalation | None":
    """The latest plan of a bead's escalations that a person approved."""
    found = [e for e in escalations if e.type == _PLAN and is_approval(e.resolution)]
    return max(found, key=lambda e: e.id, default=None)


def waiting(escalations: "Iterable[Escalation]") -> "Escalation | None":
    """The latest plan that nobody has decided about."""
    found = [e for e in escalations if e.type == _PLAN and e.resolved_at is None]
    return max(found, key=lambda e: e.id, default=None)
