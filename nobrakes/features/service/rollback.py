"""What a person does with features, and rolling one back: the beads that take its merges back, and what follows."""

import os
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ...agents.prompts.delivery import git_at, merged_into
from ...beads.model import CLOSED, WORKING, Bead, BeadType, Status
from ...beads.proposals import Merged
from ...beads.service import beads
from ...errors import FileTooLarge, NoMain, NotAllowed, UsageError
from ...events.kinds import UNDO_MARK, Event, Kind
from ...git.history import sorted_out
from ...git.port import Git
from ...host.watching import wake
from ...paths import Paths
from ...records import frozen
from ...requests.model import own_base
from ...requests.text import Where
from ...review.service.undo import standing
from ...sessions.model import State as At
from ...text.cleaning import clean
from .. import model as keys
from .. import planning
from ..actions import About
from ..asking import FRESH, FROM_BASE, VIEW_ONLY
from ..model import (
    MOST_BYTES,
    PLANNED,
    Criterion,
    Feature,
    PlanReview,
    State,
    Step,
    Todo,
    is_affected,
    is_scanned,
    refuse_while_rolling,
    scan,
)
from ..plan_beads import beads_under, steps_under, under
from ..planning import GIVEN_UP, ROLLBACK_HELD
from ..rounds import Stack, chosen, usual
from .resting import hold, let_go

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...store import Store


def settle_questions(
    store: "Store", feature: Feature, resolution: str, actor: str, about: Collection[About] = tuple(About)
) -> None:
    """Those about this are decided, where they are open, and forgotten; what was held for them is let go. In the
    caller's transaction.
    """
    asked: dict[str, int] = dict(feature.data.get(keys.ASKED, {}))
    for one in about:
        number = asked.pop(one.value, None)
        if number is not None and store.escalation(number).resolved_at is None:
            store.resolve(number, resolution, actor)
    held = feature.data.get(keys.HELD)
    still = None if held in {one.value for one in about} else held
    store.note_feature(feature.id, {keys.ASKED: asked or None, keys.HELD: still}, actor)


@frozen
class RollbackStep:
    """A bead of the feature, with the merge that it is done by; empty: it was not merged."""

    bead: str
    title: str
    commit: str = ""


@frozen
class RollbackView:
    """What rolling a feature back does. `cancels`: open beads, `stops`: those of them that somebody works on.

    `reverts`: merges, the newest first; `off_main`: merges that main does not hold any more, which are left alone.
    `bead` takes them back; empty: none is needed. `is_begun`: it was asked for and said yes to.
    """

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
        """Whether nothing is left to be done."""
        return self.state == State.ROLLED_BACK.value


@frozen
class RollbackCount:
    """How much a rollback would do, as the store alone knows it; `bead`: it is begun, and this does it."""

    cancels: int
    reverts: int
    bead: str = ""


def counted(store: "Store", feature: Feature) -> RollbackCount | None:
    """How much it would do; None: it is rolled back."""
    if feature.state is State.ROLLED_BACK:
        return None
    inside = steps_under(store, feature.id)
    open_ = sum(bead.status not in CLOSED for bead in inside)
    rolling = feature.data.get(keys.ROLLBACK) or {}
    return RollbackCount(open_, len(_landed(store, inside)), str(rolling.get("bead", "")))


def look(store: "Store", git: Git, id: str) -> RollbackView:
    """What `begin` would do; NotAllowed where it was rolled back, or is just now."""
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
    """The branch beside main that all of them were merged into; empty: main. NotAllowed: some here and some there."""
    into = {merged_into(store, bead): bead.id for bead in inside if bead.status is Status.DONE and bead.merged_commit}
    if len(into) > 1:
        told = ", ".join(f"{bead} into {base or 'main'}" for base, bead in sorted(into.items()))
        raise NotAllowed(
            f"its beads were merged into more than one branch: {told}",
            "Take them back one by one: `nobrakes undo BEAD`.",
        )
    return next(iter(into), "")


