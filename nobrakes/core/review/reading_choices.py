"""How a person decides on what fresh eyes found, or that nobody read it: the options of the question."""

from enum import StrEnum
from typing import Any

SEND_BACK = "send it back"
GO_ON = "go on as it is"
TICKETS = "a bead for each P2"
READ_AGAIN = "read it again"


class Whose(StrEnum):
    """Who mends what was found."""

    AGENTS = "agents"
    PERSON = "person"  # who did the work, and to whom `nobrakes resolve --retry` gives it back
    EPIC = "epic"  # nobody works on an epic itself: a bead of it does


_MEANS = {
    Whose.AGENTS: "a Doer goes on where the branch is, with the findings and your words",
    Whose.EPIC: "a bead of the epic mends it, with the findings and your words, and then all of it is read again",
}


def options(found: bool, tickets: bool, whose: Whose) -> list[dict[str, Any]]:
    """The options of the form. `found`: there is something to decide; `tickets`: some of it may become beads."""
    made: list[dict[str, Any]] = []
    if not found:
        made.append({"label": READ_AGAIN, "means": "other reviewers try, and rounds and costs begin anew"})
    elif whose is not Whose.PERSON:
        made.append({"label": SEND_BACK, "means": _MEANS[whose], "why": True, "rest": True})
    if tickets:
        means = "each P2 becomes a draft; what is P1 is sent back, and where there is none it goes on"
        made.append({"label": TICKETS, "means": means})
    made.append({"label": GO_ON, "means": "it is merged as it is, or its request opened, once it passes on main"})
    if len(made) == 1:
        made.append({"label": READ_AGAIN, "means": "other reviewers read it, and rounds and costs begin anew"})
    return made
