"""The event log: appended to in the transaction of what happened, never changed."""

from collections.abc import Mapping
from typing import Any

from ..core.events import Event, Kind
from . import rows
from .database import Database


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


def after(db: Database, seq: int, limit: int, bead: str | None) -> list[Event]:
    """Events with a greater seq, oldest first, of one bead or of all."""
    where = "seq > :seq" + (" AND bead = :bead" if bead is not None else "")
    found = db.all(
        f"SELECT * FROM events WHERE {where} ORDER BY seq LIMIT :limit", {"seq": seq, "bead": bead, "limit": limit}
    )
    return [rows.event(row) for row in found]
