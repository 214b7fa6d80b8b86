"""What a store does with a bead is in the printed diagram, also what only epics, drafts and asked beads do."""

import pytest

from nobrakes.beads.model import BeadType, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import bead
from tests.world import moves

STORIES = [
    ("a draft", Status.DRAFT, BeadType.TASK, False, [(Kind.CANCELLED, "cancelled"), (Kind.UNDONE, "draft")]),
    (
        "an epic",
        Status.OPEN,
        BeadType.EPIC,
        False,
        [
            (Kind.CANCELLED, "cancelled"),
            (Kind.UNDONE, "open"),
            (Kind.DONE_BY_HAND, "done"),
            (Kind.REOPENED, "open"),
            (Kind.EPIC_COMPLETED, "done"),
            (Kind.UNDONE, "open"),
            (Kind.UNDONE, "draft"),
        ],
    ),
    (
        "a bead that is asked about",
        Status.NEEDS_DOER,
        BeadType.TASK,
        True,
        [
            (Kind.CANCELLED, "cancelled"),
            (Kind.UNDONE, "escalated"),
            (Kind.DONE_BY_HAND, "done"),
            (Kind.UNDONE, "escalated"),
            (Kind.RESOLVED, "needs_doer"),
            (Kind.ESCALATED, "escalated"),
            (Kind.FOUND_MERGED, "done"),
            (Kind.REVERTED, "needs_doer"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("status", "type_", "is_asked", "story"), [one[1:] for one in STORIES], ids=[one[0] for one in STORIES]
)
def test_what_happens_is_in_the_diagram(
    store: Store, status: Status, type_: BeadType, is_asked: bool, story: list[tuple[Kind, str]]
) -> None:
    store.put([bead("a", status=status, type=type_)], [], "me")
    if is_asked:
        store.escalate(NewEscalation(EscalationType.CONFLICT, "which?"), "a", None, "me")
    for kind, after in story:
        before = store.bead("a").status
        store.record(Event(kind, "a", actor="me"))
        assert store.bead("a").status.value == after
        assert f"    {before.value} --> {after}: {kind.value}" in moves.mermaid().splitlines()
