"""Every move of a bead's state machine, and the diagram of them in docs/design.md."""

from collections.abc import Iterator
from dataclasses import replace

from nobrakes.beads.lifecycle import RESOLVES_TO, STAYS, TABLE, Facts, advance, changed
from nobrakes.beads.model import CLOSED, WAITING_FOR_AGENT, Bead, BeadType, Status
from nobrakes.events.kinds import Kind


def moves() -> Iterator[tuple[Status, Kind, Status]]:
    """Every changing move of `advance` and `changed`, once, in the table's order."""
    for status, row in TABLE.items():
        for kind, target in row.items():
            ends = {advance(bead, kind, facts).status for bead in _beads(status) for facts in _facts(bead, kind)}
            for end in (end for end in Status if end in ends and target != STAYS):
                yield status, kind, end
        edited = {changed(one, other, False) for one in _beads(status) for other in _edits(one)}
        yield from ((status, Kind.CHANGED, end) for end in Status if end in edited - {status})


def _beads(status: Status) -> Iterator[Bead]:
    """A bead of each sort and memory that can be in this status."""
    epic = Bead("b", "A bead", type=BeadType.EPIC, status=status)
    if status in (Status.DRAFT, Status.OPEN, Status.NEEDS_REVIEW, Status.REVIEWING):
        yield epic
    if status is Status.ESCALATED:
        yield from (replace(epic, return_to=back) for back in (Status.OPEN, Status.NEEDS_REVIEW))
    if status in CLOSED:
        yield from (replace(epic, return_to=back) for back in (Status.DRAFT, Status.OPEN))
    if status is not Status.OPEN:
        memories = {
            Status.ESCALATED: RESOLVES_TO,
            Status.DONE: (Status.DRAFT, *RESOLVES_TO),
            Status.CANCELLED: (Status.DRAFT, *RESOLVES_TO),
        }
        for back in memories.get(status, (None,)):
            for needs_tests in (True, False):
                yield Bead("b", "A bead", status=status, needs_tests=needs_tests, return_to=back)


def _facts(bead: Bead, kind: Kind) -> Iterator[Facts]:
    yield Facts()
    if bead.type is not BeadType.EPIC or bead.status is Status.REVIEWING:
        yield Facts(is_asked=True)
        if kind is Kind.RESOLVED:
            yield from (Facts(to.value) for to in RESOLVES_TO)


def _edits(bead: Bead) -> Iterator[Bead]:
    if bead.status in (Status.OPEN, *WAITING_FOR_AGENT):
        yield replace(bead, type=BeadType.TASK if bead.type is BeadType.EPIC else BeadType.EPIC)
        yield from (replace(bead, type=BeadType.TASK, needs_tests=needs_tests) for needs_tests in (True, False))


def mermaid() -> str:
    lines = [f"    {before.value} --> {after.value}: {kind.value}" for before, kind, after in moves()]
    return "\n".join(["stateDiagram-v2", "    [*] --> draft", *lines, "    done --> [*]", "    cancelled --> [*]"])
