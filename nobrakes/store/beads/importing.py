"""Many beads added at once: worked out and staged outside of the write lock, then brought in whole by a few statements.

1. Staged is all that is to be written, in tables that only this connection has; refused is before anything is written.
2. Derived columns are computed with the rest, so each row is written once.
3. When another connection has committed meanwhile, what is staged is worked out anew, under the lock.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, BeadType, Dependency, DependencyType, Status
from ...core.beads.events import Kind
from ...core.errors import BadBead, NoSuchBead
from ...core.graph.links import Links, Node, node_of
from ...core.graph.ranks import rank, rises_at
from ...core.graph.usual import Usual
from .. import rows
from ..database import Database
from . import cycles, usual
from .recompute import Derived, Differences, differing, set_right
from .whole import all_dependencies, all_nodes

STAGED = {"beads": "incoming_beads", "bead_text": "incoming_texts", "edges": "incoming_edges"}
EVENTS = "incoming_events"


@dataclass(frozen=True, slots=True)
class Staged:
    """What was worked out beside the staged rows, for beads that are there already and for the graph.

    `version` is that of the database which it was worked out from.
    """

    version: int
    epics: Sequence[tuple[str, str]]  # (epic, bead)
    wrong: Differences
    expected: Usual


def stage(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> Staged:
    """Work out what adding the beads with their epics and the dependencies comes to; BadBead, NoSuchBead, Deadlock."""
    with db.read():
        return _stage(db, wanted, edges, now)


def bring_in(
    db: Database, staged: Staged, wanted: Sequence[Bead], edges: Sequence[Dependency], actor: str, now: float
) -> None:
    """Write what is staged, in the caller's transaction."""
    if _version(db) != staged.version:
        staged = _stage(db, wanted, edges, now)
    for table, of in STAGED.items():
        db.run(f"INSERT OR {'IGNORE' if table == 'edges' else 'ABORT'} INTO {table} SELECT * FROM temp.{of}")
    db.run(
        f"INSERT INTO events (at, kind, bead, actor, data) SELECT ?, ?, bead, ?, data FROM temp.{EVENTS}",
        (now, Kind.PROPOSED.value, actor),
    )
    db.noted = True
    db.run_many("UPDATE beads SET epic = ? WHERE id = ?", staged.epics)
    if staged.expected != usual.usual(db):
        usual.keep(db, staged.expected)
    set_right(db, staged.wrong)
    _clear(db)


def _version(db: Database) -> int:
    """Another number when another connection has committed since."""
    return int(db.one("PRAGMA data_version")[0])


def _clear(db: Database) -> None:
    for staged in (*STAGED.values(), EVENTS):
        db.run(f"DROP TABLE IF EXISTS temp.{staged}")


