"""The longest chain of live work, read off the levels: as many steps as it has moments, whatever the graph's size.

A moment's successor on the chain is one whose level is what is left; of several the smallest id is taken.
"""

from ...core.beads.bead import CLOSED, BeadType
from ...core.graph.usual import weight
from ..database import Database
from .usual import usual

_CLOSED = ", ".join(f"'{status.value}'" for status in CLOSED)
_FIRST = f"SELECT id, b_level FROM beads WHERE status NOT IN ({_CLOSED}) ORDER BY b_level DESC, id LIMIT 1"
_OWN = "SELECT type, estimate, epic, done_level FROM beads WHERE id = ?"
_CHILD = f"SELECT id FROM beads WHERE epic = ? AND b_level = ? AND status NOT IN ({_CLOSED}) ORDER BY id LIMIT 1"
_WAITING = f"""SELECT beads.id FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = ? AND edges.type = 'blocks' AND b_level = ? AND status NOT IN ({_CLOSED})
ORDER BY beads.id LIMIT 1"""
_EPIC = f"SELECT id FROM beads WHERE id = ? AND type = 'epic' AND done_level = ? AND status NOT IN ({_CLOSED})"


def longest_chain(db: Database, limit: int | None = None) -> list[str]:
    """The beads of the longest chain by estimate, first bead first, epics left out; empty without live beads.

    `limit`: so many of its beginning; None: all.
    """
    with db.read():
        first = db.maybe(_FIRST)
        if first is None:
            return []
        expected = usual(db)
        chain: list[str] = []
        bead, left, ended = str(first[0]), int(first[1]), False
        while True:
            type_, estimate, epic, done = db.one(_OWN, (bead,))
            if not ended:
                if weight(type_, estimate, expected) + done < left:
                    child = db.maybe(_CHILD, (bead, left))
                    if child is None:  # spoilt levels: doctor's affair
                        return chain
                    bead = child[0]
                    continue
                left = done
                if type_ != BeadType.EPIC:
                    chain.append(bead)
            if not left or len(chain) == limit:
                return chain
            following = db.maybe(_WAITING, (bead, left))
            ended = following is None
            following = following or db.maybe(_EPIC, (epic, left))
            if following is None:
                return chain
            bead = following[0]
