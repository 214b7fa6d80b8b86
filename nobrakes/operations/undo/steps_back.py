"""Taking a person's step back: the last one, or one that is named.

1. The store is as it was before the step, as far as nobody built on it; where somebody did, the undo refuses and says
   what was done since.
2. A merge is taken back by a commit on main that reverts it and passes the checks, and only when it is named. Its bead
   is held then, so that no agent does the same again at once.
3. A step is taken back once; going on takes back the one before. Nothing is deleted: the log keeps both.
"""

from dataclasses import dataclass, replace
from typing import Any

from ...core.beads.bead import CLOSED, Dependency, DependencyType, Status
from ...core.beads.events import MERGES, Event, Kind
from ...core.errors import NotAllowed, NothingToUndo
from ...paths import Paths
from ...ports.git import Git
from ...ports.store import Store
from ...roles.delivery import merged_into
from ..beads import content
from ..waking import wake
from . import by_request as by_requests
from .merges import merge_of
from .revert import Keep, Prove, revert_merge
from .steps import MARK, UndoStep, event_of, steps_back


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back. `commit` is the revert of a merge; `archived` (ref, commit) is where discarded work is."""

    seq: int
    kind: Kind
    beads: tuple[str, ...]
    text: str
    commit: str | None = None
    archived: tuple[tuple[str, str], ...] = ()


def last(store: Store) -> UndoStep | None:
    """The step that `undo` would take back; None: there is none."""
    return next(steps_back(store), None)


def undo(
    store: Store,
    git: Git | None,
    actor: str,
    seq: int | None = None,
    paths: Paths | None = None,
    prove: Prove | None = None,
    keep: Keep | None = None,
    by_request: bool = False,
) -> Undone:
    """Take back the last step, or the one that event `seq` belongs to; `keep` is told of a merge that was taken back.
    `by_request`: main changes by pull requests alone, so a merge is taken back by one.

    NothingToUndo, NotAllowed, NotProven (only for a merge, which needs `prove`): nothing changed.
    """
    if seq is not None:
        event = event_of(store, seq)
        if event is None:
            raise NothingToUndo(f"there is no event {seq}", "`nobrakes events` lists them.")
        if event.kind in (Kind.MERGED, Kind.FOUND_MERGED, Kind.LANDED):
            if by_request:
                return _request(store, git, event, actor, paths)
            return _merge(store, git, event, actor, prove, paths, keep)
    if seq is None:
        step = last(store)
        if step is None:
            raise NothingToUndo("no step of a person is left to take back")
    else:
        step = _step_of(store, seq)
    marked = f"{actor}{MARK}"
    with store.together():
        for event in reversed(step.events):
            if step.kind is Kind.ARCHIVE_EXPIRED:
                _bring_back(git, event)
            else:
                _BACK[event.kind](store, event, marked)
        numbers = [event.seq for event in step.events]
        store.record(
            Event(Kind.UNDONE, actor=marked, data={"undone": numbers, "beads": list(dict.fromkeys(step.beads))})
        )
    if paths is not None:
        wake(paths)
    archived: tuple[tuple[str, str], ...] = ()
    if git is not None:
        closed = {event.bead for event in step.events if event.kind in (Kind.CANCELLED, Kind.DONE_BY_HAND)} - {None}
        archived = tuple(one for bead in sorted(map(str, closed)) for one in git.archived(bead))
    return Undone(step.seq, step.kind, step.beads, _told(step), None, archived)


@dataclass(frozen=True, slots=True)
class Last:
    """What `undo BEAD` would take back: the merge that the bead is done by, or a person's last step on it."""

    seq: int
    kind: Kind
    actor: str
    at: float
    beads: tuple[str, ...]
    commit: str | None = None

    @property
    def is_large(self) -> bool:
        """Whether it changes main, or more than this bead, so that a person says yes first."""
        return self.commit is not None or len(self.beads) > 1


def last_of(store: Store, bead: str) -> Last:
    """NoSuchBead, NothingToUndo."""
    found = store.bead(bead)
    if found.status is Status.LANDED:
        for event in store.latest_events((Kind.LANDED,), None, 1, bead):
            return Last(event.seq, event.kind, event.actor, event.at, (bead,), str(event.data["merged_commit"]))
    if found.status is Status.DONE:
        closings = (Kind.MERGED, Kind.FOUND_MERGED, Kind.DONE_BY_HAND, Kind.REVERTED)
        ended = next(iter(store.latest_events(closings, None, 1, bead)), None)
        if ended is not None and ended.kind in MERGES:
            return Last(ended.seq, ended.kind, ended.actor, ended.at, (bead,), found.merged_commit or "")
    for step in steps_back(store):
        if bead in step.beads:
            return Last(step.seq, step.kind, step.actor, step.at, step.beads)
    raise NothingToUndo(
        f"no step of a person on bead {bead} is left to take back, and no merge of it",
        f"`nobrakes events --bead {bead}` shows what happened, with the numbers that `nobrakes undo` takes.",
    )


