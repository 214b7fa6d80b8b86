"""What a picture of the graph shows: boxes, groups and arrows, the same for every format.

1. An epic is a group around its beads; one without beads, or that is waited for, is a box as well.
2. Arrows lead from what is needed to what waits for it, like the work does.
3. Texts of beads are data: they are cleaned here, and each renderer escapes them for its format.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..core.bead import CLOSED, WORKING, BeadType, Dependency, DependencyType, Status
from ..core.links import Node
from ..core.transcript import clean

KINDS = ("draft", "ready", "blocked", "working", "review", "escalated", "done", "cancelled")


@dataclass(frozen=True, slots=True)
class Box:
    """One bead. `kind` is one of KINDS, what colours it."""

    id: str
    title: str
    kind: str
    status: str
    epic: str | None
    assignee: str | None
    is_epic: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """`target` waits for `source`."""

    source: str
    target: str
    type: DependencyType = DependencyType.BLOCKS


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes by id, groups (epic to members, members sorted), arrows sorted. `parents`: a group inside a group."""

    boxes: tuple[Box, ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    arrows: tuple[Arrow, ...]

    def box(self, id_: str) -> Box:
        """The box of this id; KeyError."""
        for box in self.boxes:
            if box.id == id_:
                return box
        raise KeyError(id_)


def kind_of(node: Node, ready: bool) -> str:
    """The word that colours a bead."""
    by_status = {
        Status.DRAFT: "draft",
        Status.NEEDS_REVIEW: "review",
        Status.REVIEWING: "review",
        Status.ESCALATED: "escalated",
        Status.DONE: "done",
        Status.CANCELLED: "cancelled",
    }
    if node.status in by_status:
        return by_status[node.status]
    if node.status in WORKING:
        return "working"
    if node.type == BeadType.EPIC:
        return "blocked"
    return "ready" if ready else "blocked"


def picture(
    nodes: Iterable[Node],
    dependencies: Iterable[Dependency],
    ready: Collection[str],
    *,
    epic: str | None = None,
    closed: bool = True,
) -> Picture:
    """The picture of the graph, or of what is inside one epic at any depth and what it is connected with inside."""
    by_id = {node.id: node for node in nodes}
    wanted = {id_ for id_, node in by_id.items() if closed or node.status not in CLOSED}
    if epic is not None:
        wanted &= _inside(epic, by_id)
    boxes = tuple(
        Box(
            id_,
            " ".join(clean(by_id[id_].title).split()),
            kind_of(by_id[id_], id_ in ready),
            by_id[id_].status.value,
            by_id[id_].epic if by_id[id_].epic in wanted else None,
            by_id[id_].assignee,
            by_id[id_].type == BeadType.EPIC,
        )
        for id_ in sorted(wanted)
    )
    members: dict[str, list[str]] = {}
    for box in boxes:
        if box.epic is not None:
            members.setdefault(box.epic, []).append(box.id)
    arrows = sorted(
        {
            Arrow(d.needs, d.bead, d.type)
            for d in dependencies
            if d.type is not DependencyType.PARENT_CHILD and d.bead in wanted and d.needs in wanted
        },
        key=lambda arrow: (arrow.source, arrow.target, arrow.type.value),
    )
    groups = tuple((id_, tuple(sorted(found))) for id_, found in sorted(members.items()))
    return Picture(boxes, groups, tuple(arrows))


def _inside(epic: str, nodes: dict[str, Node]) -> set[str]:
    children: dict[str, list[str]] = {}
    for node in nodes.values():
        if node.epic is not None:
            children.setdefault(node.epic, []).append(node.id)
    found: set[str] = set()
    waiting = [epic]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += children.get(current, ())
    return found
