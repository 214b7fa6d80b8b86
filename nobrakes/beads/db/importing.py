"""What is computed of the whole graph: many beads added at once, and derived columns corrected.

1. Imports are computed into temporary tables outside of the write lock, refused before anything is written, then
   written in a few statements.
2. Derived columns are computed with the rest, so each row is written once.
3. After another connection's commit they are recomputed under the lock.
4. Beads that only wait for existing ones leave these unchanged, so the graph is not read; the levels of what they wait
   for are due then.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any

from ...db import rows
from ...db.database import Database, Row
from ...db.fast import CLOSES_OFF, UNFINISHED
from ...errors import BadBead, Deadlock, NoSuchBead
from ...events.kinds import Kind
from ...records import frozen, grouped
from ...text.cleaning import count
from .. import graph, lifecycle
from ..graph import AGEING_SECONDS, Links, Node, TypicalMinutes, days, rank, rises_at
from ..model import CLOSED, FIRST, Bead, BeadType, Dependency, DependencyType, Status
from ..readiness import Circle, Readiness, circles
from . import levels, moves

Differences = dict[str, dict[str, tuple[Any, Any]]]
"""Bead -> column -> (stored, correct)."""

_OWN = "SELECT status, type, epic, b_level, done_level FROM beads WHERE id = ?"
_BLOCKERS = "SELECT needs FROM edges WHERE bead = ? AND type = 'blocks'"
_NEEDED = """SELECT 1 FROM edges WHERE needs = :id AND type = 'blocks' UNION ALL SELECT 1 FROM beads WHERE epic = :id
LIMIT 1"""
_NEEDING = f"""SELECT coalesce(max(level), -1) FROM (
SELECT b_level AS level FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = :id AND edges.type = 'blocks' AND {UNFINISHED}
UNION ALL SELECT b_level FROM beads WHERE epic = :id AND {UNFINISHED}
UNION ALL SELECT done_level FROM beads WHERE id = :epic AND {UNFINISHED})"""

TimePoint = tuple[str, bool]
"""A bead, and whether its end is meant (else its start)."""


# What a moment needs has a level at least as high, so a way back never leads over a higher level than the waiting
# bead's own; while levels are due all ways are gone. SQLite's recursive queries are far slower than a statement a step.
def refuse_circle(db: Database, dependency: Dependency) -> None:
    """Deadlock if the new dependency would close a circle of live beads."""
    waiting, needed = (db.one(_OWN, (bead,)) for bead in (dependency.bead, dependency.needs))
    if dependency.bead == dependency.needs:
        raise Deadlock(f"bead {dependency.bead} cannot wait for itself")
    if dependency.type is DependencyType.PARENT_CHILD:
        _refuse_nesting(db, dependency)
    if waiting["status"] in CLOSED or needed["status"] in CLOSED:
        return
    lost = levels.is_due(db)
    start, done = (None, None) if lost else (waiting["b_level"], needed["done_level"])
    if dependency.type is DependencyType.BLOCKS:
        if (way := _path(db, (dependency.needs, True), (dependency.bead, False), start)) is not None:
            raise _deadlock([dependency.bead, *way])
        return
    way = _path(db, (dependency.needs, False), (dependency.bead, False), start)
    if way is None and needed["type"] == BeadType.EPIC:
        # the epic cannot end before its new child ends
        way = _path(db, (dependency.bead, True), (dependency.needs, True), done)
        if way is not None:
            raise _deadlock([dependency.needs, *way])
    if way is not None:
        raise _deadlock([dependency.bead, *way])


def _refuse_nesting(db: Database, dependency: Dependency) -> None:
    """Deadlock if the new parent lies inside its child; closed beads count too."""
    chain = [dependency.needs]
    while chain[-1] != dependency.bead:
        if (epic := db.one(_OWN, (chain[-1],))["epic"]) is None:
            return
        chain.append(epic)
    raise _deadlock([dependency.bead, *chain])


def refuse_circles(db: Database) -> None:
    refuse_circles_in(levels.all_links(db))


def refuse_circles_in(links: Links) -> None:
    """Deadlock if this graph has a circle; before an import is written."""
    if found := circles(links):
        circle = found[0]
        more = f" ({count(len(found) - 1, 'more circle')})" if len(found) > 1 else ""
        cut = f"{circle.cut.bead} -> {circle.cut.needs} ({circle.cut.type.value})"
        error = _deadlock([*circle.members, circle.members[0]])
        raise Deadlock(f"{error}{more}", f"Leave out the dependency {cut}.")


def refuse_reopening(db: Database, bead: str) -> None:
    """Deadlock if reopening the bead would close a circle of live beads."""
    own = db.one(_OWN, (bead,))
    if own["epic"] is None and db.maybe(_NEEDED, {"id": bead}) is None:
        return
    # it has no levels while it is closed, but what needs it has: a way back comes over one of these
    limit = None if levels.is_due(db) else db.one(_NEEDING, {"id": bead, "epic": own["epic"]})[0]
    # an end that needs the beginning is not a circle: an epic ends after its children, which begin after it
    for moment, targets in (((bead, False), ((bead, False), (bead, True))), ((bead, True), ((bead, True),))):
        for source in _edges(db, moment, own):
            for target in targets:
                way = None if source[0] == bead else _path(db, source, target, limit)
                if way is not None:
                    raise _deadlock([bead, *way])


def cuts(db: Database, bead: str, to: Status) -> list[Dependency]:
    """The dependencies to remove so that no circle remains once the closed bead has this status."""
    nodes = [node._replace(status=to) if node.id == bead else node for node in levels.all_nodes(db)]
    return [circle.cut for circle in circles(Links(nodes, levels.all_dependencies(db)))]


def _deadlock(beads: Sequence[str]) -> Deadlock:
    names = list(dict.fromkeys(beads))
    shown = " -> ".join([*names[:12], *(["..."] if len(names) > 12 else []), names[0]])
    return Deadlock(f"these beads would wait for each other: {shown}")


def _path(db: Database, source: TimePoint, target: TimePoint, limit: int | None) -> list[str] | None:
    """The beads on a path along needs from `source` to `target`, over no level above `limit`."""
    came: dict[TimePoint, TimePoint | None] = {source: None}
    todo = [source]
    while todo:
        if (moment := todo.pop()) == target:
            way: list[str] = []
            step: TimePoint | None = moment
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


def _edges(db: Database, moment: TimePoint, own: Row) -> list[TimePoint]:
    bead, end = moment
    if end:
        found: list[TimePoint] = [(bead, False)]
        if own["type"] == BeadType.EPIC:
            found += [(row[0], True) for row in db.all("SELECT id FROM beads WHERE epic = ?", (bead,))]
        return found
    found = [(row[0], True) for row in db.all(_BLOCKERS, (bead,))]
    if own["epic"] is not None:
        found.append((own["epic"], False))
    return found


STAGED = {"beads": "incoming_beads", "bead_text": "incoming_texts", "edges": "incoming_edges"}
EVENTS = "incoming_events"
_STATE = ("id", "status", "type", "priority", "estimate", "epic", "needs_tests", "created_at", "updated_at")
_TEXTS = ("id", "title", "description", "acceptance", "labels")
_NOT_BROUGHT = ("assignee", "lease_until")
_RARE = tuple(name for name in rows.STATE_COLUMNS if name not in (*_STATE, *_NOT_BROUGHT))
_RANK = f"?{_STATE.index('priority') + 1} + {{}}"
_FIRST = {STAGED["beads"]: _RARE, STAGED["bead_text"]: tuple(one for one in rows.TEXT_COLUMNS if one not in _TEXTS)}
"""Columns that few beads have: they are set afterwards, as each value costs, and None as much as ten texts."""
_MARKS = {"estimate": "nullif({}, 0)", "epic": "nullif({}, '')"}
_PLAIN: Mapping[str, str] = {word: word.value for kind in (Status, BeadType, DependencyType) for word in kind}
"""`value` of each, which takes five times as long."""
_BLOCKS, _PARENT = DependencyType.BLOCKS, DependencyType.PARENT_CHILD  # each look-up in the class costs


@frozen
class Staged:
    """Results beside the staged rows, for existing beads and the graph. `version`: of the database they come from.
    `needed`: existing bead -> its new dependents, if the new beads stand beside the graph; None: the full graph was
    computed."""

    version: int
    epics: Sequence[tuple[str, str]]  # (epic, bead)
    wrong: Differences
    expected: TypicalMinutes
    needed: Mapping[str, int] | None = None


def only_waits(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency]) -> bool:
    """Whether these only wait for existing beads and belong to none."""
    new = {one.id for one in wanted}
    return (
        len(wanted) <= db.one("SELECT count(*) FROM beads")[0]
        and all(one.epic is None or one.epic in new for one in wanted)
        and all(edge.bead in new for edge in edges)
    )


def stage(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> Staged:
    """Compute the import of beads, epics and dependencies. Raises BadBead, NoSuchBead, Deadlock."""
    with db.read():
        return _prepare(db, wanted, edges, now)


def bring_in(
    db: Database, staged: Staged, wanted: Sequence[Bead], edges: Sequence[Dependency], actor: str, now: float
) -> None:
    """Write what is staged, in the caller's transaction."""
    if db.data_version() != staged.version:
        staged = _prepare(db, wanted, edges, now)
    for table, of in STAGED.items():
        db.run(f"INSERT OR {'IGNORE' if table == 'edges' else 'ABORT'} INTO {table} SELECT * FROM temp.{of}")
    db.run(
        f"INSERT INTO events (at, kind, bead, actor, data) SELECT ?, ?, bead, ?, data FROM temp.{EVENTS}",
        (now, Kind.PROPOSED.value, actor),
    )
    db.noted = True
    if staged.needed is None:
        db.run_many("UPDATE beads SET epic = ? WHERE id = ?", staged.epics)
        if staged.expected != levels.typical_minutes(db):
            levels.keep(db, staged.expected)
        set_right(db, staged.wrong)
    else:
        counted = [(count, bead) for bead, count in staged.needed.items()]
        db.run_many("UPDATE beads SET dependents = dependents + ? WHERE id = ?", counted)
        if any(one.estimate for one in wanted) and levels.learn(db):
            levels.mark_unestimated(db)
        levels.mark(db, staged.needed)


