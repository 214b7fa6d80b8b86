"""What a picture of the graph shows: boxes, groups and arrows, the same for every format.

1. An epic is a group around its beads; one without beads, or that is waited for, is a box as well.
2. Arrows lead from what is needed to what waits for it, like the work does.
3. Texts of beads are data: they are cleaned here, and each renderer escapes them for its format.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..core.beads.bead import WORKING, BeadType, Dependency, DependencyType, Status
from ..core.graph.links import Node
from ..core.text.cleaning import clean

KINDS = ("draft", "ready", "blocked", "working", "review", "escalated", "done", "cancelled")


class Box(NamedTuple):
    """One bead. `kind` is one of KINDS, what colours it."""

    id: str
    title: str
    kind: str
    status: str
    epic: str | None
    assignee: str | None
    is_epic: bool = False


class Arrow(NamedTuple):
    """`target` waits for `source`."""

    source: str
    target: str
    type: DependencyType = DependencyType.BLOCKS


_ARROW: Callable[[tuple[str, str, DependencyType]], Arrow] = partial(tuple.__new__, Arrow)
_BOX: Callable[[tuple[Any, ...]], Box] = partial(tuple.__new__, Box)
"""What `_make` does, without its look at the length: a whole graph has tens of thousands of them."""


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


_BY_STATUS = {
    **dict.fromkeys(WORKING, "working"),
    Status.DRAFT: "draft",
    Status.NEEDS_REVIEW: "review",
    Status.REVIEWING: "review",
    Status.LANDED: "review",
    Status.ESCALATED: "escalated",
    Status.DONE: "done",
    Status.CANCELLED: "cancelled",
}


def kind_of(node: Node, ready: bool) -> str:
    """The word that colours a bead."""
    kind = _BY_STATUS.get(node.status)
    if kind is not None:
        return kind
    if node.type == BeadType.EPIC:
        return "blocked"
    return "ready" if ready else "blocked"


def picture(
    nodes: Iterable[Node],
    dependencies: Iterable[Dependency],
    ready: Collection[str],
    *,
    epic: str | None = None,
) -> Picture:
    """The picture of the graph, or of what is inside one epic at any depth and what it is connected with inside."""
    by_id = {node.id: node for node in nodes}
    wanted = set(by_id) if epic is None else _inside(epic, by_id) & by_id.keys()
    words = {status: status.value for status in Status}
    shown = by_id if len(wanted) == len(by_id) else wanted
    boxes = tuple(
        map(
            _BOX,
            [
                (
                    node.id,
                    _title(node.title),
                    kind_of(node, node.id in ready),
                    words[node.status],
                    node.epic if node.epic in shown else None,
                    node.assignee,
                    node.type == BeadType.EPIC,
                )
                for node in map(by_id.__getitem__, sorted(wanted))
            ],
        )
    )
    members: dict[str, list[str]] = {}
    for box in boxes:
        if box.epic is not None:
            members.setdefault(box.epic, []).append(box.id)
    arrows = [
        (needs, bead, type_)
        for bead, needs, type_ in dependencies
        if type_ is not DependencyType.PARENT_CHILD and bead in shown and needs in shown
    ]
    arrows.sort()
    groups = tuple((id_, tuple(sorted(found))) for id_, found in sorted(members.items()))
    # the same ones stand together now, and comparing two costs less than a hash of each
    once = [arrow for arrow, last in zip(arrows, [None, *arrows], strict=False) if arrow != last]
    return Picture(boxes, groups, tuple(map(_ARROW, once)))


def _title(text: str) -> str:
    """On one line and harmless; most titles are, and cleaning costs."""
    return " ".join((text if text.isprintable() and text.isascii() else clean(text)).split())


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
