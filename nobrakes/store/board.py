"""What deciders see, from indexes alone: the same cost with a thousand beads and with a hundred thousand."""

from typing import Any

from ..core.bead import Bead
from ..core.board import Board, Limits
from . import machine, moving, rows
from .conditions import CLAIMABLE, EPIC_COMPLETE, IN_ORDER, REVIEWABLE
from .database import Database

PAUSED = "paused"
STOPPING = "stopping"
GATE = "gate:"
"""`gate:<agent>` = seconds since 1970 UTC: at this agent nothing may be spawned before then."""

READY = f"{rows.FRONTIER} INDEXED BY beads_claimable WHERE {CLAIMABLE} {IN_ORDER} LIMIT ?"
TO_REVIEW = f"{rows.FRONTIER} INDEXED BY beads_reviewable WHERE {REVIEWABLE} {IN_ORDER} LIMIT ?"
COMPLETE = f"SELECT id FROM beads INDEXED BY beads_complete WHERE {EPIC_COMPLETE} ORDER BY id LIMIT ?"


def board(db: Database, limits: Limits, front: int) -> Board:
    """One moment."""
    now = db.now()
    moving.wake(db, now)
    with db.read():
        settings = _settings(db)
        gates = {key[len(GATE) :]: float(value) for key, value in settings.items() if key.startswith(GATE)}
        closed = {agent: until for agent, until in gates.items() if until > now}
        deferral, retry = moving.next_due(db)
        times = [moment for moment in (deferral, retry, *closed.values()) if moment is not None]
        return Board(
            now=now,
            limits=limits,
            ready=tuple(rows.frontier(row) for row in db.all(READY, (front,))),
            to_review=tuple(rows.frontier(row) for row in db.all(TO_REVIEW, (front,))),
            attempts=tuple(
                rows.attempt(row) for row in db.all("SELECT * FROM attempts WHERE outcome IS NULL ORDER BY id")
            ),
            runs={run.attempt: run for run in machine.runs(db)},
            epics_done=tuple(row[0] for row in db.all(COMPLETE, (front,))),
            paused=PAUSED in settings,
            stopping=STOPPING in settings,
            agent_gates=frozenset(closed),
            wake_at=min(times, default=None),
            retry_at=retry,
        )


def _settings(db: Database) -> dict[str, Any]:
    found = db.all(
        "SELECT key, value FROM settings WHERE key IN (?, ?) OR (key >= ? AND key < ?)",
        (PAUSED, STOPPING, GATE, GATE[:-1] + ";"),
    )
    return {row[0]: row[1] for row in found}


def ready(db: Database, limit: int) -> list[Bead]:
    """The first ready beads, whole."""
    moving.wake(db, db.now())
    sql = f"{rows.BEAD.replace('FROM beads', 'FROM beads INDEXED BY beads_claimable')} WHERE {CLAIMABLE} {IN_ORDER}"
    return [rows.bead(row) for row in db.all(f"{sql} LIMIT ?", (limit,))]
