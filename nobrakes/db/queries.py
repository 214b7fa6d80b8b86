"""Questions of views, and small facts of the machine: processes, settings, passed validations, keys of commands."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from ..beads.db import levels as beads_levels
from ..beads.db import moves
from ..beads.graph import Node
from ..beads.model import Attempt, Bead, Dependency, DependencyType, Role, Run, Status
from ..beads.work_status import BY_STATUS, COLUMNS
from ..records import as_values
from . import fast, rows
from .database import Database, Of, Row, T
from .database import row as row_of
from .fast import CLAIMABLE, IN_ORDER, LISTED, PROPOSED, UNFINISHED

_RUN_FIELDS = frozenset(Run.__dataclass_fields__) - {"id"}


def plan_run(db: Database, run: Run) -> None:
    """Record a child before its start; repeatable."""
    values = {**as_values(run), "attempt": run.attempt or None, "turn": run.turn or None}
    columns = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    sql = f"INSERT OR REPLACE INTO runs ({columns}) VALUES ({marks})"
    db.alone(sql, tuple(values.values()), (f"runs {run.id}",))


def update_run(db: Database, run: str, **fields: Any) -> None:
    """Set fields of Run by name."""
    unknown = set(fields) - _RUN_FIELDS
    assert not unknown, f"a Run has no {sorted(unknown)}"
    sets = ", ".join(f'"{name}" = ?' for name in fields)
    values = (value.value if isinstance(value, Enum) else value for value in fields.values())
    db.alone(f"UPDATE runs SET {sets} WHERE id = ?", (*values, run), (f"runs {run}",))


def end_run(db: Database, run: str) -> None:
    db.alone("DELETE FROM runs WHERE id = ?", (run,), (f"runs {run}",))


class Few(NamedTuple):
    """Rows of a table that are read often and of which few change. `sql` has places for an index and one more
    condition, its first column is the `key`. `find_all`: an index. `but`: after these writes all rows are read."""

    table: str
    sql: str
    key: type[int] | type[str]
    order: Callable[[Any], Any]
    find_all: str = ""
    but: Of = ()


def few(db: Database, which: Few, make: Callable[[Row], T]) -> list[T]:
    """What `make` makes of each row. Only rows that were written are read, and made again if they differ."""
    stamp = db.cache.stamp
    since, known, objects = db.kept.get(make, (-1, {}, []))
    written = db.cache.written_since(which.table, since, which.but) if since >= 0 else None
    if written is not None and not written:
        return objects
    before = known
    if written is None or "*" in written:
        known, found = {}, db.all(which.sql.format(which.find_all, ""))
    else:
        keys = [which.key(one) for one in written if which.key is str or one.isdigit()]
        found = db.all(which.sql.format("", "AND id IN (SELECT value FROM json_each(?))"), (json.dumps(keys),))
        gone = set(keys).difference(row[0] for row in found)
        known = {key: one for key, one in known.items() if key not in gone} if gone & known.keys() else known
    is_new = False
    for row in found:
        values, was = tuple(row), before.get(row[0])
        is_new |= was is None
        known[row[0]] = was if was is not None and was[0] == values else (values, make(row))
    objects = [one for _, one in known.values()]
    if is_new:
        objects.sort(key=which.order)
    db.kept[make] = (stamp, known, objects)
    return objects


_RUNS = Few(
    "runs", "SELECT * FROM runs {} WHERE 1 {} ORDER BY started_at, id", str, lambda run: (run.started_at, run.id)
)


def runs(db: Database) -> list[Run]:
    return few(db, _RUNS, rows.run)


def setting(db: Database, key: str) -> str | None:
    row = db.maybe("SELECT value FROM settings WHERE key = ?", (key,), row_of("settings", key))
    return None if row is None else str(row[0])


def set_setting(db: Database, key: str, value: str | None) -> None:
    only = (f"settings {key}",)
    if value is None:
        db.alone("DELETE FROM settings WHERE key = ?", (key,), only)
    else:
        db.alone("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (key, value), only)


def validation(db: Database, tree: str, contract: str) -> Mapping[str, Any] | None:
    """Results of a passed validation by its key; None: run it."""
    of = row_of("validations", tree)
    row = db.maybe("SELECT results FROM validations WHERE tree = ? AND contract = ?", (tree, contract), of)
    if row is None:
        return None
    found: Mapping[str, Any] = json.loads(row[0])
    return found


def passed_otherwise(db: Database, tree: str) -> bool:
    return db.maybe("SELECT 1 FROM validations WHERE tree = ?", (tree,)) is not None


def merged_since(db: Database, moment: float) -> list[tuple[str, float]]:
    """Beads that came to main since then and are done, the latest first, each with when. Epics are left out."""
    sql = """SELECT id, closed_at FROM beads WHERE status = 'done' AND type <> 'epic' AND closed_at >= ?