def _stage(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> Staged:
    version = _version(db)
    known = {node.id: node for node in all_nodes(db)}
    _refuse_wrong(wanted, edges, known)
    statuses = {one.id: lifecycle.added(one) for one in wanted}
    epics = []
    for edge in edges:
        if edge.bead in known and _is_child(edge):
            _refuse_second_epic(edge, known[edge.bead].epic)
            known[edge.bead] = known[edge.bead]._replace(epic=edge.needs)
            epics.append((edge.needs, edge.bead))
    nodes = [*known.values(), *(node_of(one)._replace(status=statuses[one.id], assignee=None) for one in wanted)]
    links = Links(nodes, (edge for edge in [*all_dependencies(db), *edges] if edge.type is DependencyType.BLOCKS))
    cycles.refuse_circles_in(links)
    estimates = [one.estimate for one in wanted if one.estimate is not None and one.type is not BeadType.EPIC]
    expected = usual.learnt(db, estimates)
    derived = Derived(links, now, expected)
    wrong = differing(db, derived, now) if known else {}
    _clear(db)
    for table, staged in STAGED.items():
        db.run(f"CREATE TEMP TABLE {staged} AS SELECT * FROM main.{table} WHERE 0")
    db.run(f"CREATE TEMP TABLE {EVENTS} (bead, data)")
    _fill(db, STAGED["beads"], ({**state_of(one, statuses[one.id], now), **derived.of(one.id)} for one in wanted))
    _fill(db, STAGED["bead_text"], (rows.text_values(one) | {"id": one.id} for one in wanted))
    _fill(db, EVENTS, _told(wanted, edges, statuses))
    _fill(
        db,
        STAGED["edges"],
        ({"bead": one.bead, "type": one.type.value, "needs": one.needs} for one in edges if not _is_child(one)),
    )
    return Staged(version, epics, wrong, expected)


def _is_child(edge: Dependency) -> bool:
    return edge.type is DependencyType.PARENT_CHILD


def _refuse_wrong(wanted: Sequence[Bead], edges: Sequence[Dependency], known: Mapping[str, Node]) -> None:
    new = {one.id for one in wanted}
    for one in wanted:
        if one.id in known:
            raise is_known(one.id)
    for one in wanted:
        _require(one.epic, new, known)
    for edge in edges:
        refuse_itself(edge)
        _require(edge.bead, new, known)
        _require(edge.needs, new, known)


def _require(bead: str | None, new: set[str], known: Mapping[str, Node]) -> None:
    if bead is not None and bead not in new and bead not in known:
        raise NoSuchBead(f"there is no bead '{bead[:80]}'")


def is_known(bead: str) -> BadBead:
    """The error for a bead that is there already."""
    return BadBead(f"there is a bead {bead} already", f"`nobrakes show {bead}` shows it.")


def refuse_itself(edge: Dependency) -> None:
    """BadBead for a bead that is related to itself; who waits for itself is a circle."""
    if edge.bead == edge.needs and edge.type in (DependencyType.RELATED, DependencyType.DISCOVERED_FROM):
        raise BadBead(f"bead {edge.bead} cannot be {edge.type.value} itself")


def two_epics(edge: Dependency, epic: str | None) -> BadBead:
    """The error for a bead that would be in a second epic."""
    return BadBead(
        f"bead {edge.bead} is in epic {epic} already, so it cannot be in {edge.needs} too",
        "A bead has one epic: remove the first parent-child dependency, or set `epic`.",
    )


def _refuse_second_epic(edge: Dependency, epic: str | None) -> None:
    if epic not in (None, edge.needs):
        raise two_epics(edge, epic)


def state_of(one: Bead, status: Status, now: float) -> dict[str, Any]:
    """The columns of `beads` of a bead that comes in, but those that its place in the graph decides."""
    created = one.created_at or now
    return {
        **rows.state_values(one),
        "id": one.id,
        "status": status.value,
        "assignee": None,
        "lease_until": None,
        "created_at": created,
        "updated_at": one.updated_at or created,
        "asleep": int(one.defer_until is not None and one.defer_until > now),
        "resting": int(one.retry_at is not None and one.retry_at > now),
        "ready_since": now,
        "rank": rank(one.priority, now, now),
        "rises_at": rises_at(now, now),
    }


def event_data(status: Status, needs: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What the event of a bead that comes in says."""
    return {"status": status.value, "needs": needs}


def _told(
    wanted: Sequence[Bead], edges: Sequence[Dependency], statuses: Mapping[str, Status]
) -> Iterator[Mapping[str, Any]]:
    needs = needs_of(edges)
    alone = {status: rows.as_json(event_data(status, ())) for status in set(statuses.values())}
    for one in wanted:
        status, own = statuses[one.id], needs.get(one.id)
        yield {"bead": one.id, "data": rows.as_json(event_data(status, own)) if own else alone[status]}


def needs_of(edges: Sequence[Dependency]) -> dict[str, list[list[str]]]:
    """What each bead depends on, as events say it."""
    needs: dict[str, list[list[str]]] = {}
    for edge in edges:
        needs.setdefault(edge.bead, []).append([edge.needs, edge.type.value])
    return needs


def _fill(db: Database, table: str, found: Iterator[Mapping[str, Any]]) -> None:
    columns = [row[1] for row in db.all(f"PRAGMA temp.table_info({table})")]
    marks = ", ".join("?" * len(columns))
    db.run_many(f"INSERT INTO temp.{table} VALUES ({marks})", map(itemgetter(*columns), found))
