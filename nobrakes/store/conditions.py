"""Conditions on a row of `beads` (one is of `escalations`), as SQL text, and the clock that they are asked with.

A partial index serves a query only when both say the same words. Imports nothing that costs: hot commands, the store
and the declared tables share these.
"""

import time

UNOBSTRUCTED = "open_blockers = 0 AND held IS NULL AND asleep = 0"
"""Nothing is in the way of the bead: blockers are done, parents free, it is not held or deferred."""

CLAIMABLE = (
    f"status IN ('needs_tests', 'needs_doer') AND type <> 'epic' AND {UNOBSTRUCTED} "
    "AND resting = 0 AND assignee IS NULL"
)
"""Ready, by core.graph.readiness's rule."""

REVIEWABLE = f"status = 'needs_review' AND {UNOBSTRUCTED} AND resting = 0 AND assignee IS NULL"
"""In the Reviewer's queue."""

ESTIMATED = "estimate IS NOT NULL AND type <> 'epic'"
"""Somebody said how long it takes."""

EPIC_COMPLETE = f"type = 'epic' AND status = 'open' AND open_children = 0 AND done_children > 0 AND {UNOBSTRUCTED}"
"""A live epic whose children are closed, and not all of them cancelled."""

EPIC_LANDED = f"type = 'epic' AND status = 'open' AND {UNOBSTRUCTED}"
"""A live epic that can be reviewed as a whole, once all in it that is not closed has landed."""

IN_ORDER = "ORDER BY rank, b_level DESC, dependents DESC, ready_since DESC, id"
"""The Assigner's order; the indexes hold it. Of equals the one whose way has just become free goes on with what was
begun; what waits meanwhile rises (core.graph.ranks)."""

PRIORITY_OF_FORM = "coalesce(json_extract(nullif(form, ''), '$.priority'), 2)"
"""How urgent an escalation is, by core.beads.forms.priority_of's rule."""

PROPOSED = "proposed <> '{}'"
"""Something is proposed for the bead. Of a row of `bead_text`."""

CLOSES_OFF = "(status IN ('draft', 'cancelled') OR held IS NOT NULL OR asleep = 1 OR open_blockers > 0)"
"""Whether the bead, as a parent, keeps its children from being started."""

UNFINISHED = "status NOT IN ('done', 'cancelled')"
"""Not closed: core.beads.bead.CLOSED."""

FEATURE_GOES_ON = (
    "(state NOT IN ('completed', 'rolled_back') "
    "OR (state = 'completed' AND json_extract(data, '$.rollback') IS NOT NULL))"
)
"""Not over (core.forge.feature.OVER), or being rolled back. Of a row of `features`."""

DID = """UPDATE turns SET data = json_set(data, '$.did',
json_insert(coalesce(json_extract(data, '$.did'), json('[]')), '$[#]', :what))
WHERE id = :turn AND NOT EXISTS (SELECT 1 FROM json_each(turns.data, '$.did') WHERE value = :what)"""
"""Notes in the turn's data what its agent did in it, once: its words need not be read then."""

NOW = "round((julianday('now') - 2440587.5) * 86400.0, 3)"
"""The database's clock: seconds since 1970 UTC, in milliseconds."""


def now() -> float:
    """What NOW says to SQLite, without asking it."""
    return time.time_ns() // 1_000_000 / 1000


WAITS = f"(({CLAIMABLE}) OR ({REVIEWABLE}))"
"""Who competes, and rises when it has waited."""

DUE = """SELECT id, 1 AS asleep FROM beads WHERE asleep = 1 AND defer_until <= :now
UNION ALL SELECT id, 0 FROM beads WHERE resting = 1 AND retry_at <= :now"""
"""Beads whose deferral or retry has come due, and that nobody has woken yet."""

RISING = f"SELECT id FROM beads INDEXED BY beads_rising WHERE {WAITS} AND rises_at <= :now"
"""Beads that compete one class higher from now on."""

OPEN_ATTEMPT = """SELECT attempts.* FROM attempts
JOIN beads ON beads.id = attempts.bead AND beads.fence = attempts.fence
WHERE attempts.id = ? AND outcome IS NULL"""
"""The attempt that a token may speak for: not ended, and its fence is the bead's."""

GOING = "ended_at IS NULL AND kind <> 'attempt'"
"""A session of its own that has not ended; those of attempts go with their attempts."""
