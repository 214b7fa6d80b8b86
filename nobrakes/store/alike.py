"""Beads as they are written down, one after the other: whole graphs are written, and most of their beads are alike.

1. What is the same in many beads is one object: whoever writes them works it out once, and no graph is in memory.
2. A bead that has a branch of its own is like itself alone: what its branch is usually called depends on its id.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

from ..core.beads.bead import Bead
from ..ports.graph import Alike
from . import rows
from .database import Database

_FIELDS = tuple(Bead.__dataclass_fields__)
_OWN = ("id", "title", "description", "acceptance", "notes")
_REST = tuple(name for name in _FIELDS if name not in _OWN)
_in_order = itemgetter(*map((*_OWN, "edges", *_REST).index, _FIELDS))
_BESIDE = len(_OWN) + 1
_BRANCH = _BESIDE + _REST.index("branch")
_alike: Callable[[tuple[Any, ...]], Alike] = partial(tuple.__new__, Alike)
# no id and no type has a comma or a space
_ROWS = f"""SELECT {", ".join(_OWN)}, (SELECT group_concat(needs || ' ' || type) FROM edges WHERE bead = beads.id),
{", ".join(_REST)} FROM beads JOIN bead_text USING (id) {{}} ORDER BY id"""
_OF_THESE = "WHERE beads.id IN (SELECT value FROM json_each(?))"

AT_ONCE = 4096
"""So many beads that others are like are remembered."""


def alike(db: Database, ids: Iterable[str] | None = None) -> Iterator[Alike]:
    """Those of these beads (None: of all) that are there, by id order.

    Nothing may be written by this connection meanwhile.
    """
    asked = (_ROWS.format(""), ()) if ids is None else (_ROWS.format(_OF_THESE), (json.dumps([*ids]),))
    with db.read():
        known: dict[tuple[Any, ...], Bead] = {}
        for row in db.each(*asked):
            rest = row[_BESIDE:]
            like = known.get(rest)
            if like is None:
                like = rows.bead(_in_order(row))
                if not row[_BRANCH]:
                    if len(known) >= AT_ONCE:
                        known.clear()
                    known[rest] = like
            id_, title, description, acceptance, notes, edges = row[:_BESIDE]
            lines = rows.read_texts(acceptance) if acceptance != "[]" else ()
            yield _alike((id_, title, description, lines, notes, edges.split(",") if edges else (), like))
