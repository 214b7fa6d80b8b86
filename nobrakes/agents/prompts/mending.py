"""What is to be mended in an epic that people merge as a whole: a bead of its own in that epic, since nobody works on
an epic itself. The review of the whole begins again when it has landed.
"""

import itertools
from typing import TYPE_CHECKING

from ...beads.lifecycle import live
from ...beads.model import Bead, BeadType
from ...text.cleaning import shorten

if TYPE_CHECKING:
    from ...store import Store


MOST = 8000
"""Characters of what is told to who mends it."""


def mend(store: "Store", epic: Bead, what: str, detail: str, actor: str) -> Bead:
    """Add the bead. `what`: of the epic, in words; `detail`: what its Doer is told. The caller has a transaction."""
    names = (f"{_start(epic.id)}{number}" for number in itertools.count(1))
    mends = Bead(
        next(name for name in names if not store.beads(ids=[name])),
        f"Answer {what} {epic.id}",
        BeadType.FIX,
        description=shorten(detail, MOST),
        epic=epic.id,
        priority=max(0, epic.priority - 1),
        needs_tests=False,
    )
    store.put([live(mends)], [], actor)
    return mends


def is_mend(bead: Bead, epic: str) -> bool:
    """Whether the bead was added to mend what is in the epic."""
    return bead.epic == epic and bead.type is BeadType.FIX and bead.id.startswith(_start(epic))


def _start(epic: str) -> str:
    return f"{epic[:50]}-mend-"
