"""Many beads added at once: worked out and staged outside of the write lock, then brought in whole by a few statements.

1. Staged is all that is to be written, in tables that only this connection has; refused is before anything is written.
2. Derived columns are computed with the rest, so each row is written once.
3. When another connection has committed meanwhile, what is staged is worked out anew, under the lock.
4. Beads that only wait for what is there stand beside it: nothing of before waits for them, so the graph is not read.
   The levels of what they wait for are due then.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, BeadType, Dependency, DependencyType, Status
from ...core.beads.events import Kind
from ...core.errors import BadBead, NoSuchBead
from ...core.graph.links import Links, Node
from ...core.graph.ranks import rank, rises_at
from ...core.graph.usual import Usual
from .. import rows
from ..database import Database
from . import cycles, priority_levels, usual
from .recompute import Derived, Differences, differing, set_right
from .whole import all_dependencies, all_nodes, node_of_places, nodes_of

STAGED = {"beads": "incoming_beads", "bead_text": "incoming_texts", "edges": "incoming_edges"}
EVENTS = "incoming_events"
_STATE = (
    *("id", "status", "type", "priority", "estimate", "epic", "needs_tests", "scaffolding", "created_at", "updated_at"),
    *("failures", "fence", "branch_kept", "branch", "ready_since", "rank", "rises_at"),
)
_RARE = ("held", "defer_until", "closed_at", "retry_at", "return_to", "merged_commit")
"""What most beads that come in have none of. Each None takes as long as ten texts, so these are written apart."""
_NONE = (None,) * len(_RARE)
_WORDS = {type_: type_.value for type_ in DependencyType}


@dataclass(frozen=True, slots=True)
class Staged:
    """What was worked out beside the staged rows, for beads that are there already and for the graph.

    `version` is that of the database which it was worked out from. `needed`: bead of before -> how many wait for it
    now, where the new ones stand beside the graph; None: the graph was worked out as a whole.
    """

    version: int
    epics: Sequence[tuple[str, str]]  # (epic, bead)
    wrong: Differences
    expected: Usual
    needed: Mapping[str, int] | None = None


def is_beside(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency]) -> bool:
    """Whether these, no more than are there, only wait for what is there and belong to nothing of it."""
    new = {one.id for one in wanted}
    return (
        all(one.epic is None or one.epic in new for one in wanted)
        and all(edge.bead in new for edge in edges)
        and len(wanted) <= db.one("SELECT count(*) FROM beads")[0]
    )


def stage(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> Staged:
    """Work out what adding the beads with their epics and the dependencies comes to; BadBead, NoSuchBead, Deadlock."""
    with db.read():
        return _stage(db, wanted, edges, now)


def bring_in(
    db: Database, staged: Staged, wanted: Sequence[Bead], edges: Sequence[Dependency], actor: str, now: float
) -> None:
    """Write what is staged, in the caller's transaction."""
    if db.data_version() != staged.version:
        staged = _stage(db, wanted, edges, now)
    for table, of in STAGED.items():
        db.run(f"INSERT OR {'IGNORE' if table == 'edges' else 'ABORT'} INTO {table} SELECT * FROM temp.{of}")
    db.run(
        f"INSERT INTO events (at, kind, bead, actor, data) SELECT ?, ?, bead, ?, data FROM temp.{EVENTS}",
        (now, Kind.PROPOSED.value, actor),
    )
    db.noted = True
    if staged.needed is None:
        db.run_many("UPDATE beads SET epic = ? WHERE id = ?", staged.epics)
        if staged.expected != usual.usual(db):
            usual.keep(db, staged.expected)
        set_right(db, staged.wrong)
    else:
        counted = [(count, bead) for bead, count in staged.needed.items()]
        db.run_many("UPDATE beads SET dependents = dependents + ? WHERE id = ?", counted)
        if any(one.estimate for one in wanted) and usual.learn(db):
            priority_levels.mark_unestimated(db)
        priority_levels.mark(db, staged.needed)


def clear(db: Database) -> None:
    """Let go of what was staged; nobody waits for it, so it is called after the write."""
    for staged in (*STAGED.values(), EVENTS):
        db.run(f"DROP TABLE IF EXISTS temp.{staged}")


