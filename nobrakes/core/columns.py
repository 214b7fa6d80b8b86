"""The board's columns: where a person looks for a bead. Epics stand in none of them."""

from collections.abc import Mapping

from .beads.bead import Status

COLUMNS = ("draft", "blocked", "ready", "working", "review", "escalated", "done", "cancelled")
"""Where its status and its blockers put a bead."""
REQUESTED = "requested"
"""What of `review` waits for people at a code host: a column of its own on boards."""
SHOWN = (*COLUMNS[:5], REQUESTED, *COLUMNS[5:])
"""The columns of a board, in their order."""

BY_STATUS: Mapping[Status, str] = {
    Status.DRAFT: "draft",
    Status.WRITING_TESTS: "working",
    Status.DOING: "working",
    Status.NEEDS_REVIEW: "review",
    Status.REVIEWING: "review",
    Status.LANDED: "review",
    Status.ESCALATED: "escalated",
    Status.DONE: "done",
    Status.CANCELLED: "cancelled",
}
"""Every other status waits for an agent: there it depends on whether the bead is ready."""


def column(status: Status, ready: bool) -> str:
    """The column that a bead stands in."""
    return BY_STATUS.get(status, "ready" if ready else "blocked")
