"""The event log: appended to in the transaction of what happened, never changed; and what changed since a position."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from ..beads.model import FIELDS, Bead, BeadRow, kind_of
from ..db import rows
from ..db.database import Database
from .kinds import Changes, Event, Kind, Position


def append(
    db: Database,
    now: float,
    kind: Kind,
    bead: str | None,
    actor: str,
    data: Mapping[str, Any] | None = None,
    attempt: int | None = None,
) -> int:
    """Returns its seq."""
    db.noted |= not kind.is_quiet
    return db.insert(
        "events",
        {
            "at": now,
            "kind": kind.value,
            "bead": bead,
            "attempt": attempt,
            "actor": actor,
            "data": rows.as_json(dict(data or {})),
        },
    )


def after(
    db: Database, after: int = 0, limit: int = 1000, bead: str | None = None, kinds: Iterable[Kind] = ()
) -> list[Event]:
    """Events with a greater seq, oldest first, of one bead or all, of these kinds or any."""
    wanted = [*kinds]
    where = "seq > :after" + (" AND bead = :bead" if bead is not None else "")
    where += " AND kind IN (SELECT value FROM json_each(:kinds))" if wanted else ""
    values = {"after": after, "bead": bead, "limit": limit, "kinds": json.dumps(wanted)}
    return [rows.event(row) for row in db.all(f"SELECT * FROM events WHERE {where} ORDER BY seq LIMIT :limit", values)]


def latest(
    db: Database, kinds: Iterable[Kind], before: int | None = None, limit: int = 1000, bead: str | None = None
) -> list[Event]:
    """Events of these kinds with a smaller seq, newest first, of one bead or all."""
    where = "kind IN (SELECT value FROM json_each(:kinds))"
    where += (" AND seq < :before" if before is not None else "") + (" AND bead = :bead" if bead is not None else "")
    values = {"kinds": json.dumps([*kinds]), "before": before, "bead": bead, "limit": limit}
    return [
        rows.event(row) for row in db.all(f"SELECT * FROM events WHERE {where} ORDER BY seq DESC LIMIT :limit", values)
    ]


# What is the same in many beads is one object, so no graph is in memory. It is read as one JSON text, which costs less
# than twenty columns; times stay columns, because SQLite rounds them in JSON. A bead that has a branch of its own is
# like itself alone: what its branch is usually called depends on its id.
_OWN = ("id", "title", "description", "acceptance", "notes", "labels", "estimate", "created_at", "updated_at")
_TIMES = tuple(name for name in FIELDS if kind_of(name) is float and name not in _OWN)
_REST = tuple(name for name in FIELDS if name not in (*_OWN, *_TIMES))
_in_order = itemgetter(*map((*_OWN, "edges", *_TIMES, *_REST).index, FIELDS))
_REST_AT = len(_OWN) + 1
_alike: Callable[[tuple[Any, ...]], BeadRow] = partial(tuple.__new__, BeadRow)
# no id and no type has a comma or a space
_ROWS = f"""SELECT {", ".join(_OWN)}, (SELECT group_concat(needs || ' ' || type) FROM edges WHERE bead = beads.id),
{", ".join(_TIMES)}, json_array({", ".join(_REST)}) FROM beads JOIN bead_text USING (id) {{}}"""
_IS_LISTED = "WHERE beads.id IN (SELECT value FROM json_each(?))"

AT_ONCE = 4096


def alike(db: Database, ids: Iterable[str] | None = None) -> Iterator[BeadRow]:
    """These existing beads (None: all), in any order, read lazily; nothing may be written meanwhile."""
    asked = (_ROWS.format(""), ()) if ids is None else (_ROWS.format(_IS_LISTED), (json.dumps([*ids]),))
    known: dict[tuple[Any, ...], Bead] = {}
    for row in db.each(*asked):
        rest = row[_REST_AT:]
        if (like := known.get(rest)) is None:
            like = rows.bead(_in_order((*row[:-1], *json.loads(row[-1]))))
            if not like.branch:
                if len(known) >= AT_ONCE:
                    known.clear()
                known[rest] = like
        id_, title, description, acceptance, *others, edges = row[:_REST_AT]
        lines = rows.read_texts(acceptance) if acceptance != "[]" else ()
        yield _alike((id_, title, description, lines, *others, edges.split(",") if edges else (), like))


# What changed after a position is what the database says now, read in one transaction, of whatever an event after the
# position names. A position that is not in this database, or is another one there, is of another life of it: then all
# is given.
PEOPLES = ("paused", "limits", "quarantine")
"""Settings that people make (daemon.service.control, review.service.merges)."""

_SETTING_KINDS = {Kind.PAUSED, Kind.RESUMED, Kind.LIMITS_CHANGED, Kind.QUARANTINED, Kind.QUARANTINE_LIFTED}
_QUIET = ", ".join(f"'{kind.value}'" for kind in sorted(kind for kind in Kind if kind.is_quiet))
_NAMED = f"""SELECT seq, at, bead, kind,
CASE WHEN bead IS NULL THEN json_extract(data, '$.escalation') END AS escalation FROM events
WHERE seq > ? AND kind NOT IN ({_QUIET}) ORDER BY seq LIMIT ?"""
# `:beads` would be taken for that table by the answers that are kept (db.database.tables)
_ESCALATIONS = """SELECT * FROM escalations WHERE bead IN (SELECT value FROM json_each(:whose))
OR id IN (SELECT value FROM json_each(:numbers)) ORDER BY id"""
_ENDED = f"""{rows.ATTEMPT} WHERE outcome IS NOT NULL
AND id IN (SELECT attempt FROM events WHERE seq > ? AND seq <= ? AND attempt IS NOT NULL)
ORDER BY id"""
_LAST = "SELECT seq, at, (SELECT at FROM events WHERE seq = ?) FROM events ORDER BY seq DESC LIMIT 1"


def position(db: Database) -> Position:
    row = db.maybe("SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1")
    return Position() if row is None else Position(row[0], row[1])


def changes(db: Database, since: Position, limit: int | None = None) -> Changes:
    """Beads, escalations and settings changed after a position. `limit`: what the first events name; None: all."""
    return db.moment(lambda: _changes(db, since, limit))


def _changes(db: Database, since: Position, limit: int | None) -> Changes:
    last = db.maybe(_LAST, (since.seq,))
    upto = Position() if last is None else Position(last[0], last[1])
    if upto == since:
        return Changes(upto)
    restarted = bool(since.seq) and (last is None or last[2] != since.at)
    begin = 0 if restarted else since.seq
    named = db.plain(_NAMED, (begin, -1 if limit is None else limit))
    more = limit is not None and len(named) == limit
    if more:
        upto = Position(*named[-1][:2])
    beads = sorted({bead for _, _, bead, _, _ in named} - {None})
    numbers = [number for *_, number in named if number is not None]
    settings = restarted or not _SETTING_KINDS.isdisjoint(kind for _, _, _, kind, _ in named)
    asked = db.all(_ESCALATIONS, {"whose": json.dumps(beads), "numbers": json.dumps(numbers)})
    return Changes(
        upto,
        [*alike(db, beads)],
        [rows.escalation(row) for row in asked],
        _settings(db) if settings else None,
        restarted,
        [rows.attempt(row) for row in db.all(_ENDED, (begin, upto.seq))],
        more,
    )


def _settings(db: Database) -> dict[str, str]:
    marks = ", ".join("?" * len(PEOPLES))
    return {row[0]: row[1] for row in db.all(f"SELECT key, value FROM settings WHERE key IN ({marks})", PEOPLES)}
