"""`retry`: a bead goes back to agents with a clean count, whatever kept it from them.

1. What stops it is decided with "retry"; several questions of different sorts are named and nothing is done, unless all
   are meant.
2. It is released, and what its failures left (their count, a wait, open breakers) is forgotten.
3. Where nothing keeps it from agents, that is said, and nothing changes. All of it is one transaction.
"""

from dataclasses import dataclass

from ..core.beads import forms
from ..core.beads.bead import CLOSED, WORKING, Bead, BeadType, Status
from ..core.beads.escalations import STOPS_BEAD, Escalation
from ..core.beads.events import Event, Kind
from ..core.errors import NotAllowed
from ..core.limits.breaker import State
from ..core.owners import of_bead
from ..paths import Paths
from ..ports.store import Store
from . import desk
from .waking import wake


@dataclass(frozen=True, slots=True)
class Retried:
    """What was done: the bead as it is now, the escalations that were resolved, and why it had been held."""

    bead: Bead
    resolved: tuple[int, ...]
    released: str | None
    failures: int
    breakers: int


def retry(
    store: Store, bead: str, actor: str, note: str = "", all: bool = False, paths: Paths | None = None
) -> Retried:
    """Send the bead back to agents; `note` is in the next prompt, with what was asked or among the bead's notes.

    NoSuchBead; NotAllowed: nothing was changed.

    `all`: decide everything that stops it so, of whatever sort.
    """
    with store.together():
        before = store.bead(bead)
        _refuse(before)
        asked = [one for one in store.escalations(bead=bead) if one.type in STOPS_BEAD]
        if len({one.type for one in asked}) > 1 and not all:
            raise _several(bead, asked)
        for number, one in enumerate(asked):
            if store.escalation(one.id).resolved_at is None:
                desk.resolve(store, one.id, "retry", "" if number or not takes_words(one) else note, actor)
        if note.strip() and not asked:
            store.change(bead, {"notes": "\n\n".join(filter(None, (before.notes, note)))}, actor)
        if store.bead(bead).held is not None:
            store.record(Event(Kind.RELEASED, bead, actor=actor))
        open_ = sum(one.state is State.OPEN for one in store.breakers(of_bead(bead)).values())
        is_waiting = before.status is not Status.ESCALATED and (before.failures or before.retry_at is not None or open_)
        if is_waiting:
            store.record(Event(Kind.RETRIED, bead, actor=actor, data={"failures": before.failures, "reason": note}))
            store.reset_breakers(bead, actor)
        if not asked and before.held is None and not is_waiting:
            raise NotAllowed(
                f"nothing keeps bead {bead} from agents: it is {before.status.value}, and has no failures",
                f"`nobrakes ready --explain` says what it waits for: look for {bead}.",
            )
        after = store.bead(bead)
    if paths is not None:
        wake(paths)
    return Retried(after, tuple(one.id for one in asked), before.held, before.failures, open_)


def takes_words(one: Escalation) -> bool:
    """Whether a note is told to the next attempt as its answer."""
    return one.form is None or forms.form(one.form).rest() is not None


def _refuse(bead: Bead) -> None:
    if bead.status in CLOSED:
        raise NotAllowed(f"bead {bead.id} is {bead.status.value}", f"`nobrakes reopen {bead.id}` has it done again.")
    if bead.status is Status.DRAFT:
        raise NotAllowed(
            f"bead {bead.id} is a draft: no agent was on it", "`nobrakes commit-strategy` makes drafts live."
        )
    if bead.type is BeadType.EPIC and bead.status is not Status.ESCALATED:
        raise NotAllowed(
            f"bead {bead.id} is an epic: no agent works on it itself", f"`nobrakes show {bead.id}` names its children."
        )
    if bead.status in WORKING and bead.held is None:
        raise NotAllowed(
            f"{bead.assignee or 'somebody'} works on bead {bead.id} now: it is {bead.status.value}",
            f"To begin anew: `nobrakes stop {bead.id}`, then this again.",
        )


def _several(bead: str, asked: list[Escalation]) -> NotAllowed:
    what = ", ".join(f"{one.id} ({one.type.value.replace('_', ' ')})" for one in asked)
    return NotAllowed(
        f"bead {bead} is stopped by several questions: {what}",
        f"Decide one: `nobrakes resolve {asked[0].id} --retry`; or all of them: `nobrakes retry {bead} --all`.",
    )