def clear(db: Database) -> None:
    for staged in (*STAGED.values(), EVENTS):
        db.run(f"DROP TABLE IF EXISTS temp.{staged}")


def _prepare(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> Staged:
    version = db.data_version()
    beside = only_waits(db, wanted, edges)
    known = {node.id: node for node in (_named(db, wanted, edges) if beside else levels.all_nodes(db))}
    _refuse_wrong(wanted, edges, known)
    statuses = [lifecycle.added(one) for one in wanted]
    epics = []
    for edge in edges:
        if edge[2] is _PARENT and edge.bead in known:
            if (epic := known[edge.bead].epic) not in (None, edge.needs):
                raise two_epics(edge, epic)
            known[edge.bead] = known[edge.bead]._replace(epic=edge.needs)
            epics.append((edge.needs, edge.bead))
    nodes = [*known.values(), *map(_node, wanted, statuses)]
    old = () if beside else levels.all_dependencies(db)
    blocks = [edge for edge in chain(old, edges) if edge[2] is _BLOCKS]
    links = Links(nodes, blocks)
    needed = Counter(edge.needs for edge in blocks if edge.needs in known) if beside else None
    del nodes, blocks, old
    refuse_circles_in(links)
    estimates = [one.estimate for one in wanted if one.estimate is not None and one.type is not BeadType.EPIC]
    expected = levels.typical_minutes(db) if beside else levels.learnt(db, estimates)
    derived = Derived(links, now, expected)
    wrong = differing(db, derived, now) if known and not beside else {}
    clear(db)
    db.run("PRAGMA temp.page_size = 65536")  # large ones: the tables are written and read once, from end to end
    db.run("PRAGMA temp.secure_delete = OFF")  # the file that holds them goes as a whole
    for table, staged in STAGED.items():
        db.run(f"CREATE TEMP TABLE {staged} AS SELECT * FROM main.{table} WHERE 0")
    db.run(f"CREATE TEMP TABLE {EVENTS} (bead, data)")
    new = [one.id for one in wanted]
    of_graph = zip(wanted, statuses, created_times(len(new), now), derived.common(new), strict=True)
    states = (_state(one, status, came) + values for one, status, came, values in of_graph)
    same = {name: repr(value) for name, value in _begins(0, now).items()} | {"rank": _RANK.format(rank(0, now, now))}
    _fill(db, STAGED["beads"], (*_STATE, *Derived.COMMON), states, same | dict.fromkeys(Derived.RARE, "0"))
    rare = ((*values, at) for at, bead in enumerate(new, 1) if (values := derived.rare(bead)) != NOTHING_RARE)
    db.run_many(f"UPDATE temp.{STAGED['beads']} SET {_sets(Derived.RARE)} WHERE rowid = ?", rare)
    del links, derived, new, of_graph, states, rare  # what is known of a large graph is not kept beside its events
    texts = ((one.id, one.title, one.description, rows.texts(one.acceptance), rows.texts(one.labels)) for one in wanted)
    _fill(db, STAGED["bead_text"], _TEXTS, texts)
    for table in _FIRST:
        _set_others(db, table, wanted)
    _fill(db, EVENTS, ("bead", "data"), _told(wanted, edges, statuses))
    stored = ((bead, _PLAIN[type_], needs) for bead, needs, type_ in edges if type_ is not _PARENT)
    _fill(db, STAGED["edges"], ("bead", "type", "needs"), stored)
    return Staged(version, epics, wrong, expected, needed)


def _named(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency]) -> list[Node]:
    named = {one.id for one in wanted}.union(edge.needs for edge in edges)
    return [node._replace(epic=None) for node in levels.nodes_of(db, named)]


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
        if edge[0] == edge[1]:
            refuse_itself(edge)
    for place in (0, 1):
        if not new.issuperset(map(itemgetter(place), edges)):
            for edge in edges:
                _require(edge[place], new)


