"""What a bead without an estimate takes as a rule, kept for the levels that are computed with it (core.graph.usual).

1. It is learnt when estimates come in, when everything is counted anew, and now and then from what has been done.
2. Another number makes every open bead without an estimate due (priority_levels), so where many are it has to differ
   by more than a quarter.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

from ...core.beads.bead import NO_AGENTS
from ...core.graph.usual import OUTLIER, Took, Usual
from ...core.graph.usual import usual as computed
from ..cache import row as row_of
from ..conditions import ESTIMATED, UNFINISHED
from ..database import Database

USUAL = "usual_minutes"
"""The setting that keeps it."""

MANY = 1000
"""So many beads without an estimate are many."""

_NONE = ", ".join(sorted(f"'{role.value}'" for role in NO_AGENTS))
_FROM = f"FROM beads INDEXED BY beads_estimated WHERE {ESTIMATED}"
_MEDIAN = f"SELECT estimate {_FROM} ORDER BY estimate LIMIT 1 OFFSET (SELECT count(*) / 2 {_FROM})"
_TYPICAL = f"SELECT sum(min(estimate, {OUTLIER} * ({_MEDIAN}))), count(*) {_FROM}"
_BY_AGENTS = f"attempts.role NOT IN ({_NONE})"
_PAST = f"""WITH latest AS (SELECT bead FROM (SELECT bead, max(id) AS last FROM attempts NOT INDEXED
WHERE {_BY_AGENTS} AND id > (SELECT max(id) FROM attempts) - 1000 GROUP BY bead ORDER BY last DESC LIMIT 200))
SELECT beads.type, beads.estimate, sum(attempts.ended_at - attempts.started_at) / 60.0
FROM latest JOIN beads ON beads.id = latest.bead JOIN attempts ON attempts.bead = latest.bead
WHERE beads.status = 'done' AND {_BY_AGENTS} AND attempts.ended_at IS NOT NULL
GROUP BY beads.id ORDER BY beads.id"""
_OPEN = f"""SELECT count(*) FROM (SELECT 1 FROM beads WHERE estimate IS NULL AND type <> 'epic'
AND {UNFINISHED} LIMIT ?)"""


def usual(db: Database) -> Usual:
    """What the levels are computed with now."""
    row = db.maybe("SELECT value FROM settings WHERE key = ?", (USUAL,), row_of("settings", USUAL))
    return Usual() if row is None else Usual(**json.loads(row[0]))


def learn(db: Database, anyhow: bool = False) -> bool:
    """Keep what is usual by now, in the caller's transaction; whether levels have to follow.

    `anyhow`: the caller computes all levels anew, so the least difference counts.
    """
    before, now = usual(db), learnt(db)
    if now == before or not (anyhow or _differs(before, now) or db.one(_OPEN, (MANY,))[0] < MANY):
        return False
    keep(db, now)
    return True


def learnt(db: Database, more: Sequence[int] = ()) -> Usual:
    """What is usual by now, were there these estimates too; nothing is kept."""
    together, count = _with(db, more) if more else db.one(_TYPICAL)
    past = [Took(*row) for row in db.plain(_PAST)]
    return computed(-(-together // count) if count else None, past)


def _with(db: Database, more: Sequence[int]) -> tuple[int, int]:
    """What _TYPICAL asks, of the known estimates and of these."""
    found = sorted([*(row[0] for row in db.plain(f"SELECT estimate {_FROM}")), *more])
    most = OUTLIER * found[len(found) // 2]
    return sum(min(one, most) for one in found), len(found)


def keep(db: Database, found: Usual) -> None:
    """Keep it, in the caller's transaction."""
    text = json.dumps(asdict(found), sort_keys=True)
    db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (USUAL, text))


def _differs(before: Usual, now: Usual) -> bool:
    pairs = [(before.minutes, now.minutes)]
    pairs += [(before.of(type_), now.of(type_)) for type_ in {*before.by_type, *now.by_type}]
    return any(4 * abs(new - old) > old for old, new in pairs)
