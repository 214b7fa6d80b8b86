"""The event log: appended to in the transaction of what happened, never changed."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..db import rows
from ..db.database import Database
from .kinds import Event, Kind


def append(
    db: Database,
    now: float,
    kind: Kind,
    bead: str | None,
    actor: str,
    data: Mapping[str, Any] | None = None,
    attempt: int | None = None,
) -> int:
    """Write one event down; its seq."""
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
    """Events with a greater seq, oldest first, of one bead or of all, of these kinds or of any."""
    wanted = [*kinds]
    where = "seq > :after" + (" AND bead = :bead" if bead is not None else "")
    where += " AND kind IN (SELECT value FROM json_each(:kinds))" if wanted else ""
    values = {"after": after, "bead": bead, "limit": limit, "kinds": json.dumps(wanted)}
    return [rows.event(row) for row in db.all(f"SELECT * FROM events WHERE {where} ORDER BY seq LIMIT :limit", values)]


def latest(
    db: Database, kinds: Iterable[Kind], before: int | None = None, limit: int = 1000, bead: str | None = None
) -> list[Event]:
    """Events of these kinds with a smaller seq, newest first, of one bead or of all."""
    where = "kind IN (SELECT value FROM json_each(:kinds))"
    where += (" AND seq < :before" if before is not None else "") + (" AND bead = :bead" if bead is not None else "")
    values = {"kinds": json.dumps([*kinds]), "before": before, "bead": bead, "limit": limit}
    return [
        rows.event(row) for row in db.all(f"SELECT * FROM events WHERE {where} ORDER BY seq DESC LIMIT :limit", values)
    ]
