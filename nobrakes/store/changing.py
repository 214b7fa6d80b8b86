"""`change`: a person sets content fields of a bead, and what that means for its status, its epic and the graph."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.bead import (
    CLOSED,
    CONTENT,
    WAITING_FOR_AGENT,
    Bead,
    BeadType,
    Dependency,
    DependencyType,
    Status,
    check_bead,
    first_status,
)
from ..core.errors import BadBead, NotAllowed
from ..core.events import Kind
from . import circles, events, levels, moving, planning, rows
from .database import Database

_TEXTS = {*CONTENT} & {*rows.TEXT_COLUMNS}


def change(db: Database, bead_id: str, changes: Mapping[str, Any], actor: str) -> Bead:
    """Set content fields; the bead after it."""
    unknown = sorted({*changes}.difference(CONTENT))
    if unknown:
        raise BadBead(f"'{unknown[0]}' is not a field that can be changed", f"Fields: {', '.join(sorted(CONTENT))}.")
    now = db.now()
    with db.write():
        before = planning.bead(db, bead_id)
        after = replace(before, **changes)
        check_bead(after)
        differing = {
            name: {"before": _plain(getattr(before, name)), "after": _plain(getattr(after, name))}
            for name in sorted(changes)
            if getattr(before, name) != getattr(after, name)
        }
        if not differing:
            return before
        after = replace(after, status=_status_after(db, before, after))
        texts = rows.text_values(after)
        moving.set_texts(db, bead_id, {name: texts[name] for name in _TEXTS})
        if after.epic != before.epic:
            _change_epic(db, after, now)
        state = rows.state_values(after)
        columns = ("type", "priority", "estimate", "needs_tests", "scaffolding", "status")
        moving.move(db, bead_id, {name: state[name] for name in columns}, now)
        if before.type != after.type:
            levels.refresh(db, (row[0] for row in db.all("SELECT id FROM beads WHERE epic = ?", (bead_id,))))
            circles.refuse_circles(db)
        events.append(db, now, Kind.CHANGED, bead_id, actor, {"fields": differing})
        return planning.bead(db, bead_id)


def _change_epic(db: Database, after: Bead, now: float) -> None:
    moving.move_into(db, after.id, None, now)
    if after.epic is not None:
        planning.connect(db, Dependency(after.id, after.epic, DependencyType.PARENT_CHILD), now)


def _status_after(db: Database, before: Bead, after: Bead) -> Status:
    """Where a bead belongs when its type or `needs_tests` was changed."""
    if before.status in (Status.DRAFT, *CLOSED):
        return before.status
    if (before.type is BeadType.EPIC) != (after.type is BeadType.EPIC):
        if before.status not in (Status.OPEN, *WAITING_FOR_AGENT):
            raise NotAllowed(
                f"bead {before.id} is {before.status.value}: it cannot become or stop being an epic now",
                "Wait until nobody works on it, or add a new bead.",
            )
        return first_status(after)
    if before.needs_tests != after.needs_tests and before.status in WAITING_FOR_AGENT:
        tried = db.maybe("SELECT 1 FROM attempts WHERE bead = ?", (before.id,)) is not None
        if not after.needs_tests or not tried:
            return first_status(after)
    return before.status


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
