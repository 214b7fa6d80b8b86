"""What the guard does about a command that a person says yes to first: it asks once, and lets it through once.

In a sandbox the daemon does it, by the same function (`CALLS`).
"""

from ...store.agent.permits import NO, YES, agent_permit
from .own_bead import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

CALLS: "Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]]" = {"permit": (agent_permit, ((str,),))}


def why_not(command: str, pattern: str) -> "str | None":
    """Why the command may not run now; None: a person said yes to it, and that yes is used by this."""
    number, said = asked("permit", command, calls=CALLS)
    if said == YES:
        return None
    if said == NO:
        return f"a person said no to it (question {number}): do without it"
    return (
        f"a person says yes to `{pattern}` first, and question {number} asks for it. Try no other way: commit, and end "
        "with NOBRAKES: BLOCKED. After the yes, call the very same command again: it runs once."
    )
