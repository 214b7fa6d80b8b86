"""Rolling a feature back: a preview, and its beginning and end in the store.

1. It is confirmed once, after showing which beads are cancelled and which merges are taken off main.
2. It begins in one transaction: turns end, open beads are cancelled with their work kept, and a bead stands for the
   rest. Without anything on main that is the end as well.
3. The daemon builds the commit that takes the merges back, and the Reviewer brings it to main (features.planning).
4. A bead that is landing lands, and is taken back with the others.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...beads.model import CLOSED, WORKING, Bead, BeadType, Status
from ...beads.proposals import Merged
from ...beads.service import bead_commands
from ...errors import NotAllowed
from ...events.kinds import UNDO_MARK, Event, Kind
from ...files import wake
from ...git.merge import sorted_out
from ...git.port import Git
from ...paths import Paths
from ...records import frozen
from ...requests.model import Where, own_base
from ...review.service.landed import git_at, merged_into
from ...review.service.undo import standing
from .. import model as keys
from ..actions import About
from ..model import Feature, PlanReview, State, Step, refuse_while_rolling
from ..planning import GIVEN_UP, ROLLBACK_HELD
from ..reviewed_plan import beads_under, steps_under

if TYPE_CHECKING:
    from ...store import Store


def resolve_questions(
    store: "Store", feature: Feature, resolution: str, actor: str, about: Collection[About] = tuple(About)
) -> None:
    """Close and forget these open questions, and release what they held. In the caller's transaction."""
    asked: dict[str, int] = dict(feature.data.get(keys.ASKED, {}))
    for one in about:
        if (number := asked.pop(one.value, None)) is not None and store.escalation(number).resolved_at is None:
            store.resolve(number, resolution, actor)
    held = feature.data.get(keys.HELD)
    still = None if held in {one.value for one in about} else held
    store.note_feature(feature.id, {keys.ASKED: asked or None, keys.HELD: still}, actor)


@frozen
class RollbackStep:
    """A bead of the feature and its merge; empty: not merged."""

    bead: str
    title: str
    commit: str = ""


@frozen
class RollbackView:
    """What a rollback does. `cancels`: open beads; `stops`: those being worked on; `reverts`: merges, newest first;
    `off_main`: merges no longer on main, ignored. `bead`: does it; empty: none needed. `is_begun`: requested and
    confirmed."""

    feature: str
    title: str
    state: str
    cancels: tuple[RollbackStep, ...]
    stops: tuple[str, ...]
    reverts: tuple[RollbackStep, ...]
    off_main: tuple[RollbackStep, ...]
    bead: str = ""
    is_begun: bool = False

    @property
    def is_over(self) -> bool:
        return self.state == State.ROLLED_BACK.value


@frozen
class RollbackCount:
    """The size of a rollback by the store alone; `bead`: it is begun, and this one does it."""

    cancels: int
    reverts: int
    bead: str = ""


def counted(store: "Store", feature: Feature) -> RollbackCount | None:
    """None: it is rolled back."""
    if feature.state is State.ROLLED_BACK:
        return None
    inside = steps_under(store, feature.id)
    open_ = sum(bead.status not in CLOSED for bead in inside)
    rolling = feature.data.get(keys.ROLLBACK) or {}
    return RollbackCount(open_, len(_landed(store, inside)), str(rolling.get("bead", "")))


def look(store: "Store", git: Git, id: str) -> RollbackView:
    """What `begin` would do. NotAllowed if it is or is being rolled back."""
    feature = store.feature(id)
    _refuse(feature)
    inside = steps_under(store, id)
    merges, gone = sorted_out(git_at(git, Where(_base(store, inside))), _landed(store, inside), feature.base)
    open_ = [bead for bead in inside if bead.status not in CLOSED]
    titles = {bead.id: bead.title for bead in inside}
    return RollbackView(
        id,
        feature.title,
        feature.state.value,
        tuple(RollbackStep(bead.id, bead.title) for bead in open_),
        tuple(bead.id for bead in open_ if bead.status in WORKING),
        tuple(RollbackStep(one.bead, titles[one.bead], one.commit) for one in merges),
        tuple(RollbackStep(one.bead, titles[one.bead], one.commit) for one in gone),
    )


def _base(store: "Store", inside: Sequence[Bead]) -> str:
    """The branch beside main that all were merged into; empty: main. NotAllowed: several."""
    into = {merged_into(store, bead): bead.id for bead in inside if bead.status is Status.DONE and bead.merged_commit}
    if len(into) > 1:
        told = ", ".join(f"{bead} into {base or 'main'}" for base, bead in sorted(into.items()))
        raise NotAllowed(
            f"the feature's beads were merged into more than one branch: {told}",
            "Undo the beads one by one: `nobrakes undo BEAD`.",
        )
    return next(iter(into), "")


def begin(store: "Store", git: Git, paths: Paths, id: str, actor: str) -> RollbackView:
    """Roll it back in the store; returns what it did. NotAllowed: nothing changed."""
    seen = look(store, git, id)
    with store.write():
        feature = store.feature(id)
        _refuse(feature)
        stop_turns(store, feature, actor)
        cancelled, landing = give_up(store, id, actor)
        bead, off_main = "", {one.commit for one in seen.off_main}
        if landing or any(one.commit not in off_main for one in landed(store, id)):
            resolve_questions(store, feature, "the feature is rolled back", actor)
            bead = _hand(store, feature, actor)
        else:
            end(store, id, actor, (), "main had none of the feature's work")
        after = store.feature(id)
    wake(paths)
    kept = {one.bead: one for one in seen.cancels}
    cancels = tuple(kept.get(one) or RollbackStep(one, store.bead(one).title) for one in cancelled)
    return RollbackView(
        id, after.title, after.state.value, cancels, seen.stops, seen.reverts, seen.off_main, bead, True
    )