def _step_of(store: Store, seq: int) -> UndoStep:
    """The step that the event belongs to; NothingToUndo."""
    for step in steps_back(store):
        found = next((event for event in step.events if event.seq == seq), None)
        if found is not None:
            return step if seq == step.seq else _part(step, found)
        if step.seq < seq:
            break
    raise NothingToUndo(
        f"event {seq} is not a person's step, or it was taken back already",
        "Held, edited, approved, cancelled and finished beads and dependencies can be taken back.",
    )


def _part(step: UndoStep, event: Event) -> UndoStep:
    """What is taken back with this event: of a yes of commit-strategy its drafts, or its changes; else all."""
    if step.kind is not Kind.STRATEGY_APPROVED:
        return step
    drafts = event.kind is Kind.APPROVED
    whole = (one for one in step.events if one.kind is not Kind.STRATEGY_APPROVED)
    return replace(step, kind=event.kind, events=tuple(one for one in whole if (one.kind is Kind.APPROVED) == drafts))


def _bring_back(git: Git | None, event: Event) -> None:
    from ..retention import bring_back

    if git is None:
        raise NotAllowed("archived work cannot be brought back without its repository")
    bring_back(git, event)


def _told(step: UndoStep) -> str:
    names = list(dict.fromkeys(step.beads))
    beads = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"taken back: {step.kind.value.replace('_', ' ')} {beads}"


def _merge(
    store: Store,
    git: Git | None,
    event: Event,
    actor: str,
    prove: Prove | None,
    paths: Paths | None,
    keep: Keep | None,
) -> Undone:
    assert event.bead is not None, "a merge is of a bead"
    if git is None or prove is None:
        raise NotAllowed("a merge cannot be taken back without its repository")
    bead = store.bead(event.bead)
    merge = merge_of(store, event, bead)
    commit, base = merge.commit, merge.base
    if bead.status is not Status.DONE or not commit or bead.merged_commit not in (None, commit):
        raise NothingToUndo(f"the merge of {bead.id} is not what it stands on any more")
    reverted = revert_merge(store, git, bead, commit, base, prove)
    if keep is not None:
        keep(bead, base, commit)
    marked, taken = f"{actor}{MARK}", {"commit": commit, "revert": reverted, "undone": [event.seq]}
    why = f"its merge {commit[:12]} was taken back by {actor}: `nobrakes release {bead.id}` has it done again"
    with store.together():
        store.record(Event(Kind.REVERTED, bead.id, actor=marked, data=taken))
        store.record(Event(Kind.HELD, bead.id, actor=marked, data={"reason": why}))
    if paths is not None:
        wake(paths)
    return Undone(
        event.seq,
        event.kind,
        (bead.id,),
        f"main has a commit that takes {bead.id} back; the bead is open again, and held",
        reverted,
    )


def _request(store: Store, git: Git | None, event: Event, actor: str, paths: Paths | None) -> Undone:
    """Have a pull request take the merge back."""
    assert event.bead is not None, "a merge is of a bead"
    if git is None:
        raise NotAllowed("a merge cannot be taken back without its repository")
    bead = store.bead(event.bead)
    merge = merge_of(store, event, bead)
    if bead.status is Status.LANDED and event.kind is Kind.LANDED and bead.epic:
        name = by_requests.asked(store, git.of_epic(bead.epic), bead, merge, actor)
        if paths is not None:
            wake(paths)
        told = f"bead {name} takes {bead.id} off the branch of {bead.epic}, when it has landed there"
        return Undone(event.seq, event.kind, (bead.id,), told)
    if bead.status is not Status.DONE or not merge.commit or bead.merged_commit not in (None, merge.commit):
        raise NothingToUndo(f"the merge of {bead.id} is not what it stands on any more")
    whole = str(event.data.get("with") or "")
    if whole and not merge.base:
        raise NotAllowed(
            f"{bead.id} came to main with all of {whole} as one commit",
            f"`nobrakes undo {whole}` takes all of it back.",
        )
    name = by_requests.asked(store, git, bead, merge, actor, merged_into(store, bead))
    if paths is not None:
        wake(paths)
    told = f"bead {name} takes {bead.id} back, by a pull request: {bead.id} is done until people have merged that"
    return Undone(event.seq, event.kind, (bead.id,), told)


def _refuse(event: Event, why: str) -> NotAllowed:
    return NotAllowed(f"event {event.seq} cannot be taken back: {why}", f"`nobrakes history {event.bead}` tells more.")


def _bead(event: Event) -> str:
    assert event.bead is not None, "a step is about a bead"
    return event.bead


def _before(store: Store, event: Event, kinds: tuple[Kind, ...]) -> Event | None:
    """The last event of these kinds on the same bead before this one."""
    found = store.latest_events(kinds, event.seq, 1, _bead(event))
    return found[0] if found else None


