"""A database that is older than the file beside it: what is later outside of it is brought back into it.

1. A copy was put back, or a power cut took the last transactions. Whatever only the database has stays as it is.
2. A bead is brought back where its record outside is later, or as old and otherwise; escalations and what people set
   are as the file has them, since it was written after the database.
3. Merges are compared with main by the next start of a daemon, which also ends whoever still works for an attempt that
   nobody knows (daemon.recovery).
"""

from dataclasses import replace

from ...interop.beads import dump
from ...paths import Paths
from ...ports.git import Git
from ...ports.store import Position, Store
from .rebuild import ACTOR, restorable
from .sources import gather


def bring_back(store: Store, paths: Paths, git: Git | None, beyond: Position) -> str:
    """Bring it back; what a person is told. `beyond`: the last position that the file names. PlanError."""
    sources = gather(paths, git, dump(store.alike()))
    found, _, problems = restorable(sources, git)
    later = [bead for bead in found.beads if bead.id in sources.differing]
    told = store.bring_back(replace(found, beads=later), beyond.seq, ACTOR)
    text = (
        f"the database was older than what is kept beside it: {told['beads']} beads, {told['attempts']} attempts and "
        f"{told['escalations']} escalations were brought back"
    )
    return "; ".join([text, *(f"{name} is as it was set" for name in told["settings"]), *problems])