def _require(bead: str, known: Collection[str]) -> None:
    if bead not in known:
        raise NoSuchBead(f"there is no bead '{bead[:80]}'")


def is_known(bead: str) -> BadBead:
    return BadBead(f"bead {bead} already exists", f"`nobrakes show {bead}` shows the bead.")


def refuse_itself(edge: Dependency) -> None:
    if edge.bead == edge.needs and edge.type in (DependencyType.RELATED, DependencyType.DISCOVERED_FROM):
        raise BadBead(f"bead {edge.bead} cannot be {edge.type.value} to itself")


def two_epics(edge: Dependency, epic: str | None) -> BadBead:
    return BadBead(
        f"bead {edge.bead} is in epic {epic} already, so it cannot be in {edge.needs} too",
        "A bead has one epic: remove the first parent-child dependency, or set `epic`.",
    )


def created_times(many: int, now: float) -> Iterator[float]:
    """When each bead came, each a little later: 1e-5 s is the least that SQLite writes as JSON."""
    first = round(now * 1e5)
    return (place / 1e5 for place in range(first, first + many))


def state_of(one: Bead, status: Status, came: float, now: float) -> dict[str, Any]:
    """The columns of a new bead, except those that depend on the graph."""
    return {
        **dict(zip(_STATE, _state(one, status, came), strict=True)),
        **_begins(one.priority, now),
        **{name: _column(name, getattr(one, name)) for name in (*_RARE, *_MARKS)},
        "asleep": int(one.defer_until is not None and one.defer_until > now),
        "resting": int(one.retry_at is not None and one.retry_at > now),
    }