AND merged_commit IS NOT NULL ORDER BY closed_at DESC, id"""
    return [(row[0], row[1]) for row in db.all(sql, (moment,))]


def proven(db: Database, trees: Iterable[str]) -> dict[str, float]:
    """Those of the trees that passed, each with when it last did."""
    sql = "SELECT tree, max(at) FROM validations WHERE tree IN (SELECT value FROM json_each(?)) GROUP BY tree"
    return {row[0]: row[1] for row in db.all(sql, (json.dumps([*trees]),))}


def save_validation(db: Database, tree: str, contract: str, results: Mapping[str, Any]) -> None:
    now = db.now()
    db.alone(
        "INSERT OR REPLACE INTO validations (tree, contract, results, at) VALUES (?, ?, ?, ?)",
        (tree, contract, rows.as_json(dict(results)), now),
        (f"validations {tree}",),
    )


# Counts come from indexes, and whether a bead is ready is the stored counters' word; what has come due is let in first.
_WAITING = tuple(status for status in Status if status not in BY_STATUS)


_AS_THEY_CAME = "ORDER BY created_at, beads.rowid"


def beads(db: Database, statuses: Iterable[Status] = (), ids: Iterable[str] = ()) -> list[Bead]:
    """As they came; statuses and ids are combined."""
    where, values = ["1"], []
    for column, choices in (("status", [status.value for status in statuses]), ("beads.id", list(ids))):
        if choices:
            where.append(f"{column} IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(choices))
    return [rows.bead(row) for row in db.all(f"{rows.BEAD} WHERE {' AND '.join(where)} {_AS_THEY_CAME}", values)]


_ELSEWHERE = (
    "(SELECT substr(key, 6) FROM settings WHERE key >= 'pull/' AND key < 'pull0' "
    "AND coalesce(json_extract(value, '$.into'), '') <> '' "
    "UNION SELECT substr(key, 10) FROM settings WHERE key >= 'own_base ' AND key < 'own_base!')"
)
"""Beads and epics that were or will be merged or pushed to another branch."""


def merges(db: Database, on_main: bool = False) -> dict[str, str]:
    """Done bead id to its merge commit, by id; `on_main`: without merges into other branches."""
    which = f"AND id NOT IN {_ELSEWHERE} AND coalesce(epic, '') NOT IN {_ELSEWHERE}" if on_main else ""
    asked = (
        f"SELECT id, merged_commit FROM beads WHERE status = '{Status.DONE.value}' AND merged_commit <> '' {which} "
        "ORDER BY id"
    )
    return dict(db.plain(asked))


def main_moved(db: Database, root: str, branch: str) -> bool:
    return fast.main_moved(db.plain, root, branch)


def proposed(db: Database) -> list[Bead]:
    ids = f"SELECT id FROM bead_text INDEXED BY bead_text_proposed WHERE {PROPOSED}"
    return [rows.bead(row) for row in db.all(f"{rows.BEAD} WHERE beads.id IN ({ids}) {_AS_THEY_CAME}")]


def dependencies(db: Database, bead: str | None = None) -> list[Dependency]:
    """All, with parents, or those of `bead` in both directions; sorted."""
    if bead is None:
        return beads_levels.all_dependencies(db)
    found = db.all(
        "SELECT bead, needs, type FROM edges WHERE bead = :id UNION SELECT bead, needs, type FROM edges "
        "WHERE needs = :id UNION SELECT id, epic, 'parent-child' FROM beads WHERE id = :id AND epic IS NOT NULL "
        "UNION SELECT id, epic, 'parent-child' FROM beads WHERE epic = :id ORDER BY 1, 2, 3",
        {"id": bead},
    )
    return [Dependency(row[0], row[1], DependencyType(row[2])) for row in found]


_OWN = """SELECT bead, needs, edges.type FROM json_each(:beads) CROSS JOIN edges ON bead = value
UNION ALL SELECT beads.id, epic, 'parent-child' FROM json_each(:beads) CROSS JOIN beads ON beads.id = value
WHERE epic IS NOT NULL ORDER BY 1, 2, 3"""


def own_dependencies(db: Database, beads: Sequence[str]) -> dict[str, list[Dependency]]:
    """What each of these beads needs, parents included, by bead; sorted."""
    found: dict[str, list[Dependency]] = {bead: [] for bead in beads}
    for bead, needs, type_ in db.plain(_OWN, {"beads": json.dumps([*found])}):
        found[bead].append(Dependency(bead, needs, DependencyType(type_)))
    return found


def _quoted(statuses: Iterable[Status]) -> str:
    return ", ".join(f"'{status.value}'" for status in statuses)


def _where(column: str) -> str:
    statuses = [status for status, name in BY_STATUS.items() if name == column]
    if statuses:
        return f"status IN ({_quoted(statuses)}) AND type <> 'epic'"
    # ready: the index that serves the Assigner; blocked: what waits for an agent and is not in it
    return (
        CLAIMABLE if column == "ready" else f"status IN ({_quoted(_WAITING)}) AND type <> 'epic' AND NOT ({CLAIMABLE})"
    )


_SEARCHED = "id || ' ' || title || ' ' || type || ' ' || coalesce(epic, '')"
_BY_STATUS = "SELECT status, count(*) FROM beads WHERE type <> 'epic' GROUP BY status"
_READY = f"SELECT count(*) FROM beads INDEXED BY beads_claimable WHERE {CLAIMABLE}"
_HELD = f"SELECT count(*) FROM beads WHERE held IS NOT NULL AND type <> 'epic' AND {UNFINISHED}"

_ABOVE = """WITH RECURSIVE above (id) AS (SELECT value FROM json_each(?)
UNION SELECT epic FROM beads JOIN above USING (id) WHERE epic IS NOT NULL)"""
_BLOCKS_ABOVE = f"""{_ABOVE} SELECT bead, needs FROM above CROSS JOIN edges ON bead = above.id AND type = 'blocks'
ORDER BY bead, needs"""
_NODES_ABOVE = f"""{_ABOVE}, near (id) AS (SELECT id FROM above
UNION SELECT needs FROM above CROSS JOIN edges ON bead = above.id AND type = 'blocks')
{rows.NODE.replace("FROM beads", "FROM near CROSS JOIN beads USING (id)")} {LISTED}"""


def has_sprints(db: Database) -> bool:
    return db.maybe("SELECT 1 FROM sprint_runs LIMIT 1") is not None


def has_features(db: Database) -> bool:
    """Whether there was ever a feature."""
    return db.maybe("SELECT 1 FROM features LIMIT 1") is not None


def counts(db: Database) -> dict[str, int]:
    """Beads by column, and `held` and `epic` ones. Counts indexes, and rows only of held beads: 0.1 s for a million."""
    moves.wake(db, db.now())
    return db.moment(lambda: _counts(db))


def _counts(db: Database) -> dict[str, int]:
    of = {row[0]: row[1] for row in db.all(_BY_STATUS)}
    ready, held = db.one(_READY)[0], db.one(_HELD)[0]
    beads = db.one("SELECT count(*) FROM beads")[0]
    found = {name: sum(of.get(one, 0) for one, where in BY_STATUS.items() if where == name) for name in COLUMNS}
    found["ready"], found["blocked"] = ready, sum(of.get(status, 0) for status in _WAITING) - ready
    return {**found, "held": held, "epic": beads - sum(of.values())}


def column(db: Database, name: str, limit: int) -> list[Node]:
    """The first `limit` beads of a column: ready ones in the Assigner's order, others as lists have them."""
    moves.wake(db, db.now())
    return _column(db, name, limit)


