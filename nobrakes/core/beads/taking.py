"""What people work on themselves: in what words a bead is held for them, and whose work is reviewed.

The words stand in `Bead.held`, where people read them; only which command is named beside them hangs on them.
"""

from collections.abc import Sequence

from .attempt import Attempt
from .bead import Role
from .outcomes import Outcome

_TAKEN = "taken by "
_BACK = "handed back to "
MOST = 1500
"""Characters of why work came back."""


def taken(person: str, folder: str) -> str:
    """Why a bead is held that a person works on."""
    return f"{_TAKEN}{person}: {folder}"


def handed_back(person: str, why: str) -> str:
    """Why a bead is held whose work did not pass; `why`: what the review said."""
    return f"{_BACK}{person}: {why.strip()[:MOST]}"


def is_with_person(held: str | None) -> bool:
    """Whether the bead is held because a person works on it."""
    return held is not None and held.startswith((_TAKEN, _BACK))


def is_handed_back(held: str | None) -> bool:
    """Whether the bead is held because the work of the person on it did not pass."""
    return held is not None and held.startswith(_BACK)


def submitted(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt whose work is reviewed, of all the bead's, oldest first; None: nothing was handed in."""
    for one in reversed(attempts):
        if one.role in (Role.DOER, Role.PERSON) and one.head and one.outcome is Outcome.COMPLETED:
            return one
    return None


def is_by_person(attempts: Sequence[Attempt]) -> bool:
    """Whether what is reviewed is a person's work."""
    found = submitted(attempts)
    return found is not None and found.role is Role.PERSON