def _state(one: Bead, status: Status, came: float) -> tuple[Any, ...]:
    created = one.created_at or came
    return (
        one.id,
        _PLAIN[status],
        _PLAIN[one.type],
        one.priority,
        one.estimate or 0,
        one.epic or "",
        1 if one.needs_tests else 0,  # a truth takes as long as ten texts, too
        created,
        one.updated_at if one.updated_at > created else created,
    )


def _begins(priority: int, now: float) -> dict[str, Any]:
    return {"ready_since": now, "rank": rank(priority, now, now), "rises_at": rises_at(now, now), "freed_at": 0}


def _column(name: str, value: Any) -> Any:
    return rows.WRITTEN[name](value) if name in rows.WRITTEN else getattr(value, "value", value)


def _node(one: Bead, status: Status) -> Node:
    places = (one.id, status, _PLAIN[one.type], one.title, one.priority, one.estimate, one.epic)
    return levels.node_of_places((*places, one.held, one.defer_until, one.retry_at, None, None))


def event_data(status: Status, needs: Sequence[Sequence[str]]) -> dict[str, Any]:
    return {"status": status.value, "needs": needs}


def _told(wanted: Sequence[Bead], edges: Sequence[Dependency], statuses: Sequence[Status]) -> Iterator[tuple[str, str]]:
    """(bead, `event_data` as JSON), joined as texts: ids and types need no escaping."""
    of: dict[str, list[Dependency]] = {}
    for edge in edges:
        of.setdefault(edge[0], []).append(edge)
    for one, status in zip(wanted, statuses, strict=True):
        needs = ",".join([f'["{other}","{_PLAIN[type_]}"]' for _, other, type_ in of.get(one.id, ())])
        yield one.id, f'{{"needs":[{needs}],"status":"{_PLAIN[status]}"}}'