def _refuse(feature: Feature) -> None:
    if feature.state is State.ROLLED_BACK:
        raise NotAllowed(f"feature {feature.id} is already rolled back")
    refuse_while_rolling(feature)


def stop_turns(store: "Store", feature: Feature, actor: str) -> None:
    for session in _live_sessions(store, feature, [one for one in store.plan_reviews(feature.id) if not one.ended_at]):
        store.stop_session(session, actor)


def _live_sessions(store: "Store", feature: Feature, reviews: Sequence[PlanReview]) -> list[int]:
    named = dict.fromkeys([feature.session, *(one.session for one in reviews)])
    return [one for one in named if one is not None and store.session(one).ended_at is None]


def landed(store: "Store", id: str) -> tuple[Merged, ...]:
    return _landed(store, steps_under(store, id))


def _landed(store: "Store", beads: Sequence[Bead]) -> tuple[Merged, ...]:
    return tuple(one for bead in beads for one in standing(store, bead))


def give_up(store: "Store", id: str, actor: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cancel the feature's open beads and archive their work: (cancelled, left because they are landing)."""
    done: list[str] = []
    left: list[str] = []
    for bead in steps_under(store, id):
        if bead.status in CLOSED:
            continue
        try:
            with store.write():
                _cancel(store, bead.id, actor, id)
        except NotAllowed:
            left.append(bead.id)
        else:
            done.append(bead.id)
    return tuple(done), tuple(left)


def _cancel(store: "Store", bead: str, actor: str, feature: str) -> None:
    reason = GIVEN_UP.format(feature=feature)
    store.record(Event(Kind.CANCELLED, bead, actor=_marked(actor), data={"reason": reason}))


def _marked(actor: str) -> str:
    """Marked as by `undo`, so that no undo reverts it on its own."""
    return f"{actor}{UNDO_MARK}"


def _hand(store: "Store", feature: Feature, actor: str) -> str:
    what = f"Reverts feature {feature.id}'s merges on main, as {actor} asked."
    bead = bead_commands.add_take_back(store, f"Roll back: {feature.title}", what, actor)
    if base := _base(store, steps_under(store, feature.id)):
        store.set_setting(own_base(bead.id), base)
    bead_commands.hold(store, bead.id, ROLLBACK_HELD.format(feature=feature.id), actor)
    store.note_feature(feature.id, {keys.ROLLBACK: {"by": actor, "bead": bead.id}}, actor)
    if feature.state is State.ACTIVE:
        store.move_feature(feature.id, Step.PAUSED, actor, "a person started to roll the feature back")
    return bead.id


def end(store: "Store", id: str, actor: str, taken: Sequence[Merged], why: str, commit: str = "") -> Feature:
    """The rollback is done: cancel the epic and the beads that `commit` took off main; close its questions."""
    with store.write():
        feature = store.feature(id)
        give_up(store, id, actor)
        for name in dict.fromkeys(one.bead for one in taken):
            _gone(store, name, [one for one in taken if one.bead == name], actor, id, commit)
        # the epics of a feature are given up with it, those that were complete as well
        for bead in (*beads_under(store, id), store.bead(id)):
            if bead.type is not BeadType.EPIC or bead.status is Status.CANCELLED:
                continue
            if bead.status is Status.DONE:
                store.record(Event(Kind.REOPENED, bead.id, actor=_marked(actor), data={"reason": "rolled back"}))
            _cancel(store, bead.id, actor, id)
        for session in _live_sessions(store, feature, store.plan_reviews(id)):
            store.end_session(session, actor)
        resolve_questions(store, feature, "the feature is rolled back", actor)
        store.note_feature(id, {keys.ROLLBACK: None, keys.HELD: None}, actor)
        return store.move_feature(id, Step.ROLLED_BACK, actor, why)


def off(store: "Store", id: str, actor: str, why: str) -> Feature | None:
    """Cancel the rollback; None: there was none."""
    with store.write():
        feature = store.feature(id)
        if keys.ROLLBACK not in feature.data:
            return None
        resolve_questions(store, feature, f"the feature is not rolled back: {why}", actor, (About.ROLLBACK,))
        store.note_feature(id, {keys.ROLLBACK: None}, actor)
        return store.feature(id)


def takes_back(store: "Store", git: Git, bead: str) -> tuple[Merged, ...]:
    """The merges that this bead takes off main, newest first; empty if it rolls no feature back."""
    for one in store.features():
        if (one.data.get(keys.ROLLBACK) or {}).get("bead") == bead:
            return sorted_out(git, landed(store, one.id), one.base)[0]
    return ()


def _gone(store: "Store", name: str, merges: Sequence[Merged], actor: str, feature: str, commit: str) -> None:
    """The bead is no longer on main, unless it was done again since. `merges`: the bead's."""
    bead = store.bead(name)
    if bead.status is Status.DONE and any(one.commit == bead.merged_commit for one in merges):
        numbers = [one.seq for one in merges if one.seq]
        undone = {"undone": numbers} if numbers else {}
        data = {"commit": bead.merged_commit, "revert": commit, **undone}
        store.record(Event(Kind.REVERTED, bead.id, actor=_marked(actor), data=data))
        _cancel(store, bead.id, actor, feature)
