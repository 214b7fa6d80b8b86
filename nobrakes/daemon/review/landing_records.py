"""What a record of evidence needs, kept in git before main moves: refs/nobrakes/landing/<bead>.

1. It is written before each swap, so a kill between swap and record loses nothing, not even with the database.
2. It goes when the bead's clone goes: then the record and the event are there. What a start finds is dealt with by
   daemon.reconcile.
"""

from collections.abc import Sequence

from ...core.review.train import Entry
from ..ports import Ports
from .evidence import Evidence

LANDING = "landing"


def landing_pin(bead: str) -> str:
    """The ref, below refs/nobrakes/, of what is about to land."""
    return f"{LANDING}/{bead}"


def hold(ports: Ports, evidence: Evidence, train: Sequence[Entry]) -> None:
    """Keep the records of those that land now."""
    store = ports.store
    ports.git.hold(
        {
            landing_pin(entry.bead): evidence.prepared(
                store.attempt(entry.attempt), store.bead(entry.bead), entry.journal
            )
            for entry in train
        }
    )