def _stage(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> Staged:
    version = db.data_version()
    beside = is_beside(db, wanted, edges)
    known = {node.id: node for node in (_named(db, wanted, edges) if beside else all_nodes(db))}
    _refuse_wrong(wanted, edges, known)
    statuses = {one.id: lifecycle.added(one) for one in wanted}
    epics = []
    for edge in edges:
        if edge.bead in known and _is_child(edge):
            _refuse_second_epic(edge, known[edge.bead].epic)
            known[edge.bead] = known[edge.bead]._replace(epic=edge.needs)
            epics.append((edge.needs, edge.bead))
    nodes = [*known.values(), *(_node(one, statuses[one.id]) for one in wanted)]
    old = () if beside else all_dependencies(db)
    blocks = [edge for edge in (*old, *edges) if edge[2] is DependencyType.BLOCKS]
    links = Links(nodes, blocks)
    needed = Counter(edge.needs for edge in blocks if edge.needs in known) if beside else None
    del nodes, blocks, old
    cycles.refuse_circles_in(links)
    estimates = [one.estimate for one in wanted if one.estimate is not None and one.type is not BeadType.EPIC]
    expected = usual.usual(db) if beside else usual.learnt(db, estimates)
    derived = Derived(links, now, expected)
    links.forget_moments()
    wrong = differing(db, derived, now) if known and not beside else {}
    clear(db)
    for table, staged in STAGED.items():
        db.run(f"CREATE TEMP TABLE {staged} AS SELECT * FROM main.{table} WHERE 0")
    db.run(f"CREATE TEMP TABLE {EVENTS} (bead, data)")
    by_id = sorted(wanted, key=attrgetter("id"))  # rows that lie in order are written, and found, sooner
    begins = (now, rank(0, now, now), rises_at(now, now))
    apart: list[tuple[Any, ...]] = []

    def states() -> Iterator[tuple[Any, ...]]:
        for one in by_id:
            state, rare = (*_state(one, statuses[one.id], *begins), *derived.values(one.id)), _rare(one)
            if rare == _NONE:
                yield state
            else:
                apart.append((*state, *rare))

    _fill(db, STAGED["beads"], (*_STATE, *Derived.COLUMNS), states())
    _fill(db, STAGED["beads"], (*_STATE, *Derived.COLUMNS, *_RARE), apart)
    _fill(db, STAGED["bead_text"], ("id", *rows.TEXT_COLUMNS), ((one.id, *rows.texts_of(one)) for one in by_id))
    _fill(db, EVENTS, ("bead", "data"), _told(wanted, edges, statuses))
    _fill(
        db,
        STAGED["edges"],
        ("bead", "type", "needs"),
        ((bead, _WORDS[type_], needs) for bead, needs, type_ in edges if type_ is not DependencyType.PARENT_CHILD),
    )
    return Staged(version, epics, wrong, expected, needed)


def _named(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency]) -> list[Node]:
    """What is there of that which has these names. Whom it belongs to does not matter."""
    named = {one.id for one in wanted}.union(edge.needs for edge in edges)
    return [node._replace(epic=None) for node in nodes_of(db, named)]


def _is_child(edge: Dependency) -> bool:
    return edge.type is DependencyType.PARENT_CHILD


def _refuse_wrong(wanted: Sequence[Bead], edges: Sequence[Dependency], known: Mapping[str, Node]) -> None:
    new = {one.id for one in wanted}
    for one in wanted:
        if one.id in known:
            raise is_known(one.id)
    new.update(known)
    for one in wanted:
        if one.epic is not None:
            _require(one.epic, new)
    for edge in edges:
        refuse_itself(edge)
        _require(edge.bead, new)
        _require(edge.needs, new)


def _require(bead: str, known: Collection[str]) -> None:
    if bead not in known:
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
    return {
        **dict(zip(_STATE, _state(one, status, now, rank(0, now, now), rises_at(now, now)), strict=True)),
        **dict(zip(_RARE, _rare(one), strict=True)),
        "asleep": int(one.defer_until is not None and one.defer_until > now),
        "resting": int(one.retry_at is not None and one.retry_at > now),
    }


def _state(one: Bead, status: Status, now: float, risen: int, late: float) -> tuple[Any, ...]:
    """_STATE of a bead; `risen` is by how much it has risen, `late` is when it rises first."""
    created = one.created_at or now
    return (
        one.id,
        status.value,
        one.type.value,
        one.priority,
        one.estimate,
        one.epic,
        1 if one.needs_tests else 0,  # a truth takes as long as ten texts, too
        1 if one.scaffolding else 0,
        created,
        one.updated_at or created,
        one.failures,
        one.fence,
        1 if one.branch_kept else 0,
        one.branch,
        now,
        one.priority + risen,
        late,
    )


def _rare(one: Bead) -> tuple[Any, ...]:
    """_RARE of a bead."""
    return_to = one.return_to.value if one.return_to else None
    return one.held, one.defer_until, one.closed_at, one.retry_at, return_to, one.merged_commit


def _node(one: Bead, status: Status) -> Node:
    """The bead as it comes in."""
    places = (one.id, status, one.type.value, one.title, one.priority, one.estimate, one.epic)
    return node_of_places((*places, one.held, one.defer_until, one.retry_at, None, None))


def event_data(status: Status, needs: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What the event of a bead that comes in says."""
    return {"status": status.value, "needs": needs}


def _told(
    wanted: Sequence[Bead], edges: Sequence[Dependency], statuses: Mapping[str, Status]
) -> Iterator[tuple[str, str]]:
    """(bead, `event_data` as JSON): of texts, since ids and types are words that JSON has as they are."""
    of: dict[str, list[Dependency]] = {}
    for edge in edges:
        of.setdefault(edge[0], []).append(edge)
    for one in wanted:
        needs = ",".join([f'["{other}","{_WORDS[type_]}"]' for _, other, type_ in of.get(one.id, ())])
        yield one.id, f'{{"needs":[{needs}],"status":"{statuses[one.id].value}"}}'


def needs_of(edges: Sequence[Dependency]) -> dict[str, list[list[str]]]:
    """What each bead depends on, as events say it."""
    needs: dict[str, list[list[str]]] = {}
    for edge in edges:
        needs.setdefault(edge.bead, []).append([edge.needs, edge.type.value])
    return needs


def _fill(db: Database, table: str, columns: Sequence[str], found: Iterable[tuple[Any, ...]]) -> None:
    names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
    db.run_many(f"INSERT INTO temp.{table} ({names}) VALUES ({marks})", found)
