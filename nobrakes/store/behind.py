"""How many beads wait behind one: the order in which people should decide. Imports nothing: hot commands use it."""

_STATUS = "SELECT status FROM beads WHERE id = ?"
_BLOCKED = "SELECT bead FROM edges WHERE needs = ? AND type = 'blocks'"
_PARENT = "SELECT id FROM beads WHERE type = 'epic' AND id = (SELECT epic FROM beads WHERE id = ?)"
_CHILDREN = "SELECT id FROM beads WHERE epic = ?"
_CLOSED = ("done", "cancelled")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Execute = Callable[[str, tuple[str]], Iterable[Any]]


def behind(execute: "Execute", bead: str) -> int:
    """How many unfinished beads wait for the end of this one: what it blocks, its epic, and what waits for those."""

    def open_(other: str) -> bool:
        return all(row[0] not in _CLOSED for row in execute(_STATUS, (other,)))

    found: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    todo = [(bead, True)] if open_(bead) else []
    while todo:
        moment = todo.pop()
        if moment in seen:
            continue
        seen.add(moment)
        current, end = moment
        if end:
            waiting = [(row[0], False) for row in execute(_BLOCKED, (current,))]
            waiting += [(row[0], True) for row in execute(_PARENT, (current,))]
        else:
            waiting = [(current, True)]
            waiting += [(row[0], False) for row in execute(_CHILDREN, (current,))]
        waiting = [one for one in waiting if open_(one[0])]
        found.update(one[0] for one in waiting)
        todo += waiting
    return len(found - {bead})