def columns(db: Database, limit: int) -> dict[str, list[Node]]:
    """The first `limit` beads of each column, read at one moment."""
    moves.wake(db, db.now())
    return db.moment(lambda: {name: _column(db, name, limit) for name in COLUMNS})


def ready_ids(db: Database) -> list[str]:
    moves.wake(db, db.now())
    return [row[0] for row in db.plain(f"SELECT id FROM beads INDEXED BY beads_claimable WHERE {CLAIMABLE}")]


def found(db: Database, words: Sequence[str]) -> dict[str, list[str]]:
    """The ids in each column, in its order, of the beads with each of the words (casefolded) in id, title, type, epic
    or labels."""
    moves.wake(db, db.now())
    return db.moment(lambda: {name: _found(db, name, words) for name in COLUMNS})


def _found(db: Database, name: str, words: Sequence[str]) -> list[str]:
    """Reads no whole rows: one is asked for all beads."""
    order = IN_ORDER if name == "ready" else LISTED
    of_bead = f"SELECT id, {_SEARCHED}, labels FROM beads JOIN bead_text USING (id) WHERE {_where(name)} {order}"
    ids = []
    for bead, text, labels in db.plain(of_bead):
        text = (text if labels == "[]" else f"{text} {' '.join(json.loads(labels))}").casefold()
        if all(word in text for word in words):
            ids.append(bead)
    return ids


