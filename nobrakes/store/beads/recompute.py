"""Every derived column computed anew from the facts, by core's rules: for imports, doctor, and as proof of the rest."""

from collections.abc import Collection, Mapping
from typing import Any

from ...core.beads.bead import CLOSED, Status
from ...core.graph.links import Links
from ...core.graph.priority_levels import levels
from ...core.graph.ranks import AGEING_SECONDS, days, rank, rises_at
from ...core.graph.readiness import Readiness
from ...core.graph.usual import Usual
from ..database import Database, Row
from . import priority_levels
from .usual import learn, usual
from .whole import all_links

LEVELS = ("b_level", "done_level")

Differences = dict[str, dict[str, tuple[Any, Any]]]
"""Bead -> column -> (what the store says, what it must be)."""


class Derived:
    """What the derived columns of each bead of a graph must be, by core's rules."""

    COLUMNS = (
        *("open_blockers", "children", "open_children", "done_children", "asleep", "resting"),
        *("b_level", "done_level", "dependents"),
    )

    def __init__(self, links: Links, now: float, expected: Usual) -> None:
        self._links, self._now = links, now
        self._readiness = Readiness(links, now)
        self._levels = levels(links, expected)

    def of(self, bead: str) -> dict[str, int]:
        """Column -> value, the class that the bead competes in apart."""
        return dict(zip(self.COLUMNS, self.values(bead), strict=True))

    def _open_blockers(self, bead: str) -> int:
        """As core counts them; most beads have no parent, and many no blockers."""
        if bead in self._links.parents:
            return self._readiness.open_blockers(bead)
        return len(self._readiness.unfinished_blockers(bead)) if bead in self._links.blockers else 0

    def values(self, bead: str) -> tuple[int, ...]:
        """The values of COLUMNS."""
        links, now = self._links, self._now
        node, level = links.nodes[bead], self._levels[bead]
        within = links.children.get(bead)
        children = [links.nodes[child].status for child in within] if within else ()
        return (
            self._open_blockers(bead),
            len(children),
            sum(status not in CLOSED for status in children) if children else 0,
            children.count(Status.DONE),
            int(node.defer_until is not None and node.defer_until > now),
            int(node.retry_at is not None and node.retry_at > now),
            level.start,
            level.done,
            len(links.dependents.get(bead, ())),
        )


def differences(db: Database, now: float, lag: bool = False) -> Differences:
    """Bead -> column -> (what the store says, what it must be). Empty when all is right.

    `lag`: levels that are due are no difference, and none is looked at while there are some.
    """
    late = set(LEVELS) if lag and priority_levels.is_due(db) else set()
    return differing(db, Derived(all_links(db), now, usual(db)), now, late)


def differing(db: Database, derived: Derived, now: float, late: Collection[str] = ()) -> Differences:
    """`differences` of what was derived already, from the graph as it is or as it is about to be.

    `late`: columns that may lag.
    """
    found: Differences = {}
    for row in db.all("SELECT * FROM beads"):
        own = derived.of(row["id"]) | _class(row, now)
        wrong = {name: (row[name], value) for name, value in own.items() if row[name] != value and name not in late}
        if wrong:
            found[row["id"]] = wrong
    return found


def _class(row: Row, now: float) -> dict[str, Any]:
    """The class that the bead competes in; one that has not risen as often as it might only lags."""
    since, risen = row["ready_since"], row["priority"] - row["rank"]
    if 0 <= risen <= days(since, now):
        now = since + risen * AGEING_SECONDS
    return {"rank": rank(row["priority"], since, now), "rises_at": rises_at(since, now)}


def told(found: Mapping[str, Mapping[str, tuple[Any, Any]]]) -> list[str]:
    """What `differences` found, a line each."""
    return [
        f"{bead}.{name} is {kept}, and should be {right}"
        for bead, columns in found.items()
        for name, (kept, right) in columns.items()
    ]


def problems(db: Database) -> list[str]:
    """What is wrong with the file as SQLite sees it, and with references."""
    integrity = [str(row[0]) for row in db.all("PRAGMA integrity_check")]
    if integrity != ["ok"]:
        return integrity
    return [f"a row of {row[0]} refers to {row[2]} in vain" for row in db.all("PRAGMA foreign_key_check")]


def recompute(db: Database, now: float) -> int:
    """Set every derived column right, in the caller's transaction; how many beads were wrong."""
    learn(db, anyhow=True)
    found = differences(db, now)
    set_right(db, found)
    return len(found)


def set_right(db: Database, found: Differences) -> None:
    """Set these columns right, after which all levels are those of the graph."""
    # one statement for each set of columns: an import sets the same ones in most beads
    groups: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for bead, wrong in found.items():
        groups.setdefault(tuple(wrong), []).append((*(value for _, value in wrong.values()), bead))
    for columns, values in groups.items():
        sets = ", ".join(f'"{name}" = ?' for name in columns)
        db.run_many(f"UPDATE beads SET {sets} WHERE id = ?", values)
    priority_levels.nothing_due(db)
