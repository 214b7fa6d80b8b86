"""What a large plan finds in the graph, without an object for each bead: what is there already, what could start.

Rows are compared as they are written and as they come, so that the graph is never in memory beside the plan. Which
bead could start is read off the counters, by core.graph.readiness's rule.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
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
    sql = f"SELECT bead, group_concat(type || ' ' || needs) FROM edges {where.format('bead')} GROUP BY bead"
    edges = dict(db.each(sql, ids))
    return {bead: status for bead, status in found.items() if _needs_the_same(said[bead][2], edges.get(bead))}


def _same(
    db: Database, table: str, columns: Sequence[str], said: Mapping[str, Said], where: str, ids: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """(bead, the first of its columns) of those rows of the table that hold what is said."""
    places = {name: place for place, name in enumerate(columns, 1)}
    shapes: dict[tuple[str, ...], _Shape] = {}
    for row in db.each(f"SELECT id, {', '.join(columns)} FROM {table} {where}", ids):
        one = said.get(row[0])
        if one is None:
            continue
        fields = one[1]
        names = (*fields,)
        shape = shapes.get(names)
        if shape is None:
            shape = shapes[names] = _Shape([name for name in names if name in places], places)
        if shape.of_fields(fields) == shape.of_row(row) or shape.is_written(fields, row):
            yield row[0], row[1]


class _Shape:
    """Which fields of a bead stand where in a row: most beads of a plan name the same ones."""

    def __init__(self, names: Sequence[str], places: Mapping[str, int]) -> None:
        self._places = {name: places[name] for name in names}
        # itemgetter gives no tuple of less than two
        self.of_fields: Callable[[Mapping[str, Any]], Any] = itemgetter(*names) if names else _nothing
        self.of_row: Callable[[Sequence[Any]], Any] = itemgetter(*self._places.values()) if names else _nothing

    def is_written(self, fields: Mapping[str, Any], row: Sequence[Any]) -> bool:
        """Whether each of the fields is in the row as it is written."""
        return all(
            fields[name] == row[place] or (name in _WRITTEN and _is_written(name, fields[name], row[place]))
            for name, place in self._places.items()
        )


def _nothing(_: object) -> None:
    """What is asked of a bead of which nothing is said here."""


def _is_written(name: str, value: Any, text: str) -> bool:
    try:
        return _WRITTEN[name](value) == text
    except (TypeError, ValueError):  # no JSON value: whoever writes it says so
        return False


def _needs_the_same(lists: Sequence[Sequence[str] | None], edges: str | None) -> bool:
    """Whether the edges (`<type> <id>`, with commas; None: there are none) are what is said of each kind."""
    there = {*edges.split(",")} if edges else set()
    wanted = {f"{kind} {one}" for needs, kind in zip(lists, _KINDS, strict=True) if needs for one in needs}
    if there == wanted:
        return True
    told = tuple(f"{kind} " for needs, kind in zip(lists, _KINDS, strict=True) if needs is not None)
    return {one for one in there if one.startswith(told)} == wanted


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
