"""How many beads wait behind one: the order in which people should decide. Hot commands use it: no import costs."""

from .conditions import UNFINISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Execute = Callable[[str, tuple[str, str]], Iterable[Any]]

_BEHIND = f"""WITH RECURSIVE waiting (id, ended) AS (
SELECT id, 1 FROM beads WHERE id = ? AND {UNFINISHED}
UNION SELECT id, 1 FROM waiting WHERE ended = 0
UNION SELECT blocked.id, 0 FROM waiting CROSS JOIN edges ON edges.needs = waiting.id AND edges.type = 'blocks'
    CROSS JOIN beads AS blocked ON blocked.id = edges.bead AND blocked.{UNFINISHED} WHERE ended = 1
UNION SELECT parent.id, 1 FROM waiting CROSS JOIN beads USING (id)
    CROSS JOIN beads AS parent ON parent.id = beads.epic AND parent.type = 'epic' AND parent.{UNFINISHED}
    WHERE ended = 1
UNION SELECT child.id, 0 FROM waiting CROSS JOIN beads AS child ON child.epic = waiting.id AND child.{UNFINISHED}
    WHERE ended = 0)
SELECT count(DISTINCT id) FROM waiting WHERE id <> ?"""
"""The end of a bead is waited for by what it blocks and by its epic's end; a beginning by its end and its children."""


def behind(execute: "Execute", bead: str) -> int:
    """How many unfinished beads wait for the end of this one: what it blocks, its epic, and what waits for those."""
    return int(next(iter(execute(_BEHIND, (bead, bead))))[0])
