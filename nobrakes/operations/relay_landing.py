"""How the work of a relay session comes to main: handed in by a bead of its own, whose merge a person approves.

1. The Reviewer runs the checks on it as it would be merged, shows tests and difference, and asks. Nothing merges
   without that yes; whoever hands in decides nothing.
2. The session keeps the bead's number: what is handed in again takes the place of what waits there.
3. Work that does not pass comes back: the bead is held, and says why. The session can go on, and be handed in again.
"""

from dataclasses import dataclass

from ..core.beads.bead import CLOSED, Bead
from ..core.beads.events import Event, Kind
from ..core.errors import NobrakesError, NotAllowed
from ..core.merge_approval import LABEL
from ..core.sessions.relay import BEAD, REPOSITORY
from ..core.sessions.session import Session, State
from ..ports.store import Store
from . import beads, handing_in, relay
from .taking import Repository


@dataclass(frozen=True, slots=True)
class Landing:
    """The work was handed in: the bead, the commit and the branch that it came from."""

    session: int
    bead: str
    head: str
    branch: str


def hand_in(here: Repository, number: int, actor: str) -> Landing:
    """Hand the session's branch in. NoSuchSession, NotAllowed, UsageError: nothing was handed in."""
    store = here.store
    one = relay.found(store, number)
    done = relay.summary(store, here.paths, number)
    if one.data.get(REPOSITORY):
        why = f"session {number} works on {done.repository}, where nobrakes is not set up"
        raise NotAllowed(why, f"Merge its branch there yourself: {done.branch or 'it has none yet'}.")
    if one.state is State.RUNNING:
        raise NotAllowed(f"session {number} is at work", "Hand in when its turn has ended.")
    if not done.branch or not done.commits:
        raise NotAllowed(f"there is nothing of session {number} to hand in: nothing is committed", "Let it commit.")
    bead = _bead(store, one, actor)
    try:
        handed = handing_in.hand_in(here, bead.id, actor, done.branch)
    except NobrakesError:
        if bead.status not in CLOSED and not store.attempts(bead.id):
            beads.cancel(store, bead.id, "its work could not be handed in", actor)
        raise
    return Landing(number, bead.id, handed.head, handed.branch or done.branch)


def _bead(store: Store, one: Session, actor: str) -> Bead:
    """The bead that stands for the session's work; a new one is held, so that nobody begins with it."""
    known = store.beads(ids=[str(one.data[BEAD])]) if one.data.get(BEAD) else []
    if known and known[0].status not in CLOSED:
        return known[0]
    with store.together():
        made = beads.add(
            store,
            one.title,
            description=f"What session {one.id} made.",
            labels=(LABEL,),
            needs_tests=False,
            draft=False,
            actor=actor,
        )
        reason = f"the work of session {one.id} is handed in by it"
        store.record(Event(Kind.HELD, made.id, actor=actor, data={"reason": reason}))
        store.note_session(one.id, {BEAD: made.id})
    return store.bead(made.id)
