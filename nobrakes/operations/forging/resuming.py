"""Going on with a feature: where it was, or, where its agent's session has expired, in one of three ways.

1. Afresh: a new conversation is given a summary, the drafts and all answers. It is the usual way.
2. From the base: its drafts are given up and archived, and it is planned anew; what was answered is still told.
3. Only looking: nothing is started, and what was said meanwhile waits.
4. A question about it that is open is settled by the same word.
"""

from enum import StrEnum

from ...core.beads.bead import Status
from ...core.beads.events import Event, Kind
from ...core.errors import NotAllowed, UsageError
from ...core.forge import data_keys as keys
from ...core.forge import reviewing
from ...core.forge.actions import About
from ...core.forge.asking import FRESH, FROM_BASE, VIEW_ONLY
from ...core.forge.feature import Feature, State, Step, refuse_while_rolling
from ...core.sessions.session import State as At
from ...paths import Paths
from ...ports.store import Store
from ...roles.plan_beads import beads_under
from ..waking import wake
from . import resting
from .own_questions import settle_questions

ANEW = (
    "Planning begins anew, from the base: the person had all drafts of the plan given up. Look at the code as it is, "
    "and propose the plan again; what was answered before still holds."
)


class Way(StrEnum):
    """How a feature goes on whose session has expired."""

    FRESH = FRESH
    FROM_BASE = FROM_BASE
    VIEW = VIEW_ONLY


def way_of(fresh: bool, from_base: bool, view: bool) -> Way | None:
    """The way that was named; None: none was. UsageError for several."""
    chosen = [way for way, named in ((Way.FRESH, fresh), (Way.FROM_BASE, from_base), (Way.VIEW, view)) if named]
    if len(chosen) > 1:
        raise UsageError("a feature goes on in one way", "Name one of fresh, from-base and view, or none of them.")
    return chosen[0] if chosen else None


def resume(store: Store, paths: Paths, id: str, actor: str, way: Way | None = None) -> Feature:
    """Go on with it. NotAllowed where another feature has the repository's turn, or where it is being rolled back.

    `way` is of an expired feature; None: afresh.
    """
    with store.together():
        feature = store.feature(id)
        refuse_while_rolling(feature)
        if feature.state is State.EXPIRED:
            settle_questions(store, feature, (way or Way.FRESH).value, actor, (About.EXPIRED,))
            go_on(store, id, way or Way.FRESH, actor)
        elif way is None:
            store.move_feature(id, Step.RESUMED, actor, "resumed by a person")
            _try_again(store, feature, actor)
            resting.let_go(store, id, actor)
        else:
            raise NotAllowed(
                f"feature {id} is {feature.state.value.replace('_', ' ')}: only one that has expired goes on in a way",
                f"`nobrakes forge resume {id}` goes on where it was.",
            )
        after = store.feature(id)
    wake(paths)
    return after


def _try_again(store: Store, feature: Feature, actor: str) -> None:
    """Whoever goes on with a feature whose session is stuck wants it tried."""
    session = None if feature.session is None else store.session(feature.session)
    if session is not None and session.state is At.STUCK:
        store.say(session.id, "Go on.", actor)


def go_on(store: Store, id: str, way: str, actor: str) -> int:
    """Go on with a feature that has expired: how many drafts were given up for it. One transaction; NotAllowed."""
    with store.together():
        feature = store.feature(id)
        if feature.state is not State.EXPIRED:
            return 0
        session = None if feature.session is None else store.session(feature.session)
        if way not in (Way.FRESH, Way.FROM_BASE):
            store.note_feature(id, {keys.LEFT: session.waiting if session is not None else 0}, actor)
            return 0
        store.note_feature(id, {keys.LEFT: None}, actor)
        if session is not None and session.state is not At.ENDED:
            store.renew_session(session.id)
        if way == Way.FROM_BASE:
            return _anew(store, feature, actor)
        store.move_feature(id, Step.RESUMED, actor, way)
        return 0


def _anew(store: Store, feature: Feature, actor: str) -> int:
    """Its drafts are given up, with the reviews of them; how many."""
    count = _drop_drafts(store, feature.id, actor)
    store.note_feature(feature.id, reviewing.opened_anew(feature), actor)
    store.move_feature(feature.id, Step.BEGUN_ANEW, actor, FROM_BASE, clean=0)
    if feature.session is not None and store.session(feature.session).state is not At.ENDED:
        store.say(feature.session, ANEW, actor)
    return count


def _drop_drafts(store: Store, feature: str, actor: str) -> int:
    """Cancel the drafts of the plan, and take back what it wants of live beads; how many drafts."""
    why, beads = "the feature begins from its base again", beads_under(store, feature)
    drafts = [bead for bead in beads if bead.status is Status.DRAFT]
    for bead in drafts:
        store.record(Event(Kind.CANCELLED, bead.id, actor=actor, data={"reason": why}))
    for bead in beads:
        if bead.proposed and bead.status is not Status.DRAFT:
            store.propose(bead.id, dict.fromkeys(bead.proposed), actor, Kind.CHANGE_DROPPED, why)
    return len(drafts)