def _column(db: Database, name: str, limit: int) -> list[Node]:
    order, index = (IN_ORDER, "INDEXED BY beads_claimable") if name == "ready" else (LISTED, "")
    sql = f"{rows.NODE} WHERE id IN (SELECT id FROM beads {index} WHERE {_where(name)} {order} LIMIT ?) {order}"
    return [rows.node(row) for row in db.all(sql, (limit,))]


def around(db: Database, beads: Sequence[str]) -> tuple[list[Node], list[Dependency]]:
    """What decides these beads' readiness: they, ancestors, blockers, dependencies. Missing beads are left out."""
    with db.read():
        found = [rows.node(row) for row in db.all(_NODES_ABOVE, (json.dumps(list(beads)),))]
        blocks = db.all(_BLOCKS_ABOVE, (json.dumps(list(beads)),))
        parents = [Dependency(n.id, n.epic, DependencyType.PARENT_CHILD) for n in found if n.epic is not None]
        return found, [*(Dependency(row[0], row[1]) for row in blocks), *parents]


def levels(db: Database, beads: Iterable[str]) -> dict[str, int]:
    """Minutes of the longest chain behind each bead, itself included; settles due levels."""
    beads_levels.update_all(db)
    asked = "SELECT id, b_level FROM beads WHERE id IN (SELECT value FROM json_each(?))"
    return dict(db.plain(asked, (json.dumps([*beads]),)))


def listed(
    db: Database, statuses: Iterable[Status] = (), epics: Iterable[str] | None = None, limit: int = -1
) -> list[str]:
    """The ids of beads with these statuses (empty: any) in these epics (None: any), by priority, then as they came."""
    which, values = _fitting(statuses, epics)
    return [row[0] for row in db.plain(f"SELECT id {which} {LISTED} LIMIT ?", (*values, limit))]


def how_many(db: Database, statuses: Iterable[Status] = (), epics: Iterable[str] | None = None) -> int:
    """How many beads `listed` names without a limit."""
    which, values = _fitting(statuses, epics)
    return int(db.one(f"SELECT count(*) {which}", values)[0])


