"""`change`: a person sets content fields of a bead, and what that means for its status, its epic and the graph."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.bead import CONTENT, Bead, Dependency, DependencyType, check_bead
from ...core.beads.events import Kind
from ...core.errors import BadBead
from .. import events, rows
from ..database import Database
from . import cycles, moves, planning, priority_levels
from .usual import learn

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
        tried = db.maybe("SELECT 1 FROM attempts WHERE bead = ?", (bead_id,)) is not None
        after = replace(after, status=lifecycle.changed(before, after, tried))
        texts = rows.text_values(after)
        moves.set_texts(db, bead_id, {name: texts[name] for name in _TEXTS})
        if after.epic != before.epic:
            _change_epic(db, after, now)
        state = rows.state_values(after)
        columns = ("type", "priority", "estimate", "needs_tests", "scaffolding", "status")
        moves.move(db, bead_id, {name: state[name] for name in columns}, now)
        if "estimate" in differing and learn(db):
            priority_levels.mark_unestimated(db)
        if before.type != after.type:
            priority_levels.refresh(db, (row[0] for row in db.all("SELECT id FROM beads WHERE epic = ?", (bead_id,))))
            cycles.refuse_circles(db)
        events.append(db, now, Kind.CHANGED, bead_id, actor, {"fields": differing})
        return planning.bead(db, bead_id)


def _change_epic(db: Database, after: Bead, now: float) -> None:
    moves.move_into(db, after.id, None, now)
    if after.epic is not None:
        planning.connect(db, Dependency(after.id, after.epic, DependencyType.PARENT_CHILD), now)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
