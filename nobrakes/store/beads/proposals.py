"""What is proposed for a bead: written beside it, never into its fields. Each function is one transaction."""

from collections.abc import Mapping
from typing import Any

from ...core.beads.bead import Bead
from ...core.beads.events import Kind
from ...core.beads.proposals import is_part
from ...core.errors import BadBead
from .. import events, rows
from ..conditions import PROPOSED
from ..database import Database
from . import moves, planning


def propose(
    db: Database, bead_id: str, parts: Mapping[str, Mapping[str, Any] | None], actor: str, kind: Kind, why: str
) -> Bead:
    """Set parts of what is proposed, or take them away (None); the event says what was there and what is."""
    wrong = [part for part in parts if not is_part(part)]
    if wrong:
        raise BadBead(f"'{wrong[0][:80]}' is no part of a bead that can be proposed")
    now = db.now()
    with db.write():
        bead = planning.bead(db, bead_id)
        told: dict[str, Any] = {}
        after = dict(bead.proposed)
        for part, wanted in parts.items():
            was = bead.proposed.get(part)
            if was == wanted:
                continue
            told[part] = {"was": was, "is": wanted}
            if wanted is None:
                del after[part]
            else:
                after[part] = dict(wanted)
        if not told:
            return bead
        moves.set_texts(db, bead_id, {"proposed": rows.as_json(after)})
        db.run("UPDATE beads SET updated_at = ? WHERE id = ?", (now, bead_id))
        data: dict[str, Any] = {"parts": told}
        events.append(db, now, kind, bead_id, actor, data | ({"why": why} if why else {}))
        return planning.bead(db, bead_id)


def proposed(db: Database) -> list[Bead]:
    """The beads for which something is proposed, by id order."""
    ids = f"SELECT id FROM bead_text INDEXED BY bead_text_proposed WHERE {PROPOSED}"
    return [rows.bead(row) for row in db.all(f"{rows.BEAD} WHERE beads.id IN ({ids}) ORDER BY id")]