def _fitting(statuses: Iterable[Status], epics: Iterable[str] | None) -> tuple[str, list[str]]:
    given = {"status": [*statuses] or None, "epic": None if epics is None else [*epics]}
    asked = {name: json.dumps(words) for name, words in given.items() if words is not None}
    where = " AND ".join(f"{name} IN (SELECT value FROM json_each(?))" for name in asked)
    return f"FROM beads WHERE {where or 1}", [*asked.values()]


_TOUCHED = """SELECT bead FROM events WHERE seq > ? AND bead IS NOT NULL
UNION SELECT id FROM beads WHERE updated_at >= ?"""


def touched(db: Database, after: int | None, since: float | None) -> tuple[int, float, list[str]]:
    """(last event's seq, now, ids in events after `after` or changed since `since`). None: no ids."""
    with db.read():
        seq = db.one("SELECT coalesce(max(seq), 0) FROM events")[0]
        return seq, db.now(), [row[0] for row in db.plain(_TOUCHED, (after, since))]


def reviewing(db: Database) -> list[Attempt]:
    sql = f"{rows.ATTEMPT} INDEXED BY attempts_open WHERE outcome IS NULL AND role = ? ORDER BY id"
    return [rows.attempt(row) for row in db.all(sql, (Role.REVIEWER.value,))]


def ready(db: Database, limit: int) -> list[Bead]:
    moves.wake(db, db.now())
    sql = f"{rows.BEAD.replace('FROM beads', 'FROM beads INDEXED BY beads_claimable')} WHERE {CLAIMABLE} {IN_ORDER}"
    return [rows.bead(row) for row in db.all(f"{sql} LIMIT ?", (limit,))]


def reviews(db: Database, limit: int) -> list[Attempt]:
    sql = "SELECT *, NULL AS provider_session FROM attempts WHERE role = ? ORDER BY id DESC LIMIT ?"
    return [rows.attempt(row) for row in db.all(sql, (Role.REVIEWER.value, limit))]


def agents(db: Database, words: str, state: str, sort: str, limit: int, offset: int = 0) -> list[Attempt]:
    """Attempts with each word in their bead, title, name or agent. `state`: all, active, completed or failed; `sort`:
    newest, oldest, bead, agent or cost."""
    from . import tables

    return tables.agents(db, words, state, sort, limit, offset)


# Commands by their keys, so that one that is sent twice is done once (request_keys).
_KEEP = "INSERT OR REPLACE INTO requests (key, command, actor, at, result) VALUES (?, ?, ?, ?, ?)"
_CUT_OFF = ""
"""The result of a command that was cut off: JSON is never empty."""


def request(db: Database, key: str) -> tuple[str, str] | None:
    """The command under this key, and its result; empty: it was cut off after a change."""
    row = db.maybe("SELECT command, result FROM requests WHERE key = ?", (key,))
    return None if row is None else (row[0], row[1])


def keep_request(db: Database, key: str, command: str, actor: str, result: str) -> None:
    with db.write():
        _keep(db, key, command, actor, result)


def _keep(db: Database, key: str, command: str, actor: str, result: str) -> None:
    db.run(_KEEP, (key, command, actor, db.now(), result))


def noting(db: Database, key: str, command: str, actor: str) -> AbstractContextManager[None]:
    """Each transaction inside also stores the command; an error removes it."""
    return _noting(db, key, command, actor)


@contextmanager
def _noting(db: Database, key: str, command: str, actor: str) -> Iterator[None]:
    db.before_commit = partial(_keep, db, key, command, actor, _CUT_OFF)
    try:
        yield
    except Exception:
        db.before_commit = None
        with db.write():
            db.run("DELETE FROM requests WHERE key = ? AND result = ?", (key, _CUT_OFF))
        raise
    finally:
        db.before_commit = None


def forget_requests(db: Database, before: float) -> int:
    if db.maybe("SELECT 1 FROM requests WHERE at < ?", (before,)) is None:
        return 0
    with db.write():
        return db.run("DELETE FROM requests WHERE at < ?", (before,))
