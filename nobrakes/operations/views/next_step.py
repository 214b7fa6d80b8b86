"""The sensible next step in a repository that uses nobrakes."""

from dataclasses import dataclass

from ...ports import Store


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to type, and why."""

    command: str
    why: str


def next_step(store: Store) -> NextStep:
    """By what waits: for a person first, then for agents."""
    counts, waiting = store.counts(), store.escalations()
    beads = {name: number for name, number in counts.items() if number and name not in ("epic", "held")}
    if not beads:
        return NextStep("nobrakes shape", "there is no bead yet: plan some work; by hand: nobrakes plan example")
    if waiting:
        return NextStep("nobrakes escalations", f"{len(waiting)} of them wait for your decision")
    if "draft" in beads and beads.keys() <= {"draft", "done", "cancelled"}:
        return NextStep("nobrakes commit-strategy", "the drafts wait for your approval")
    if beads.keys() <= {"done", "cancelled"}:
        return NextStep("nobrakes reshape", "everything is done: plan the next increment")
    return NextStep("nobrakes run", "there is work to do (or `nobrakes daemon start` for the background)")