def _unheld(store: Store, event: Event, actor: str) -> None:
    before = _before(store, event, (Kind.HELD, Kind.RELEASED))
    if before is not None and before.kind is Kind.HELD:
        store.record(Event(Kind.HELD, event.bead, actor=actor, data={"reason": before.data.get("reason", "")}))
    else:
        store.record(Event(Kind.RELEASED, event.bead, actor=actor))


def _held_again(store: Store, event: Event, actor: str) -> None:
    before = _before(store, event, (Kind.HELD,))
    reason = before.data.get("reason", "") if before is not None else event.data.get("before", "")
    store.record(Event(Kind.HELD, event.bead, actor=actor, data={"reason": reason}))


def _undeferred(store: Store, event: Event, actor: str) -> None:
    before = _before(store, event, (Kind.DEFERRED,))
    until = before.data.get("until") if before is not None else event.data.get("before")
    store.record(Event(Kind.DEFERRED, event.bead, actor=actor, data={"until": until}))


def _unchanged(store: Store, event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    back: dict[str, Any] = {}
    for name, change in event.data["fields"].items():
        was = content({name: change["before"]})[name]
        became = content({name: change["after"]})[name]
        if getattr(bead, name) != became:
            raise _refuse(event, f"{name} was changed again since")
        back[name] = was
    if back:
        store.change(bead.id, back, actor)


def _as_proposed_before(store: Store, event: Event, actor: str) -> None:
    """What was proposed for the bead before the event is proposed again, and nothing else."""
    bead = store.bead(_bead(event))
    parts = event.data["parts"]
    if any(bead.proposed.get(name) != one["is"] for name, one in parts.items()):
        raise _refuse(event, "what is proposed for the bead was changed again since")
    store.propose(bead.id, {name: one["was"] for name, one in parts.items()}, actor, why="taken back")


def _nothing(store: Store, event: Event, actor: str) -> None:
    """The yes itself changed nothing; what it brought into force has events of its own."""


def _dependency(event: Event) -> Dependency:
    return Dependency(_bead(event), str(event.data["needs"]), DependencyType(event.data.get("type", "blocks")))


def _undepended(store: Store, event: Event, actor: str) -> None:
    store.remove_dependency(_dependency(event), actor)


def _depended(store: Store, event: Event, actor: str) -> None:
    store.add_dependency(_dependency(event), actor)


def _unclosed(store: Store, event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    wanted = Status.CANCELLED if event.kind is Kind.CANCELLED else Status.DONE
    if bead.status is not wanted:
        raise _refuse(event, f"bead {bead.id} is {bead.status.value} by now")
    store.record(Event(Kind.UNDONE, bead.id, actor=actor, data={"undone": [event.seq]}))


def _draft_again(store: Store, event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    if bead.status is Status.DRAFT:
        return
    if store.attempts(bead.id) or bead.status not in (Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.OPEN):
        raise _refuse(event, f"work on {bead.id} has begun; hold or cancel it instead")
    store.record(Event(Kind.UNDONE, bead.id, actor=actor, data={"undone": [event.seq]}))


def _unproposed(store: Store, event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    if bead.status in CLOSED:
        raise _refuse(event, f"{bead.id} is {bead.status.value} already; `nobrakes reopen` opens it again")
    if store.attempts(bead.id):
        raise _refuse(event, f"work on {bead.id} has begun; cancel it instead")
    store.record(Event(Kind.CANCELLED, bead.id, actor=actor, data={"reason": "its adding was taken back"}))


def _closed_again(store: Store, event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    before = _before(
        store, event, (Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.MERGED, Kind.FOUND_MERGED, Kind.EPIC_COMPLETED)
    )
    if before is None or before.kind not in (Kind.CANCELLED, Kind.DONE_BY_HAND) or bead.status in CLOSED:
        raise _refuse(event, "the bead was not closed by a person before")
    store.record(Event(before.kind, bead.id, actor=actor, data={"reason": before.data.get("reason", "")}))


_BACK = {
    Kind.PROPOSED: _unproposed,
    Kind.CHANGED: _unchanged,
    Kind.APPROVED: _draft_again,
    Kind.CHANGE_PROPOSED: _as_proposed_before,
    Kind.CHANGE_DROPPED: _as_proposed_before,
    Kind.CHANGE_APPROVED: _as_proposed_before,
    Kind.STRATEGY_APPROVED: _nothing,
    Kind.HELD: _unheld,
    Kind.RELEASED: _held_again,
    Kind.DEFERRED: _undeferred,
    Kind.DEPENDENCY_ADDED: _undepended,
    Kind.DEPENDENCY_REMOVED: _depended,
    Kind.CANCELLED: _unclosed,
    Kind.DONE_BY_HAND: _unclosed,
    Kind.REOPENED: _closed_again,
}
"""How each kind of step is taken back. Each function raises NotAllowed where somebody built on the step."""