def rollback_begin(store: "Store", git: Git, paths: Paths, id: str, actor: str) -> RollbackView:
    """Roll it back, as far as the store goes: what it did. NotAllowed: nothing changed."""
    seen = look(store, git, id)
    with store.write():
        feature = store.feature(id)
        _refuse(feature)
        stop_turns(store, feature, actor)
        cancelled, landing = give_up(store, id, actor)
        bead, off_main = "", {one.commit for one in seen.off_main}
        if landing or any(one.commit not in off_main for one in landed(store, id)):
            settle_questions(store, feature, "the feature is rolled back", actor)
            bead = _hand(store, feature, actor)
        else:
            end(store, id, actor, (), "nothing of it was on main")
        after = store.feature(id)
    wake(paths)
    kept = {one.bead: one for one in seen.cancels}
    cancels = tuple(kept.get(one) or RollbackStep(one, store.bead(one).title) for one in cancelled)
    return RollbackView(
        id, after.title, after.state.value, cancels, seen.stops, seen.reverts, seen.off_main, bead, True
    )


def _refuse(feature: Feature) -> None:
    if feature.state is State.ROLLED_BACK:
        raise NotAllowed(f"feature {feature.id} was rolled back already")
    refuse_while_rolling(feature)


def stop_turns(store: "Store", feature: Feature, actor: str) -> None:
    """Ask the feature's turns at work to end: its Shaper's and its reviewers'."""
    for session in _live_sessions(store, feature, [one for one in store.plan_reviews(feature.id) if not one.ended_at]):
        store.stop_session(session, actor)


def _live_sessions(store: "Store", feature: Feature, reviews: Sequence[PlanReview]) -> list[int]:
    """Its Shaper's, and those of the reviews, that have not ended."""
    named = dict.fromkeys([feature.session, *(one.session for one in reviews)])
    return [one for one in named if one is not None and store.session(one).ended_at is None]


def landed(store: "Store", id: str) -> tuple[Merged, ...]:
    """The merges of beads of the feature that nobody took back."""
    return _landed(store, steps_under(store, id))


def _landed(store: "Store", beads: Sequence[Bead]) -> tuple[Merged, ...]:
    return tuple(one for bead in beads for one in standing(store, bead))