def needs_of(edges: Sequence[Dependency]) -> dict[str, list[list[str]]]:
    return grouped((edge.bead, [edge.needs, edge.type.value]) for edge in edges)


def _fill(
    db: Database,
    table: str,
    columns: Sequence[str],
    found: Iterable[tuple[Any, ...]],
    others: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """`others`: columns that follow from these, or are the same in every row, as SQL."""
    marks = {name: _MARKS.get(name, "{}").format(f"?{place}") for place, name in enumerate(columns, 1)}
    marks.update(others)
    for name in _FIRST.get(table, ()):
        first = _column(name, FIRST[name])
        marks[name] = "NULL" if first is None else f"'{first}'" if isinstance(first, str) else str(int(first))
    names = ", ".join(f'"{name}"' for name in marks)
    db.run_many(f"INSERT INTO temp.{table} ({names}) VALUES ({', '.join(marks.values())})", found)


def _set_others(db: Database, table: str, wanted: Sequence[Bead]) -> None:
    """The rare columns of each bead of which one is not at its first value."""
    read, first = attrgetter(*_FIRST[table]), tuple(FIRST[name] for name in _FIRST[table])
    found = ((*map(_column, _FIRST[table], read(one)), at) for at, one in enumerate(wanted, 1) if read(one) != first)
    db.run_many(f"UPDATE temp.{table} SET {_sets(_FIRST[table])} WHERE rowid = ?", found)


def _sets(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}" = ?' for name in columns)


LEVEL_COLUMNS = ("b_level", "done_level")


class Derived:
    """The correct derived columns of each bead in a graph."""

    COMMON = ("open_blockers", "b_level", "done_level", "dependents")
    RARE = ("children", "open_children", "done_children", "asleep", "resting")
    COLUMNS = (*COMMON, *RARE)

    def __init__(self, links: Links, now: float, expected: TypicalMinutes) -> None:
        self._links, self._now = links, now
        self._readiness = Readiness(links, now)
        self._perhaps_finished = {one.id for one in links.nodes.values() if one.status in (Status.DONE, Status.LANDED)}
        self._ranks = graph.levels(links, expected, keep=False)
        self._dependents = Counter(chain.from_iterable(links.blockers.values()))

    def common(self, beads: Iterable[str]) -> Iterator[tuple[int, ...]]:
        """The values of COMMON, of each of the beads."""
        links, ranks, count = self._links, self._ranks, self._dependents.get
        parents, blockers, perhaps_finished = links.parents, links.blockers, self._perhaps_finished
        for bead in beads:
            needed = blockers.get(bead, ())
            open_blockers = len(needed)  # of most beads
            if bead in parents or (needed and not perhaps_finished.isdisjoint(needed)):
                open_blockers = self._readiness.open_blockers(bead)
            start, done = ranks[bead]
            yield open_blockers, start, done, count(bead, 0)

    def rare(self, bead: str) -> tuple[int, ...]:
        """The values of RARE; NOTHING_RARE of most beads."""
        node, now = self._links.nodes[bead], self._now
        if bead not in self._links.children and node.defer_until is None and node.retry_at is None:
            return NOTHING_RARE
        statuses = [self._links.nodes[child].status for child in self._links.children.get(bead, ())]
        aside = (until is not None and until > now for until in (node.defer_until, node.retry_at))
        is_open = sum(one not in CLOSED for one in statuses)
        return len(statuses), is_open, statuses.count(Status.DONE), *map(int, aside)


NOTHING_RARE = (0,) * len(Derived.RARE)


def differences(db: Database, now: float, lag: bool = False) -> Differences:
    """`lag`: due levels are not a difference, and none is compared while any are due."""
    late = set(LEVEL_COLUMNS) if lag and levels.is_due(db) else set()
    return differing(db, Derived(levels.all_links(db), now, levels.typical_minutes(db)), now, late)


def differing(db: Database, derived: Derived, now: float, late: Collection[str] = ()) -> Differences:
    """As `differences`, from derived values. `late`: columns that may lag."""
    found: Differences = {}
    stored = db.all("SELECT * FROM beads")
    for row, values in zip(stored, derived.common(row["id"] for row in stored), strict=True):
        own = dict(zip(Derived.COLUMNS, values + derived.rare(row["id"]), strict=True)) | _class(row, now)
        wrong = {name: (row[name], value) for name, value in own.items() if row[name] != value and name not in late}
        if wrong:
            found[row["id"]] = wrong
    return found


def _class(row: Row, now: float) -> dict[str, Any]:
    since, risen = row["ready_since"], row["priority"] - row["rank"]
    if 0 <= risen <= days(since, now):
        now = since + risen * AGEING_SECONDS
    return {"rank": rank(row["priority"], since, now), "rises_at": rises_at(since, now)}


def told(found: Mapping[str, Mapping[str, tuple[Any, Any]]]) -> list[str]:
    return [
        f"{bead}.{name} is {kept}, but should be {right}"
        for bead, columns in found.items()
        for name, (kept, right) in columns.items()
    ]


def problems(db: Database) -> list[str]:
    """Faults of the file and of references."""
    integrity = [str(row[0]) for row in db.all("PRAGMA integrity_check")]
    if integrity != ["ok"]:
        return integrity
    return [
        f"a row of {row[0]} refers to a row of {row[2]} that does not exist"
        for row in db.all("PRAGMA foreign_key_check")
    ]


def recompute(db: Database, now: float) -> int:
    """Correct every derived column in the caller's transaction; returns how many beads were wrong."""
    levels.learn(db, anyhow=True)
    found = differences(db, now)
    set_right(db, found)
    return len(found)


def set_right(db: Database, found: Differences) -> None:
    """Correct these columns; all levels then match the graph."""
    # one statement for each set of columns: an import sets the same ones in most beads
    groups = grouped((tuple(wrong), (*(now for _, now in wrong.values()), bead)) for bead, wrong in found.items())
    for columns, values in groups.items():
        db.run_many(f"UPDATE beads SET {_sets(columns)} WHERE id = ?", values)
    levels.nothing_due(db)


def stored_differences(db: Database) -> dict[str, dict[str, tuple[Any, Any]]]:
    now = db.now()
    moves.wake(db, now)
    with db.read():
        return differences(db, now, lag=True)


def recount(db: Database) -> int:
    """Returns how many beads were wrong."""
    with db.write():
        return recompute(db, db.now())


def wrong_counters(db: Database) -> list[str]:
    return [] if is_sound(db) else told(stored_differences(db))


def check(db: Database) -> list[str]:
    return problems(db) or wrong_counters(db)


def stored_circles(db: Database) -> list[Circle]:
    """Beads that wait for each other."""
    return [] if is_sound(db) else circles(levels.all_links(db))


# Each derived column follows from those of the bead's neighbours (Derived computes it from the whole graph): where it
# does so for every bead, all are right, and no bead with minutes of its own is in a circle, since around one levels
# would only fall. Epics and parents, which can be in one without minutes, are few, and looked at one by one;
# closed ones, which no circle counts, could close each other off.
_UNSOUND = f"""SELECT 1 FROM beads AS one WHERE one.estimate < 0
OR one.children <> (SELECT count(*) FROM beads WHERE epic = one.id)
OR (one.children, one.open_children, one.done_children) <> (0, 0, 0) AND (one.open_children, one.done_children) <>
    (SELECT total(status NOT IN ({levels.OVER})), total(status = 'done') FROM beads WHERE epic = one.id)
OR one.dependents <> (SELECT count(*) FROM edges WHERE needs = one.id AND type = 'blocks')
OR one.asleep <> (coalesce(one.defer_until, 0) > :now) OR one.resting <> (coalesce(one.retry_at, 0) > :now)
OR one.priority - one.rank NOT BETWEEN 0 AND max(0, CAST((:now - one.ready_since) / {AGEING_SECONDS} AS INTEGER))
OR one.rises_at <> one.ready_since + (one.priority - one.rank + 1) * {AGEING_SECONDS}
OR one.open_blockers <> (one.epic IS NOT NULL AND EXISTS (SELECT 1 FROM beads WHERE id = one.epic AND {CLOSES_OFF})) +
    (SELECT count(*) FROM edges CROSS JOIN beads AS needed ON needed.id = needs WHERE bead = one.id
    AND edges.type = 'blocks' AND needed.status <> 'done'
    AND NOT (needed.status = 'landed' AND coalesce(needed.epic = one.epic, 0)))
OR one.done_level <> iif(one.status IN ({levels.OVER}), 0, max(coalesce((SELECT max(b_level) FROM edges
    CROSS JOIN beads ON beads.id = bead WHERE needs = one.id AND edges.type = 'blocks'), 0),
    coalesce((SELECT done_level FROM beads WHERE id = one.epic AND type = 'epic'), 0)))
OR one.b_level <> iif(one.status IN ({levels.OVER}), 0, max({levels.MINUTES} + one.done_level,
    coalesce((SELECT max(b_level) FROM beads WHERE epic = one.id), 0)))
OR one.children > 0 AND one.epic IS NOT NULL AND one.open_blockers > 0 AND one.status IN ({levels.OVER})
UNION ALL SELECT 1 FROM edges WHERE type = 'parent-child' LIMIT 1"""
_SOURCES = ("beads", "edges", "settings", "levels_due")
_PARENTS = f"{rows.NODE} WHERE type = 'epic' OR children > 0"
_BETWEEN = """SELECT bead, needs, edges.type FROM edges CROSS JOIN beads AS one ON one.id = bead
CROSS JOIN beads AS other ON other.id = needs
WHERE (one.type = 'epic' OR one.children > 0) AND (other.type = 'epic' OR other.children > 0)"""


def is_sound(db: Database) -> bool:
    """Whether SQL alone shows that every derived column is right and that no beads wait for each other."""
    now = db.now()
    moves.wake(db, now)
    return bool(db.moment(lambda: db.computed(_UNSOUND, (), lambda: (_is_sound(db, now),), _SOURCES))[0])


def _is_sound(db: Database, now: float) -> bool:
    expected = levels.typical_minutes(db)
    given = {"now": now, "by_type": rows.as_json(dict(expected.by_type)), "minutes": expected.minutes}
    if levels.is_due(db) or db.plain(_UNSOUND, given):
        return False
    parents = [rows.plain_node(row) for row in db.plain(_PARENTS)]
    needs = [Dependency(bead, needed, DependencyType(type_)) for bead, needed, type_ in db.plain(_BETWEEN)]
    return not circles(Links(parents, needs))


_MEASURED = """UPDATE runs SET active_at = active_at + :by,
sampled_at = iif(sampled_at > 0, sampled_at + :by, sampled_at),
hard_deadline = iif(hard_deadline > 0, hard_deadline + :by, hard_deadline), term_at = term_at + :by"""

_ALSO_MEASURED = (
    "UPDATE beads SET lease_until = lease_until + :by WHERE assignee IS NOT NULL",
    # the minutes of an agent at work are counted from there
    "UPDATE attempts SET started_at = started_at + :by WHERE ended_at IS NULL AND role <> 'reviewer'",
    "UPDATE turns SET started_at = started_at + :by WHERE ended_at IS NULL",
)

_MOVED_BACK = (
    "UPDATE beads SET retry_at = retry_at + :by WHERE retry_at > :now",  # those that were due already stay due
    "UPDATE gates SET since = since + :by, until = until + :by",
    "UPDATE sessions SET retry_at = retry_at + :by WHERE retry_at IS NOT NULL AND ended_at IS NULL",
)


def move_times(db: Database, seconds: float) -> None:
    """The clock jumped: move measured times; wake-up times only move back with the clock. What a fast clock let in or
    let rise is counted again. 0 seconds: it is unknown whether the clock was ahead."""
    also = _MOVED_BACK if seconds < 0 else ()
    with db.write():
        for sql in (_MEASURED, *_ALSO_MEASURED, *also):
            db.run(sql, {"by": seconds, "now": db.now()})
        if seconds <= 0:
            db.run("UPDATE beads SET ready_since = :now WHERE ready_since > :now", {"now": db.now()})
            recompute(db, db.now())
