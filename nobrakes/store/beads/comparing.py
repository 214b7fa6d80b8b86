"""What a large plan finds in the graph, without an object for each bead: what is there already, what could start.

Rows are compared as they are written and as they come, so that the graph is never in memory beside the plan. Which
bead could start is read off the counters, by core.graph.readiness's rule.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...core.beads.bead import Status
from ...core.beads.proposals import LISTS
from ...ports.graph import Said
from .. import rows
from ..conditions import CLOSES_OFF
from ..database import Database
from . import moves

AT_ONCE = 5000
MANY = 5
"""A plan of more than one in so many beads of the graph is compared by reading whole tables."""

_OF_TEXT = frozenset(rows.TEXT_COLUMNS)
_IDS = "(SELECT value FROM json_each(?))"
_KINDS = tuple(kind.value for kind in LISTS.values())
_WRITTEN: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("acceptance", "labels", "touches"), rows.texts),
    "metadata": rows.mapping_text,
}
_COULD_START = """SELECT id, epic, open_blockers FROM beads
WHERE status IN ('draft', 'needs_tests', 'needs_doer') AND type <> 'epic' AND held IS NULL AND asleep = 0
AND resting = 0 AND assignee IS NULL AND (open_blockers = 0 OR epic IS NOT NULL)"""
_PARENT = f"""SELECT epic, status, held IS NOT NULL OR asleep = 1 AS aside, open_blockers, {CLOSES_OFF} AS closes_off
FROM beads WHERE id = ?"""


def as_said(db: Database, said: Sequence[Said]) -> dict[str, Status]:
    """Of these the beads that are there and in all that is said of them as it is said, with their status."""
    with db.read():
        if len(said) * MANY > db.one("SELECT count(*) FROM beads")[0]:
            return _as_said(db, {one[0]: one for one in said}, "", ())
        found: dict[str, Status] = {}
        for first in range(0, len(said), AT_ONCE):
            part = {one[0]: one for one in said[first : first + AT_ONCE]}
            found |= _as_said(db, part, f"WHERE {{}} IN {_IDS}", (json.dumps([*part]),))
        return found


def _as_said(db: Database, said: Mapping[str, Said], where: str, ids: Sequence[str]) -> dict[str, Status]:
    names: set[str] = set()
    for one in said.values():
        if not names.issuperset(one[1]):
            names.update(one[1])
    found = {}
    for bead, status in _same(db, "beads", ("status", *(names - _OF_TEXT)), said, where.format("id"), ids):
        found[bead] = rows.STATUSES[status]
    if texts := names & _OF_TEXT:
        same = {row[0] for row in _same(db, "bead_text", (*texts,), said, where.format("id"), ids)}
        found = {bead: status for bead, status in found.items() if bead in same}
    sql = f"SELECT bead, type, needs FROM edges {where.format('bead')} ORDER BY bead, type, needs"
    edges: dict[str, dict[str, list[str]]] = {}
    for bead, word, needs in db.each(sql, ids):
        if bead in found:
            edges.setdefault(bead, {}).setdefault(word, []).append(needs)
    return {bead: status for bead, status in found.items() if _needs_the_same(said[bead][2], edges.get(bead, _NONE))}


def _same(
    db: Database, table: str, columns: Sequence[str], said: Mapping[str, Said], where: str, ids: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """(bead, the first of its columns) of those rows of the table that hold what is said."""
    places = {name: place for place, name in enumerate(columns)}
    for bead, *values in db.each(f"SELECT id, {', '.join(columns)} FROM {table} {where}", ids):
        one = said.get(bead)
        if one is not None:
            for name, value in one[1].items():
                place = places.get(name)
                if place is None or value == values[place]:
                    continue
                if name not in _WRITTEN or not _is_written(name, value, values[place]):
                    break
            else:
                yield bead, values[0]


def _is_written(name: str, value: Any, text: str) -> bool:
    try:
        return _WRITTEN[name](value) == text
    except (TypeError, ValueError):  # no JSON value: whoever writes it says so
        return False


_NONE: Mapping[str, list[str]] = {}


def _needs_the_same(lists: Sequence[Sequence[str] | None], edges: Mapping[str, Sequence[str]]) -> bool:
    for needs, kind in zip(lists, _KINDS, strict=True):
        if needs is not None and {*needs} != {*edges.get(kind, ())}:
            return False
    return True


def ready_once_approved(db: Database, beads: Sequence[str]) -> list[str]:
    """Of these the beads that could be started, were the drafts among them approved; in their order."""
    moves.wake(db, db.now())
    approved = frozenset(beads)
    closes_off: dict[str, bool] = {}
    ready: set[str] = set()
    with db.read():
        for bead, epic, blockers in db.plain(_COULD_START):
            if epic is not None and bead in approved:
                blockers += _once_approved(db, epic, approved, closes_off) - db.one(_PARENT, (epic,))["closes_off"]
            if not blockers:
                ready.add(bead)
    return [bead for bead in beads if bead in ready]


def _once_approved(db: Database, epic: str, approved: frozenset[str], known: dict[str, bool]) -> bool:
    """Whether the epic closes its children off once these are approved."""
    chain: list[str] = []
    above: str | None = epic
    while above is not None and above not in known and above not in chain:
        chain.append(above)
        above = db.one(_PARENT, (above,))["epic"]
    for bead in reversed(chain):
        row = db.one(_PARENT, (bead,))
        blockers = row["open_blockers"]
        if row["epic"] is not None:
            blockers += known[row["epic"]] - db.one(_PARENT, (row["epic"],))["closes_off"]
        is_draft = row["status"] == Status.DRAFT and bead not in approved
        known[bead] = bool(is_draft or row["status"] == Status.CANCELLED or row["aside"] or blockers)
    return known[epic]