def give_up(store: "Store", id: str, actor: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cancel the feature's open beads, with their work archived: (those, those that land just now and are left)."""
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
    """Who it is signed by: as with `undo`, it is no step that an undo takes back by itself."""
    return f"{actor}{UNDO_MARK}"


def _hand(store: "Store", feature: Feature, actor: str) -> str:
    """The bead that takes the merges back; no agent works on it."""
    what = f"Takes the merges of feature {feature.id} off main again, as {actor} asked."
    bead = beads.add_take_back(store, f"Roll back: {feature.title}", what, actor)
    if base := _base(store, steps_under(store, feature.id)):
        store.set_setting(own_base(bead.id), base)
    beads.hold(store, bead.id, ROLLBACK_HELD.format(feature=feature.id), actor)
    store.note_feature(feature.id, {keys.ROLLBACK: {"by": actor, "bead": bead.id}}, actor)
    if feature.state is State.ACTIVE:
        store.move_feature(feature.id, Step.PAUSED, actor, "it is rolled back")
    return bead.id


def end(store: "Store", id: str, actor: str, taken: Sequence[Merged], why: str, commit: str = "") -> Feature:
    """It is rolled back: the beads whose merges `commit` took off main are given up, and so is its epic. What nobrakes
    asked about it is decided by that.
    """
    with store.write():
        feature = store.feature(id)
        give_up(store, id, actor)
        for name in dict.fromkeys(one.bead for one in taken):
            _gone(store, name, [one for one in taken if one.bead == name], actor, id, commit)
        _close(store, id, actor)
        for session in _live_sessions(store, feature, store.plan_reviews(id)):
            store.end_session(session, actor)
        settle_questions(store, feature, "the feature is rolled back", actor)
        store.note_feature(id, {keys.ROLLBACK: None, keys.HELD: None}, actor)
        return store.move_feature(id, Step.ROLLED_BACK, actor, why)


def off(store: "Store", id: str, actor: str, why: str) -> Feature | None:
    """It is not rolled back after all, and can go on; None: it is not being rolled back."""
    with store.write():
        feature = store.feature(id)
        if keys.ROLLBACK not in feature.data:
            return None
        settle_questions(store, feature, f"the feature is not rolled back: {why}", actor, (About.ROLLBACK,))
        store.note_feature(id, {keys.ROLLBACK: None}, actor)
        return store.feature(id)


def takes_back(store: "Store", git: Git, bead: str) -> tuple[Merged, ...]:
    """The merges that work on this bead takes off main, newest first; none where it rolls no feature back."""
    for one in store.features():
        if (one.data.get(keys.ROLLBACK) or {}).get("bead") == bead:
            return sorted_out(git, landed(store, one.id), one.base)[0]
    return ()


def _gone(store: "Store", name: str, merges: Sequence[Merged], actor: str, feature: str, commit: str) -> None:
    """The bead is not on main any more, unless it was done in another way since. `merges`: the bead's."""
    bead = store.bead(name)
    if bead.status is Status.DONE and any(one.commit == bead.merged_commit for one in merges):
        numbers = [one.seq for one in merges if one.seq]
        undone = {"undone": numbers} if numbers else {}
        data = {"commit": bead.merged_commit, "revert": commit, **undone}
        store.record(Event(Kind.REVERTED, bead.id, actor=_marked(actor), data=data))
        _cancel(store, bead.id, actor, feature)


def _close(store: "Store", epic: str, actor: str) -> None:
    """The epics of a feature are given up with it, those that were complete as well."""
    for bead in (*beads_under(store, epic), store.bead(epic)):
        if bead.type is not BeadType.EPIC or bead.status is Status.CANCELLED:
            continue
        if bead.status is Status.DONE:
            store.record(Event(Kind.REOPENED, bead.id, actor=_marked(actor), data={"reason": "it is rolled back"}))
        _cancel(store, bead.id, actor, epic)


# What a person does with features: begin, change, pause, go on, cancel, put away, ask for a change of the plan.
#
# 1. Each is one transaction; a refusal wrote nothing. Nothing here makes a plan live: commit-strategy does.
# 2. `pause` lets a turn end and starts no other; `cancel` ends it at once. Both keep all work, and `resume` goes on.
# 3. Putting a feature away hides it from lists. Nothing is removed.

# Rolling a feature back: what will happen, and its beginning and its end in the store.
#
# 1. What is asked for once is said before: which beads are given up, and which merges are taken off main.
# 2. Its beginning is one transaction: turns are ended, open beads are cancelled with their work kept, and a bead stands
# for what is left to be done. Where nothing of it is on main, it is the end as well.
# 3. The daemon builds the commit that takes the merges back, and the Reviewer brings it to main (features.planning).
# 4. A bead that is landing just now is let land: it is taken back with the others.

# Going on with a feature: where it was, or, where its agent's session has expired, in one of three ways.
#
# 1. Afresh: a new conversation is given a summary, the drafts and all answers. It is the usual way.
# 2. From the base: its drafts are given up and archived, and it is planned anew; what was answered is still told.
# 3. Only looking: nothing is started, and what was said meanwhile waits.
# 4. A question about it that is open is settled by the same word.

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


def resume(store: "Store", paths: Paths, id: str, actor: str, way: Way | None = None) -> Feature:
    """Go on with it. NotAllowed where another feature has the repository's turn, or where it is being rolled back.

    `way` is of an expired feature; None: afresh.
    """
    with store.write():
        feature = store.feature(id)
        refuse_while_rolling(feature)
        if feature.state is State.EXPIRED:
            settle_questions(store, feature, (way or Way.FRESH).value, actor, (About.EXPIRED,))
            go_on(store, id, way or Way.FRESH, actor)
        elif way is None:
            store.move_feature(id, Step.RESUMED, actor, "resumed by a person")
            _try_again(store, feature, actor)
            let_go(store, id, actor)
        else:
            raise NotAllowed(
                f"feature {id} is {feature.state.value.replace('_', ' ')}: only one that has expired goes on in a way",
                f"`nobrakes forge resume {id}` goes on where it was.",
            )
        after = store.feature(id)
    wake(paths)
    return after


def _try_again(store: "Store", feature: Feature, actor: str) -> None:
    """Whoever goes on with a feature whose session is stuck wants it tried."""
    session = None if feature.session is None else store.session(feature.session)
    if session is not None and session.state is At.STUCK:
        store.say(session.id, "Go on.", actor)


def go_on(store: "Store", id: str, way: str, actor: str) -> int:
    """Go on with a feature that has expired: how many drafts were given up for it. One transaction; NotAllowed."""
    with store.write():
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


def _anew(store: "Store", feature: Feature, actor: str) -> int:
    """Its drafts are given up, with the reviews of them; how many."""
    count = _drop_drafts(store, feature.id, actor)
    store.note_feature(feature.id, planning.opened_anew(feature), actor)
    store.move_feature(feature.id, Step.BEGUN_ANEW, actor, FROM_BASE, clean=0)
    if feature.session is not None and store.session(feature.session).state is not At.ENDED:
        store.say(feature.session, ANEW, actor)
    return count


def _drop_drafts(store: "Store", feature: str, actor: str) -> int:
    """Cancel the drafts of the plan, and take back what it wants of live beads; how many drafts."""
    why, beads = "the feature begins from its base again", beads_under(store, feature)
    drafts = [bead for bead in beads if bead.status is Status.DRAFT]
    for bead in drafts:
        store.record(Event(Kind.CANCELLED, bead.id, actor=actor, data={"reason": why}))
    for bead in beads:
        if bead.proposed and bead.status is not Status.DRAFT:
            store.propose(bead.id, dict.fromkeys(bead.proposed), actor, Kind.CHANGE_DROPPED, why)
    return len(drafts)


# A person asks for a checkpoint of a feature that is built: what was collected goes to its plan now.


# What a feature's scan finds: comments that say what is left to do, on the commit that the feature begins from.

MOST_FINDS = 5000


@frozen
class ScanView:
    """`blocking` are in files that the feature touches: open points of it. `others` are shown, and nothing more.

    `more`: finds beyond MOST_FINDS that are not listed; `skipped`: files that are too large to be read.
    """

    feature: str
    base: str
    files: int
    blocking: tuple[Todo, ...]
    others: tuple[Todo, ...]
    more: int = 0
    skipped: tuple[str, ...] = ()


def blocking(git: Git, commit: str, files: tuple[str, ...]) -> tuple[Todo, ...]:
    """The finds in the files that a feature touches; no other file is read."""
    return _read(git, commit, [path for path in _paths(git, commit) if is_affected(path, files)])[0]


def _paths(git: Git, commit: str) -> list[str]:
    return sorted(path for path in git.paths(commit) if is_scanned(path)) if commit else []


def _read(git: Git, commit: str, paths: list[str]) -> tuple[tuple[Todo, ...], tuple[str, ...]]:
    """The finds of these files, and the files that are too large."""
    found: list[Todo] = []
    skipped: list[str] = []
    for path in paths:
        try:
            data = git.read(commit, path, MOST_BYTES)
        except FileTooLarge:
            skipped.append(path)
            continue
        if data is not None:  # a link is none
            found += scan(path, data.decode("utf-8", "replace"))
    return tuple(found), tuple(skipped)


def scan_of(store: "Store", git: Git, id: str) -> ScanView:
    """The scan of a feature, on its base commit; NoSuchFeature."""
    feature = store.feature(id)
    paths = _paths(git, feature.base)
    found, skipped = _read(git, feature.base, paths)
    blocks = tuple(one for one in found if is_affected(one.file, feature.files))
    others = tuple(one for one in found if not is_affected(one.file, feature.files))
    room = max(0, MOST_FINDS - len(blocks))
    return ScanView(id, feature.base, len(paths), blocks, others[:room], max(0, len(others) - room), skipped)


TITLE, TEXT, MOST_FILES, PATH = 200, 20_000, 200, 500
"""Characters of a title and of a text; how many files may be named, and how long a name of one may be."""


@frozen
class Wanted:
    """What a person says of a feature. None: as it is.

    `without` are numbers of usual criteria that are left out; `only` those that are kept, and 0 is none of them.
    """

    title: str | None = None
    description: str | None = None
    own: tuple[str, ...] = ()
    without: frozenset[int] = frozenset()
    files: tuple[str, ...] | None = None
    notes: str | None = None
    only: frozenset[int] | None = None

    def criteria(self, eight: Sequence[Criterion]) -> tuple[Criterion, ...]:
        """The usual ones that hold, and their own; UsageError."""
        left_out = set(self.without)
        if self.only is not None:
            left_out |= set(range(1, len(eight) + 1)) - self.only
            if not self.only <= set(range(len(eight) + 1)):
                raise UsageError(f"the usual criteria are numbered from 1 to {len(eight)}")
        return chosen(eight, left_out, [clean(one) for one in self.own])


def stack(config: "Config", root: str) -> Stack:
    """What the project is checked with: what its contract says, else what its files suggest."""
    from ...config.setup.detect import detect

    checks = config.checks or detect(root).checks
    of = {kind: next((one.command for one in checks if one.kind == kind), "") for kind in ("test", "types", "lint")}
    is_web = os.path.isfile(os.path.join(root, "package.json"))
    typed = os.path.isfile(os.path.join(root, "tsconfig.json"))
    return Stack(of["test"], of["types"], of["lint"], is_web, "typescript" if typed else "")


def usual_of(config: "Config", paths: Paths) -> tuple[Criterion, ...]:
    """The usual criteria, in the words of this project."""
    return usual(stack(config, paths.root))


def begin(
    store: "Store", paths: Paths, config: "Config", git: Git, wanted: Wanted, actor: str, id: str | None = None
) -> Feature:
    """Begin a feature: its epic, the facts, and the open points that the scan finds. UsageError, NotAllowed.

    `id`: of the epic; None: one that no bead has.
    """
    title, description = _title(wanted.title or ""), _text("description", wanted.description or "")
    if not description:
        raise UsageError("a feature needs a description", "Say what should be there when it is done, and why.")
    files, notes = _files(wanted.files or ()), _text("notes", wanted.notes or "")
    criteria = wanted.criteria(usual(stack(config, paths.root)))
    base = _main(git)
    points = blocking(git, base, files)
    with store.write():
        epic = beads.add(
            store,
            title,
            BeadType.EPIC,
            description,
            tuple(one.text for one in criteria),
            notes=notes,
            touches=files,
            id=id,
            actor=actor,
        )
        new = Feature(epic.id, title, description, criteria, files, notes, base, actor=actor)
        made = store.begin_feature(new)
        for one in points:
            store.collect(made.id, one.kind, one.text, actor, file=one.file, line=one.line, blocks=True, nth=one.nth)
    wake(paths)
    return store.feature(made.id)


def edit(store: "Store", paths: Paths, config: "Config", id: str, wanted: Wanted, actor: str) -> Feature:
    """Change what is said of it. Own criteria and `without` together make the list anew. UsageError, NoSuchFeature."""
    before = store.feature(id)
    values: dict[str, Any] = {}
    if wanted.title is not None:
        values["title"] = _title(wanted.title)
    if wanted.description is not None:
        values["description"] = _text("description", wanted.description)
        if not values["description"]:
            raise UsageError("a feature needs a description")
    if wanted.files is not None:
        values["files"] = _files(wanted.files)
    if wanted.notes is not None:
        values["notes"] = _text("notes", wanted.notes)
    if wanted.own or wanted.without or wanted.only is not None:
        values["criteria"] = wanted.criteria(usual(stack(config, paths.root)))
    if not values:
        raise UsageError("nothing to change was given", f"`nobrakes forge show {id}` shows what it is.")
    with store.write():
        after = store.change_feature(before.id, values, actor)
        epic: dict[str, Any] = {"notes": after.notes} if "notes" in values else {}
        epic |= {"acceptance": [one.text for one in after.criteria]} if "criteria" in values else {}
        epic |= {"touches": list(after.files)} if "files" in values else {}
        if epic:
            beads.edit(store, before.id, epic, actor)
    wake(paths)
    return after


def pause(store: "Store", paths: Paths, id: str, actor: str) -> Feature:
    """Begin no turn of it and no attempt any more; what runs may end. It gives the repository's turn up."""
    with store.write():
        moved = store.move_feature(id, Step.PAUSED, actor, "paused by a person")
        hold(store, id, actor)
    wake(paths)
    return moved


def cancel(store: "Store", paths: Paths, id: str, actor: str) -> Feature:
    """End its turn at once, and pause it. Its drafts, its questions and the work of its beads stay."""
    with store.write():
        feature = store.feature(id)
        moved = feature if feature.state is State.PAUSED else store.move_feature(id, Step.PAUSED, actor, "cancelled")
        hold(store, id, actor)
        stop_turns(store, feature, actor)
    wake(paths)
    return moved


def archive(store: "Store", id: str, away: bool, actor: str) -> Feature:
    """Hide it from lists, or show it there again. NotAllowed while it goes on."""
    feature = store.feature(id)
    if away and feature.state is State.ACTIVE:
        raise NotAllowed(
            f"feature {id} goes on: what goes on is not hidden",
            f"`nobrakes forge pause {id}` first; nothing is lost.",
        )
    return store.change_feature(id, {"archived": away}, actor)


def ask_change(store: "Store", paths: Paths, id: str, text: str, actor: str, bead: str = "") -> Feature:
    """Tell its Shaper what should be another way in the plan; NotAllowed before there is a conversation."""
    with store.write():
        feature, words = _tell(store, id, "Change the plan{}: {}", text, actor, bead)
        if feature.stage not in PLANNED or planning.are_over(feature):
            store.note_feature(id, planning.opened_anew(feature), actor)
        moved = store.move_feature(id, Step.CHANGE_ASKED, actor, words[:200])
    wake(paths)
    return moved


def discuss(store: "Store", paths: Paths, id: str, text: str, actor: str, bead: str = "") -> Feature:
    """Say something to its Shaper, of one step of the plan or of all; nothing is changed by it."""
    with store.write():
        feature, _ = _tell(store, id, "A question{}; change nothing before it is answered: {}", text, actor, bead)
    wake(paths)
    return feature


def _tell(store: "Store", id: str, form: str, text: str, actor: str, bead: str) -> tuple[Feature, str]:
    """Say it to the feature's Shaper, with the step that it is about; the feature, and the words alone.

    NotAllowed, UsageError.
    """
    feature, words = store.feature(id), _text("text", text)
    if feature.session is None:
        raise NotAllowed(
            f"nobody has begun to plan feature {id} yet",
            f"`nobrakes forge edit {id}` changes what its Shaper is told first.",
        )
    if not words:
        raise UsageError("nothing was said")
    if bead and bead not in under(store, id):
        raise UsageError(f"'{bead[:64]}' is no step of feature {id}", f"`nobrakes forge show {id}` lists them.")
    about = f" at the step {bead} ({store.bead(bead).title})" if bead else ""
    store.say(feature.session, form.format(about, words), actor)
    return feature, words


def _main(git: Git) -> str:
    try:
        return git.main()
    except NoMain:  # a repository without a commit: the scan has nothing to look at
        return ""


def _title(text: str) -> str:
    found = " ".join(clean(text).split())
    if not found:
        raise UsageError("a feature needs a title")
    if len(found) > TITLE:
        raise UsageError(f"a title has at most {TITLE} characters, and this has {len(found)}")
    return found


def _text(name: str, text: str) -> str:
    found = clean(text).strip()
    if len(found) > TEXT:
        raise UsageError(f"the {name} has at most {TEXT} characters, and this has {len(found)}")
    return found


def _files(given: Sequence[str]) -> tuple[str, ...]:
    files = tuple(dict.fromkeys(clean(one).strip().removeprefix("./") for one in given if one.strip()))
    if len(files) > MOST_FILES:
        raise UsageError(f"at most {MOST_FILES} files are named, and these are {len(files)}", "Name their folder.")
    for one in files:
        if one.startswith("/") or ".." in one.split("/") or "\n" in one or len(one) > PATH:
            raise UsageError(
                f"'{one[:80]}' is no file of the repository", "Name files and folders from the repository's root."
            )
    return files
