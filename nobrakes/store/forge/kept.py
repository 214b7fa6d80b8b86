"""A feature's facts beside its epic: in the epic's metadata, so that they come back wherever its bead comes back.

1. What is kept is what a person said and where the feature stands. Title and description are the bead's own.
2. Talks, versions of the plan and reviews are not among it. A plan that was under review goes back to planning: its
   drafts are there, and its Shaper says again when it is whole.
3. Metadata that are no facts of a feature (somebody wrote them) make none: the bead is an epic as any other.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ...core.beads.bead import Bead
from ...core.forge.feature import FACTS, Criterion, Feature, Stage, State
from .. import rows
from ..beads import moves
from ..database import Database

KEY = FACTS
"""In the metadata of the epic."""
_TEXTS = ("notes", "base", "actor")


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
    for bead in beads:
        facts = _facts(bead)
        if facts is None:
            continue
        here = db.maybe("SELECT plan FROM features WHERE id = ?", (bead.id,))
        if facts["stage"] == Stage.REVIEW.value and (here is None or not here["plan"]):
            facts["stage"] = Stage.PLANNING.value
        facts |= {"title": bead.title, "description": bead.description, "turn_at": now, "updated_at": now}
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
    if not isinstance(kept, dict):
        return None
    try:
        criteria = [
            asdict(Criterion(str(one["text"]), str(one["how"]), bool(one["usual"]))) for one in kept["criteria"]
        ]
        return {
            **{name: str(kept[name]) for name in _TEXTS},
            "criteria": rows.as_json(criteria),
            "files": rows.as_json([str(one) for one in kept["files"]]),
            "stage": Stage(kept["stage"]).value,
            "state": State(kept["state"]).value,
            "replannings": int(kept["replannings"]),
            "archived": bool(kept["archived"]),
            "created_at": float(kept["created_at"]),
        }
    except (KeyError, TypeError, ValueError):
        return None
