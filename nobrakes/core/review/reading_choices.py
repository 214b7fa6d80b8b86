"""How a person decides on what fresh eyes found, or that nobody read it: the options of the question."""

from typing import Any

SEND_BACK = "send it back"
GO_ON = "go on as it is"
TICKETS = "a bead for each P2"
READ_AGAIN = "read it again"


def options(found: bool, tickets: bool, by_person: bool) -> list[dict[str, Any]]:
    """The options of the form. `found`: there is something to decide; `tickets`: some of it may become beads;
    `by_person`: a person did the work, to whom `nobrakes resolve --retry` gives it back.
    """
    made: list[dict[str, Any]] = []
    if not found:
        made.append({"label": READ_AGAIN, "means": "other reviewers try, and rounds and costs begin anew"})
    elif not by_person:
        means = "a Doer goes on where the branch is, with the findings and your words"
        made.append({"label": SEND_BACK, "means": means, "why": True, "rest": True})
    if tickets:
        means = "each P2 becomes a draft; what is P1 is sent back, and where there is none it goes on"
        made.append({"label": TICKETS, "means": means})
    made.append({"label": GO_ON, "means": "it is merged as it is, or its request opened, once it passes on main"})
    if len(made) == 1:
        made.append({"label": READ_AGAIN, "means": "other reviewers read it, and rounds and costs begin anew"})
    return made
