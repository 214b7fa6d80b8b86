"""Refuses the dependency that would close a circle, by looking only where a circle can be.

1. Levels are the compass: what a moment needs has a level at least as high, so a way back to the waiting bead never
   leads over a higher level than its own. A bead that nothing waits for needs no search at all.
   While levels are due there is no compass, and all ways are gone.
2. One prepared statement a step, driven from here: SQLite's recursive queries are far slower on large graphs.
"""

from collections.abc import Sequence

from ...core.beads.bead import CLOSED, BeadType, Dependency, DependencyType, Status
from ...core.errors import Deadlock
from ...core.graph.cycles import circles
from ...core.graph.links import Links
from ..conditions import UNFINISHED
from ..database import Database, Row
from . import priority_levels
from .whole import all_dependencies, all_links, all_nodes

_OWN = "SELECT status, type, epic, b_level, done_level FROM beads WHERE id = ?"
_BLOCKERS = "SELECT needs FROM edges WHERE bead = ? AND type = 'blocks'"
_NEEDED = """SELECT 1 FROM edges WHERE needs = :id AND type = 'blocks' UNION ALL SELECT 1 FROM beads WHERE epic = :id
LIMIT 1"""
_NEEDING = f"""SELECT coalesce(max(level), -1) FROM (
SELECT b_level AS level FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = :id AND edges.type = 'blocks' AND {UNFINISHED}
UNION ALL SELECT b_level FROM beads WHERE epic = :id AND {UNFINISHED}
UNION ALL SELECT done_level FROM beads WHERE id = :epic AND {UNFINISHED})"""
"""The highest level of what needs a bead's start or its end."""

Moment = tuple[str, bool]
"""A bead, and whether its end is meant (else its start)."""


def refuse_circle(db: Database, dependency: Dependency) -> None:
    """Deadlock when `dependency`, not yet written, would close a circle of live beads."""
    waiting, needed = (db.one(_OWN, (bead,)) for bead in (dependency.bead, dependency.needs))
    if dependency.bead == dependency.needs:
        raise Deadlock(f"bead {dependency.bead} cannot wait for itself")
    if dependency.type is DependencyType.PARENT_CHILD:
        _refuse_nesting(db, dependency)
    if waiting["status"] in CLOSED or needed["status"] in CLOSED:
        return
    lost = priority_levels.is_due(db)
    start, done = (None, None) if lost else (waiting["b_level"], needed["done_level"])
    if dependency.type is DependencyType.BLOCKS:
        way = _way(db, (dependency.needs, True), (dependency.bead, False), start)
        if way is not None:
            raise _deadlock([dependency.bead, *way])
        return
    way = _way(db, (dependency.needs, False), (dependency.bead, False), start)
    if way is None and needed["type"] == BeadType.EPIC:
        # the epic cannot end before its new child ends
        way = _way(db, (dependency.bead, True), (dependency.needs, True), done)
        if way is not None:
            raise _deadlock([dependency.needs, *way])
    if way is not None:
        raise _deadlock([dependency.bead, *way])


def _refuse_nesting(db: Database, dependency: Dependency) -> None:
    """Deadlock when the new parent lies inside its new child; closed beads count, too."""
    chain = [dependency.needs]
    while chain[-1] != dependency.bead:
        epic = db.one(_OWN, (chain[-1],))["epic"]
        if epic is None:
            return
        chain.append(epic)
    raise _deadlock([dependency.bead, *chain])


def refuse_circles(db: Database) -> None:
    """Deadlock when the graph as written holds a circle."""
    refuse_circles_in(all_links(db))


def refuse_circles_in(links: Links) -> None:
    """Deadlock when this graph holds a circle: for imports, before they are written."""
    free: set[str] = set()
    for bead in links.parents:
        chain = [bead]
        while chain[-1] not in free and chain[-1] in links.parents:
            chain.append(links.parents[chain[-1]][0])
            if chain[-1] in chain[:-1]:
                raise _deadlock(chain[chain.index(chain[-1]) :])
        free.update(chain)
    found = circles(links)
    if found:
        circle = found[0]
        more = f" ({len(found) - 1} more circles)" if len(found) > 1 else ""
        cut = f"{circle.cut.bead} -> {circle.cut.needs} ({circle.cut.type.value})"
        error = _deadlock([*circle.members, circle.members[0]])
        raise Deadlock(f"{error}{more}", f"Leave out the dependency {cut}.")


def refuse_reopening(db: Database, bead: str) -> None:
    """Deadlock when the closed bead, made live again, would be part of a circle of live beads."""
    own = db.one(_OWN, (bead,))
    if own["epic"] is None and db.maybe(_NEEDED, {"id": bead}) is None:
        return
    # it has no levels while it is closed, but what needs it has: a way back comes over one of these
    limit = None if priority_levels.is_due(db) else db.one(_NEEDING, {"id": bead, "epic": own["epic"]})[0]
    # an end that needs the beginning is no circle: an epic ends after its children, which begin after it
    for moment, targets in (((bead, False), ((bead, False), (bead, True))), ((bead, True), ((bead, True),))):
        for source in _edges(db, moment, own):
            for target in targets:
                way = None if source[0] == bead else _way(db, source, target, limit)
                if way is not None:
                    raise _deadlock([bead, *way])


def cuts(db: Database, bead: str, to: Status) -> list[Dependency]:
    """The dependencies whose removal leaves no circle once this closed bead has that status."""
    nodes = [node._replace(status=to) if node.id == bead else node for node in all_nodes(db)]
    return [circle.cut for circle in circles(Links(nodes, all_dependencies(db)))]


def _deadlock(beads: Sequence[str]) -> Deadlock:
    names = list(dict.fromkeys(beads))
    shown = " -> ".join([*names[:12], *(["..."] if len(names) > 12 else []), names[0]])
    return Deadlock(f"these beads would wait for each other: {shown}")


def _way(db: Database, source: Moment, target: Moment, limit: int | None) -> list[str] | None:
    """The beads on a way along needs from `source` to `target`, over no level above `limit`; None: there is none."""
    came: dict[Moment, Moment | None] = {source: None}
    todo = [source]
    while todo:
        moment = todo.pop()
        if moment == target:
            way: list[str] = []
            step: Moment | None = moment
            while step is not None:
                way.append(step[0])
                step = came[step]
            return way[::-1]
        own = db.one(_OWN, (moment[0],))
        level = own["done_level" if moment[1] else "b_level"]
        if own["status"] in CLOSED or (limit is not None and level > limit):
            continue
        for following in _edges(db, moment, own):
            if following not in came:
                came[following] = moment
                todo.append(following)
    return None


def _edges(db: Database, moment: Moment, own: Row) -> list[Moment]:
    """What the moment needs, were all beads live."""
    bead, end = moment
    if end:
        found: list[Moment] = [(bead, False)]
        if own["type"] == BeadType.EPIC:
            found += [(row[0], True) for row in db.all("SELECT id FROM beads WHERE epic = ?", (bead,))]
        return found
    found = [(row[0], True) for row in db.all(_BLOCKERS, (bead,))]
    if own["epic"] is not None:
        found.append((own["epic"], False))
    return found
