"""A feature's facts beside its epic: in the epic's metadata, so that they come back wherever its bead comes back.

1. What is kept is what a person said and where the feature stands. Title and description are the bead's own.
2. Talks, versions of the plan and reviews are not among it. A plan that was under review goes back to planning: its
   drafts are there, and its Shaper says again when it is whole.
3. Metadata that are no facts of a feature (somebody wrote them) make none, nor do those of a bead that is no epic.
4. One feature has the repository's turn here, too: where another has it, what comes back is paused.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ...core.beads.bead import Bead, BeadType
from ...core.forge.feature import FACTS, Criterion, Feature, Stage, State
from .. import rows
from ..beads import moves
from ..database import Database, Row

KEY = FACTS
"""In the metadata of the epic."""
_TEXTS = ("notes", "base", "actor")
_MOST = 2**53
"""A larger number is no count and no time."""
_OTHERS = "SELECT stage, state FROM features WHERE id <> ?"


def keep(db: Database, one: Feature) -> None:
    """Write the facts to the epic, where they are others there. In the caller's transaction."""
    row = db.one("SELECT metadata FROM bead_text WHERE id = ?", (one.id,))
    metadata: dict[str, Any] = json.loads(row["metadata"])
    facts = {name: getattr(one, name) for name in (*_TEXTS, "replannings", "archived", "created_at")}
    facts |= {"criteria": [asdict(each) for each in one.criteria], "files": list(one.files)}
    facts |= {"stage": one.stage.value, "state": one.state.value}
    if metadata.get(KEY) != facts:
        moves.set_texts(db, one.id, {"metadata": rows.as_json(metadata | {KEY: facts})})


def bring_back(db: Database, beads: Iterable[Bead], now: float) -> int:
    """The features of these beads, as their facts say; how many. In the caller's transaction."""
    count = 0
    known = [(bead, facts) for bead in beads if (facts := _facts(bead)) is not None]
    for bead, facts in sorted(known, key=lambda one: _has_turn(one[1])):  # who gives the turn up goes before who has it
        here = db.maybe("SELECT plan FROM features WHERE id = ?", (bead.id,))
        if facts["stage"] == Stage.REVIEW.value and (here is None or not here["plan"]):
            facts["stage"] = Stage.PLANNING.value
        if _has_turn(facts) and any(_has_turn(one) for one in db.all(_OTHERS, (bead.id,))):
            facts["state"] = State.PAUSED.value
            told = bead.metadata[KEY] | {"state": State.PAUSED.value}
            moves.set_texts(db, bead.id, {"metadata": rows.as_json({**bead.metadata, KEY: told})})
        facts |= {"turn_at": now, "updated_at": now}
        if here is None:
            begun = {"id": bead.id, "plan": 0, "round": 0, "clean": 0, "data": "{}"}
            db.insert("features", facts | begun)
        else:
            sets = ", ".join(f'"{name}" = :{name}' for name in facts)
            db.run(f"UPDATE features SET {sets} WHERE id = :id", {**facts, "id": bead.id})
        count += 1
    return count


def _facts(bead: Bead) -> dict[str, Any] | None:
    """The columns that the bead's metadata give; None where they are none."""
    kept = bead.metadata.get(KEY)
    if bead.type is not BeadType.EPIC or not isinstance(kept, dict):
        return None
    try:
        criteria = [
            asdict(Criterion(str(one["text"]), str(one["how"]), bool(one["usual"]))) for one in kept["criteria"]
        ]
        replannings, created_at = int(kept["replannings"]), float(kept["created_at"])
        if not (0 <= replannings <= _MOST and 0.0 <= created_at <= _MOST):
            return None
        return {
            **{name: str(kept[name]) for name in _TEXTS},
            "criteria": rows.as_json(criteria),
            "files": rows.as_json([str(one) for one in kept["files"]]),
            "stage": Stage(kept["stage"]).value,
            "state": State(kept["state"]).value,
            "replannings": replannings,
            "archived": bool(kept["archived"]),
            "created_at": created_at,
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _has_turn(facts: Mapping[str, Any] | Row) -> bool:
    return Feature("", "", "", stage=Stage(facts["stage"]), state=State(facts["state"])).has_turn
