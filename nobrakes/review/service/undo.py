"""Taking a person's step back: the last one, or a named one.

1. The store becomes as before the step; if somebody built on it, undo refuses and says what was done since.
2. A merge is reverted only if named, by a commit on main that passes the checks. Its bead is then held, so that no
   agent repeats it.
3. A step is taken back once; continuing takes back the one before. The log keeps both.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from ... import NAME, US
from ...beads.model import CLOSED, Bead, Dependency, DependencyType, Status
from ...beads.proposals import ByHand, Merged
from ...beads.service import bead_commands
from ...beads.service.bead_commands import content
from ...daemon.service.control import LIMITS, PAUSED, STOPPING, YES, bring_back, overrides
from ...errors import ConfigError, GitFailed, NobrakesError, NotAllowed, NothingToUndo
from ...events.catalog import TABLE
from ...events.kinds import MERGES, UNDO_MARK, Event, Kind, is_session
from ...files import wake
from ...git.merge import Hindered, taken_back
from ...git.port import Git, Message
from ...paths import Paths
from ...records import frozen
from ...requests.model import Where, own_base
from ...text.cleaning import first_of, one_line
from ..waits import Landing
from .landed import git_at, merged_into

if TYPE_CHECKING:
    from ...store import Store


MARK = UNDO_MARK
PAGE = 1000
TRIED = 50  # steps before a refused one
KINDS = frozenset(
    {
        Kind.PROPOSED,
        Kind.CHANGED,
        Kind.APPROVED,
        Kind.CHANGE_PROPOSED,
        Kind.CHANGE_DROPPED,
        Kind.CHANGE_APPROVED,
        Kind.STRATEGY_APPROVED,
        Kind.HELD,
        Kind.RELEASED,
        Kind.DEFERRED,
        Kind.DEPENDENCY_ADDED,
        Kind.DEPENDENCY_REMOVED,
        Kind.CANCELLED,
        Kind.DONE_BY_HAND,
        Kind.REOPENED,
        Kind.ARCHIVE_EXPIRED,
        Kind.ANSWERED,
        Kind.PAUSED,
        Kind.RESUMED,
        Kind.LIMITS_CHANGED,
        Kind.CONFIG_CHANGED,
        Kind.QUARANTINED,
        Kind.QUARANTINE_LIFTED,
    }
)
"""Steps that people can undo. A merge needs its number."""
_WITHOUT_BEAD = frozenset(
    {
        *(Kind.STRATEGY_APPROVED, Kind.ANSWERED, Kind.PAUSED, Kind.RESUMED, Kind.LIMITS_CHANGED),
        *(Kind.CONFIG_CHANGED, Kind.QUARANTINED, Kind.QUARANTINE_LIFTED),
    }
)
"""Steps without a bead."""
_ON_DISK = frozenset({Kind.ARCHIVE_EXPIRED, Kind.CONFIG_CHANGED})
"""Steps that changed more than the store: they are not undone on trial."""
_FINAL: Mapping[Kind, str] = {
    Kind.RETRIED: "nobrakes has already reset the bead's failures. `nobrakes hold {bead}` keeps agents off the bead",
    Kind.RESOLVED: "the decision already took effect",
    Kind.ANSWER_TAKEN_BACK: "the decision's question is open again. `nobrakes escalations` shows how to answer",
    Kind.TAKEN: "taking the bead stopped an agent's work. `nobrakes retry {bead}` gives the bead back to agents",
    Kind.HANDED_IN: "the Reviewer already has the work. `nobrakes hold {bead}` keeps agents off after the review",
    Kind.REVIEW_REJECTED: "the bead's review has ended. `nobrakes hold {bead}` keeps agents away from the bead",
    Kind.STOP_ASKED: "the agent already got the message. nobrakes continues the bead automatically",
    Kind.BREAKER_RESET: "agents may have started to work already",
    Kind.GATE_OPENED: "agents may have started to work already",
    Kind.PUSH_ALLOWED: "nobrakes may have pushed the work already",
    Kind.PROJECT_SET: "the session's next turn chooses the project again",
    Kind.SESSION_BEGAN: "the session's agent may have begun. `nobrakes session end {session}` ends the session",
    Kind.SESSION_SAID: "the agent may have read the message. `nobrakes session say {session}` sends another message",
    Kind.SESSION_ENDED: "the session's agent has stopped. `nobrakes session start` begins another session",
    Kind.SIGNED_OFF: "you may have approved the plan's beads already. `nobrakes forge change {bead}` changes the plan",
    Kind.FEATURE_BEGAN: "the Shaper may have started to plan. `nobrakes forge rollback {bead}` gives up the feature",
    Kind.FEATURE_CHANGED: "agents may have read the change. `nobrakes forge edit {bead}` changes the feature again",
    Kind.FEATURE_MOVED: "the feature has moved on. `nobrakes forge show {bead}` shows its next steps",
    Kind.SPRINT_MOVED: "the sprint has moved on. `nobrakes project status` shows the sprint",
}


# A step is one event of a person, or the events that one command made at one moment. An undo is not a step: its
# events carry the actor with `MARK`, and an UNDONE event names what was undone.
@frozen
class UndoStep:
    """A person's step. `events` are of one kind, `seq` is the last one's number."""

    seq: int
    kind: Kind
    actor: str
    at: float
    events: tuple[Event, ...]

    @property
    def beads(self) -> tuple[str, ...]:
        return tuple(event.bead for event in self.events if event.bead is not None)


def _back(store: "Store") -> Iterator[Event]:
    before = None
    while True:
        page = store.latest_events((*sorted(KINDS), *sorted(_FINAL), Kind.UNDONE), before, PAGE)
        yield from page
        if len(page) < PAGE:
            return
        before = page[-1].seq


def steps_back(store: "Store", after: int = 0, most: int | None = None) -> Iterator[UndoStep]:
    """The steps that can be undone, newest first. An undo comes after its step, so it is met first. Of so many events
    `most`, without a step that they do not have whole."""
    undone: set[int] = set()
    group: list[Event] = []
    for number, event in enumerate(takewhile(lambda event: event.seq > after, _back(store)), 1):
        if number == most:
            return
        if event.kind is Kind.UNDONE:
            undone.update(int(seq) for seq in event.data.get("undone", ()))
        if event.actor == NAME or event.actor.endswith(MARK) or not _is_step(event):
            continue
        if group and not _is_same_step(event, group):
            yield from _step(group, undone)
            group = []
        group.append(event)
    yield from _step(group, undone)


def _is_step(event: Event) -> bool:
    """Whether it is what a person did, and not what came of it."""
    if is_session(event.actor) or (event.kind is Kind.SPRINT_MOVED and event.data.get("sprint") is not None):
        return False
    if event.kind is Kind.RESOLVED:
        return event.data.get("resolution") != "answered"
    if event.kind is Kind.BREAKER_RESET:
        return event.bead is None  # that of a bead comes of a decision
    if event.kind is Kind.FEATURE_MOVED:
        return event.data.get("step") != "approved"
    return event.kind in _FINAL or (event.kind in KINDS and (event.bead is not None or event.kind in _WITHOUT_BEAD))


def _step(group: list[Event], undone: set[int]) -> Iterator[UndoStep]:
    """These events as a step, newest first; none if one was undone; of an approved strategy the part that was not."""
    if group and group[0].kind is Kind.STRATEGY_APPROVED and group[0].seq not in undone:
        rest = [event for event in group if event.seq not in undone]
        if len(rest) > 1:
            yield UndoStep(rest[0].seq, rest[0].kind, rest[0].actor, rest[0].at, tuple(reversed(rest)))
    elif group and not any(event.seq in undone for event in group):
        newest = group[0]
        yield UndoStep(newest.seq, newest.kind, newest.actor, newest.at, tuple(reversed(group)))


def _is_same_step(before: Event, group: list[Event]) -> bool:
    if group[0].kind is Kind.STRATEGY_APPROVED:
        return before.seq >= int(group[0].data["first"])
    event = group[-1]
    if (before.kind, event.kind) in _ONE_COMMAND:
        return (before.actor, before.bead, before.seq + 1) == (event.actor, event.bead, event.seq)
    same = (before.kind, before.actor) == (event.kind, event.actor) and before.seq + 1 == event.seq
    if event.kind is Kind.CHANGE_PROPOSED:
        return same and _proposed_at(before) == _proposed_at(event)
    return same and before.at == event.at


_ONE_COMMAND = {
    *((Kind.RELEASED, Kind.RETRIED), (Kind.RESOLVED, Kind.RELEASED), (Kind.RESOLVED, Kind.RETRIED)),
    *((Kind.PROPOSED, Kind.FEATURE_BEGAN), (Kind.CHANGED, Kind.FEATURE_CHANGED)),
    (Kind.CHANGED, Kind.REVIEW_REJECTED),
}


def _proposed_at(event: Event) -> float | None:
    parts = event.data.get("parts", {}).values()
    return max((float(part["is"]["at"]) for part in parts if part.get("is")), default=None)


def event_of(store: "Store", seq: int) -> Event | None:
    found = store.events(seq - 1, 1)
    return found[0] if found and found[0].seq == seq else None


MAX_MERGES = 1000


def merge_of(store: "Store", event: Event, bead: Bead) -> Merged:
    """The event's merge; its commit is empty if unknown."""
    commit = str(event.data.get("commit") or event.data.get("merged_commit") or bead.merged_commit or "")
    base = str(event.data.get("base") or "")
    if not base and event.attempt is not None:
        data = store.attempt(event.attempt).data
        # what people merged stands on another base than it was proven on: all that lies between is not the bead's
        base = str(data.get("since" if data.get("merged_as") else "base", ""))
    return Merged(bead.id, commit, base, event.seq)


def standing(store: "Store", bead: Bead) -> tuple[Merged, ...]:
    """The bead's unreverted merges, newest first, also from before a reopen; without an event a done bead's commit."""
    if not bead.merged_commit:
        return ()
    found: dict[str, Merged] = {}
    told: set[str] = set()
    undone: set[int] = set()
    reverted: set[str] = set()
    for event in store.latest_events((*MERGES, Kind.REVERTED), None, MAX_MERGES, bead.id):
        if event.kind is Kind.REVERTED:
            undone.update(int(seq) for seq in event.data.get("undone", ()))
            reverted.add(str(event.data.get("commit") or ""))
            continue
        merge = merge_of(store, event, bead)
        told.add(merge.commit)
        if merge.commit and merge.commit not in reverted and event.seq not in undone:
            found.setdefault(merge.commit, merge)
    if bead.status is Status.DONE and bead.merged_commit not in told | reverted:
        found[bead.merged_commit] = Merged(bead.id, bead.merged_commit)
    return tuple(found.values())


TRIES = 5

Prove = Callable[[str], None]

Keep = Callable[[Bead, str, str], object]


# The commit is a candidate like any other, one for a merge of several commits. What the store says is on the disk
# before main moves. Where main is already as it would be (a killed command got that far), nothing lands.
def revert_merge(store: "Store", git: Git, bead: Bead, commit: str, base: str, prove: Prove) -> str:
    """Revert `base`..`commit` on main; the commit. NotAllowed: later work or edits. NotProven: main would be red."""
    text = f"Reverted by hand. This reverts commit {commit}."
    message = Message(f"Revert: {bead.title}", text, US, store.now(), (("Reverts-Bead", bead.id),))
    for _ in range(TRIES):
        ready = git.catch_up()
        if ready.landing is not Landing.MOVED:
            raise NotAllowed(f"nobrakes cannot move main now: {ready.reason}")
        main = git.main()
        if commit in git.off_main((commit,)):
            raise NotAllowed(
                f"the merge of {bead.id} ({commit[:12]}) is no longer on main, so there is nothing to revert: "
                "main was rewritten since",
                f"`nobrakes reopen {bead.id}` lets agents redo the bead; `git cherry-pick {commit[:12]}` restores it.",
            )
        made = taken_back(git, (Merged(bead.id, commit, base),), main, message)
        if isinstance(made, Hindered):
            files = ", ".join(made.files[:5])
            raise NotAllowed(
                f"later work builds on {bead.id}: reverting it conflicts in {files}",
                "Revert the later merges first, or plan a bead that undoes the change.",
            )
        if made.tree == git.tree(main):
            return main
        prove(made.commit)
        store.sync()
        landed = git.land(made.commit, main)
        if landed.landing is Landing.MOVED:
            git.pin(f"archive/{bead.id}/reverted-{commit[:12]}", commit)
            return made.commit
        if landed.may_have_landed:
            raise GitFailed(
                f"cannot tell yet whether the merge of {bead.id} was reverted: {landed.reason}",
                "Type the command again in a moment. The command never reverts the same merge twice.",
            )
        if landed.landing is Landing.BLOCKED:
            raise NotAllowed(f"nobrakes cannot move main now: {landed.reason}")
    raise GitFailed("main keeps changing before nobrakes can add the revert", "Try again in a moment.")


# Where nobody pushes to main it is a bead of its own, handed in on what the remote's main is; no agent works on it. It
# takes back what people made of the bead's request and nothing beside it. The bead is done until that request is
# merged.
def asked(store: "Store", git: Git, bead: Bead, merge: Merged, actor: str, base: str = "") -> str:
    """The bead that reverts the merge on `base` or main. NotAllowed: it exists already, or later work builds on it."""
    git, line = git_at(git, Where(base)), base or "main"
    name = f"{bead.id}-back-{merge.commit[:8]}"
    known = store.beads(ids=[name])
    if known and known[0].status not in CLOSED:
        raise NotAllowed(f"bead {name} already reverts {bead.id}", f"See that bead: `nobrakes show {name}`")
    heard = git.catch_up()
    if heard.landing is not Landing.MOVED:
        raise NotAllowed(f"nobrakes cannot read {line} now: {heard.reason}")
    main = git.main()
    if not merge.commit or merge.commit in git.off_main((merge.commit,)):
        why = f"the merge of {bead.id} ({merge.commit[:12]}) is no longer on {line}, so there is nothing to revert"
        raise NotAllowed(why, f"`nobrakes reopen {bead.id}` lets agents do the bead again.")
    text = f"As {actor} asked. This reverts commit {merge.commit}."
    message = Message(f"Take back: {bead.title}"[:200], text, US, store.now(), (("Reverts-Bead", bead.id),))
    made = taken_back(git, (merge,), main, message)
    if isinstance(made, Hindered):
        raise NotAllowed(
            f"later work builds on {bead.id}: reverting it conflicts in {', '.join(made.files[:5])}",
            "Revert the later merges first, or plan a bead that undoes the change.",
        )
    if made.tree == git.tree(main):
        raise NotAllowed(
            f"{line} no longer contains the changes of {bead.id}, so there is nothing to revert",
            f"`nobrakes reopen {bead.id}` lets agents do the bead again.",
        )
    with store.write():
        new = _by_request_bead(store, bead, merge, name, bool(known), actor, line)
        if base:
            store.set_setting(own_base(new.id), base)
        kept, fence = f"incoming/{new.id}/{new.fence + 1}", new.fence + 1
        git.pin(kept, made.commit)
        try:
            store.hand_in(ByHand(new.id, actor, fence, made.commit, main, takes_back=(merge,), built=True))
        except NobrakesError:
            git.pin(kept, None)
            raise
    return new.id


def _by_request_bead(store: "Store", bead: Bead, merge: Merged, name: str, known: bool, actor: str, line: str) -> Bead:
    if known:
        return bead_commands.reopen(store, name, actor, "requested again")
    what = f"Reverts bead {bead.id}'s merge {merge.commit[:12]} on {line}, as {actor} asked."
    epic = bead.epic if bead.status is Status.LANDED else None
    return bead_commands.add_take_back(store, f"Take back: {bead.title}", what, actor, name, epic)


@frozen
class Undone:
    """An undone step. `commit` reverts a merge; `archived` (ref, commit) holds discarded work."""

    seq: int
    kind: Kind
    beads: tuple[str, ...]
    text: str
    commit: str | None = None
    archived: tuple[tuple[str, str], ...] = ()


def last(store: "Store") -> UndoStep | None:
    return next(steps_back(store), None)


def undo(
    store: "Store",
    git: Git | None,
    actor: str,
    seq: int | None = None,
    paths: Paths | None = None,
    prove: Prove | None = None,
    keep: Keep | None = None,
    by_request: bool = False,
) -> Undone:
    """Undo the last step, or that of event `seq`; `keep` records a reverted merge. `by_request`: only pull requests
    change main. On NothingToUndo, NotAllowed, NotProven (a merge without `prove`) nothing changed."""
    if seq is not None:
        event = event_of(store, seq)
        if event is None:
            raise NothingToUndo(f"there is no event {seq}", "`nobrakes events` lists the events.")
        if event.kind in (Kind.MERGED, Kind.FOUND_MERGED, Kind.LANDED):
            if by_request:
                return _request(store, git, event, actor, paths)
            return _merge(store, git, event, actor, prove, paths, keep)
    if seq is None:
        step = last(store)
        if step is None:
            raise NothingToUndo("there is no step left that you can undo")
    else:
        step = _step_of(store, seq)
    try:
        _take_back(store, git, step, f"{actor}{MARK}", paths)
    except NotAllowed as error:
        raise _after(store, step, error) from None
    if paths is not None:
        wake(paths)
    archived: tuple[tuple[str, str], ...] = ()
    if git is not None:
        closed = {event.bead for event in step.events if event.kind in (Kind.CANCELLED, Kind.DONE_BY_HAND)} - {None}
        archived = tuple(one for bead in sorted(map(str, closed)) for one in git.archived(bead))
    return Undone(step.seq, step.kind, step.beads, f"undone: {_words(step)}", None, archived)


def undoable(store: "Store", bead: str = "", after: int = 0) -> tuple[UndoStep, ...]:
    """The latest steps that can be undone, newest first: on this bead, and behind the event `after`."""
    near = islice(steps_back(store, after, None if after else PAGE), TRIED)
    return tuple(step for step in near if (not bead or bead in step.beads) and not _is_built_on(store, step))


def _is_built_on(store: "Store", step: UndoStep) -> bool:
    """Whether it is refused for its kind, or since agents began on its beads."""
    try:
        for event in step.events:
            if event.kind in (Kind.PROPOSED, Kind.APPROVED):
                _require_unbegun(store, event)
    except NotAllowed:
        return True
    return any(event.kind in _FINAL for event in step.events)


def _take_back(store: "Store", git: Git | None, step: UndoStep, marked: str, paths: Paths | None = None) -> None:
    if (final := next((event for event in reversed(step.events) if event.kind in _FINAL), None)) is not None:
        raise _refuse(final, _FINAL[final.kind].format(bead=final.bead, session=final.data.get("session")))
    with store.write():
        for event in reversed(step.events):
            if step.kind not in _ON_DISK:
                _BACK[event.kind](store, event, marked)
            elif git is None or paths is None:
                raise NotAllowed(f"'{_words(step)}' can be undone only in its repository")
            elif step.kind is Kind.ARCHIVE_EXPIRED:
                bring_back(git, event)
            else:
                _config_as_before(store, paths, event, marked)
        seqs = [event.seq for event in step.events]
        store.record(Event(Kind.UNDONE, actor=marked, data={"undone": seqs, "beads": list(dict.fromkeys(step.beads))}))


@frozen
class Last:
    """What `undo BEAD` would undo: its merge, or a person's last step on it."""

    seq: int
    kind: Kind
    actor: str
    at: float
    beads: tuple[str, ...]
    commit: str | None = None

    @property
    def is_large(self) -> bool:
        """It changes main or several beads, so a person confirms it."""
        return self.commit is not None or len(self.beads) > 1


def last_of(store: "Store", bead: str) -> Last:
    """Raises NoSuchBead, NothingToUndo."""
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
        f"bead {bead} has nothing to undo: no step of a person and no merge",
        f"`nobrakes events --bead {bead}` lists the bead's events with their numbers for `nobrakes undo`.",
    )


def _step_of(store: "Store", seq: int) -> UndoStep:
    for step in steps_back(store):
        if (found := next((event for event in step.events if event.seq == seq), None)) is not None:
            return step if seq == step.seq else _part(step, found)
        if step.seq < seq:
            break
    raise NothingToUndo(
        f"event {seq} cannot be undone, or is already undone",
        "You can undo what people did, for example: hold, edit, approve, cancel or finish a bead.",
    )


def _part(step: UndoStep, event: Event) -> UndoStep:
    """The part of an approved strategy (drafts or changes) with this event; else the full step."""
    if step.kind is not Kind.STRATEGY_APPROVED:
        return step
    drafts = event.kind is Kind.APPROVED
    whole = (one for one in step.events if one.kind is not Kind.STRATEGY_APPROVED)
    return replace(step, kind=event.kind, events=tuple(one for one in whole if (one.kind is Kind.APPROVED) == drafts))


def _after(store: "Store", step: UndoStep, error: NotAllowed) -> NotAllowed:
    """The error with a hint at the last step before that can be undone: each is tried, and not kept."""
    tried = list(islice((one for one in steps_back(store) if one.seq < step.seq), TRIED))
    then = ("No step" if len(tried) < TRIED else f"None of the {TRIED} steps") + " before it can be undone."
    for older in tried:
        went_well = False
        with suppress(NobrakesError), store.write():
            if older.kind not in _ON_DISK:
                _take_back(store, None, older, MARK)
            went_well = True
            raise NothingToUndo("the trial is not kept")
        if went_well:
            then = f"You can undo '{_words(older)}', an earlier step: `nobrakes undo {older.seq}`."
            break
    error.hint = " ".join(filter(None, (error.hint, then)))
    return error


def _words(step: UndoStep) -> str:
    settings = step.events[-1].data["after"] if step.kind is Kind.CONFIG_CHANGED else ()
    return f"{_word(step.kind)} {first_of(list(dict.fromkeys((*step.beads, *settings))), 5)}".strip()


def _word(kind: Kind) -> str:
    return TABLE[kind].word or kind.value.replace("_", " ")


def _merge(
    store: "Store", git: Git | None, event: Event, by: str, prove: Prove | None, paths: Paths | None, keep: Keep | None
) -> Undone:
    assert event.bead is not None, "a merge is of a bead"
    if git is None or prove is None:
        raise NotAllowed("a merge can be reverted only in its repository")
    bead = store.bead(event.bead)
    merge = merge_of(store, event, bead)
    commit, base = merge.commit, merge.base
    if bead.status is not Status.DONE or not commit or bead.merged_commit not in (None, commit):
        raise NothingToUndo(f"this merge is no longer the reason why {bead.id} is done")
    reverted = revert_merge(store, git, bead, commit, base, prove)
    if keep is not None:
        keep(bead, base, commit)
    marked, taken = f"{by}{MARK}", {"commit": commit, "revert": reverted, "undone": [event.seq]}
    why = f"{by} reverted merge {commit[:12]} of this bead; `nobrakes release {bead.id}` lets agents work again"
    with store.write():
        store.record(Event(Kind.REVERTED, bead.id, actor=marked, data=taken))
        store.record(Event(Kind.HELD, bead.id, actor=marked, data={"reason": why}))
    if paths is not None:
        wake(paths)
    text = f"a new commit on main reverts {bead.id}; the bead is open again, but held from agents"
    return Undone(event.seq, event.kind, (bead.id,), text, reverted)


def _request(store: "Store", git: Git | None, event: Event, actor: str, paths: Paths | None) -> Undone:
    """Have a pull request take the merge back."""
    assert event.bead is not None, "a merge is of a bead"
    if git is None:
        raise NotAllowed("a merge can be reverted only in its repository")
    bead = store.bead(event.bead)
    merge = merge_of(store, event, bead)
    if bead.status is Status.LANDED and event.kind is Kind.LANDED and bead.epic:
        name = asked(store, git.with_epic_branch(bead.epic), bead, merge, actor)
        if paths is not None:
            wake(paths)
        told = f"the new bead {name} will revert {bead.id} on the branch of {bead.epic}"
        return Undone(event.seq, event.kind, (bead.id,), told)
    if bead.status is not Status.DONE or not merge.commit or bead.merged_commit not in (None, merge.commit):
        raise NothingToUndo(f"this merge is no longer the reason why {bead.id} is done")
    whole = str(event.data.get("with") or "")
    if whole and not merge.base:
        raise NotAllowed(
            f"one commit merged {bead.id} with all of {whole}", f"`nobrakes undo {whole}` reverts the whole commit."
        )
    name = asked(store, git, bead, merge, actor, merged_into(store, bead))
    if paths is not None:
        wake(paths)
    told = f"the new bead {name} reverts {bead.id} by a pull request; until its merge, {bead.id} stays done"
    return Undone(event.seq, event.kind, (bead.id,), told)


def _refuse(event: Event, why: str) -> NotAllowed:
    what = f"{_word(event.kind)} {event.bead or ''}".strip()
    return NotAllowed(f"'{what}' (event {event.seq}) cannot be undone: {why}")


def _bead(event: Event) -> str:
    assert event.bead is not None, "a step is about a bead"
    return event.bead


def _before(store: "Store", event: Event, kinds: tuple[Kind, ...]) -> Event | None:
    found = store.latest_events(kinds, event.seq, 1, _bead(event))
    return found[0] if found else None


def _unheld(store: "Store", event: Event, actor: str) -> None:
    before = _before(store, event, (Kind.HELD, Kind.RELEASED))
    if before is not None and before.kind is Kind.HELD:
        store.record(Event(Kind.HELD, event.bead, actor=actor, data={"reason": before.data.get("reason", "")}))
    else:
        store.record(Event(Kind.RELEASED, event.bead, actor=actor))


def _held_again(store: "Store", event: Event, actor: str) -> None:
    before = _before(store, event, (Kind.HELD,))
    reason = before.data.get("reason", "") if before is not None else event.data.get("before", "")
    store.record(Event(Kind.HELD, event.bead, actor=actor, data={"reason": reason}))


def _undeferred(store: "Store", event: Event, actor: str) -> None:
    before = _before(store, event, (Kind.DEFERRED,))
    until = before.data.get("until") if before is not None else event.data.get("before")
    store.record(Event(Kind.DEFERRED, event.bead, actor=actor, data={"until": until}))


def _unchanged(store: "Store", event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    back: dict[str, Any] = {}
    for name, change in event.data["fields"].items():
        was = content({name: change["before"]})[name]
        if getattr(bead, name) != content({name: change["after"]})[name]:
            raise _refuse(event, f"somebody changed {name} again later")
        back[name] = was
    if back:
        store.change(bead.id, back, actor)


def _as_proposed_before(store: "Store", event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    parts = event.data["parts"]
    if any(bead.proposed.get(name) != one["is"] for name, one in parts.items()):
        raise _refuse(event, "somebody changed the proposal for the bead again later")
    store.propose(bead.id, {name: one["was"] for name, one in parts.items()}, actor, why="taken back")


def _dependency(event: Event) -> Dependency:
    return Dependency(_bead(event), str(event.data["needs"]), DependencyType(event.data.get("type", "blocks")))


def _unclosed(store: "Store", event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    if bead.status is not (Status.CANCELLED if event.kind is Kind.CANCELLED else Status.DONE):
        raise _refuse(event, f"bead {bead.id} is now {bead.status.value.replace('_', ' ')}")
    store.record(Event(Kind.UNDONE, bead.id, actor=actor, data={"undone": [event.seq]}))


def _draft_again(store: "Store", event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    if bead.status is Status.DRAFT:
        return
    _require_unbegun(store, event)
    if bead.status not in (Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.OPEN):
        raise _refuse(event, f"{bead.id} has moved on; `nobrakes hold {bead.id}` keeps agents off the bead")
    store.record(Event(Kind.UNDONE, bead.id, actor=actor, data={"undone": [event.seq]}))


def _require_unbegun(store: "Store", event: Event) -> None:
    bead = store.bead(_bead(event))
    if bead.status in CLOSED:
        is_merged = bead.status is Status.DONE and bead.merged_commit
        then = f"undo {bead.id}` reverts the merge" if is_merged else f"reopen {bead.id}` opens the bead again"
        raise _refuse(event, f"{bead.id} is already {bead.status.value}; `nobrakes {then}")
    if store.attempts(bead.id):
        raise _refuse(event, f"work on {bead.id} has begun; `nobrakes cancel {bead.id}` cancels the bead")


def _unproposed(store: "Store", event: Event, actor: str) -> None:
    _require_unbegun(store, event)
    store.record(Event(Kind.CANCELLED, event.bead, actor=actor, data={"reason": "a person undid adding the bead"}))


def _closed_again(store: "Store", event: Event, actor: str) -> None:
    bead = store.bead(_bead(event))
    before = _before(
        store, event, (Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.MERGED, Kind.FOUND_MERGED, Kind.EPIC_COMPLETED)
    )
    if before is None or before.kind not in (Kind.CANCELLED, Kind.DONE_BY_HAND) or bead.status in CLOSED:
        raise _refuse(event, "no person had closed the bead before this step")
    store.record(Event(before.kind, bead.id, actor=actor, data={"reason": before.data.get("reason", "")}))


def _unswitched(store: "Store", event: Event, actor: str) -> None:
    settings = {str(key): value for key, value in event.data.get("settings", {}).items()}
    if not settings.keys() & {PAUSED, STOPPING}:  # agents may have begun on a red main meanwhile
        raise _refuse(event, "the step let agents start although main failed its checks")
    for key, value in settings.items():
        now = store.setting(key)
        if now != value and (key, now) != (STOPPING, None):  # the daemon ends a stop by itself
            raise _refuse(event, "somebody paused or resumed again later")
    back = {key: None if value is not None else YES for key, value in settings.items()}
    if event.kind is Kind.RESUMED and len(back) > 1:
        back = {PAUSED: YES, STOPPING: None}  # agents that were stopped are not stopped twice
    for key, value in back.items():
        store.set_setting(key, value)
    kind = Kind.RESUMED if event.kind is Kind.PAUSED else Kind.PAUSED
    store.record(Event(kind, actor=actor, data={"settings": back}))


def _unlimited(store: "Store", event: Event, actor: str) -> None:
    before, after = dict(event.data.get("before", {})), dict(event.data.get("after", {}))
    if any(name.startswith("caps.") for name in after):
        raise _refuse(event, "agents may have spent more since that step. `nobrakes providers` shows the caps")
    if overrides(store) != after:
        raise _refuse(event, "somebody changed the limits again later")
    store.set_setting(LIMITS, json.dumps(before, sort_keys=True) if before else None)
    store.record(Event(Kind.LIMITS_CHANGED, actor=actor, data={"before": after, "after": before}))


def _config_as_before(store: "Store", paths: Paths, event: Event, actor: str) -> None:
    """Write the values of before; a value that is there already stays, for an undo that was cut off."""
    from ...config.setup import changing

    before, after = dict(event.data["before"]), dict(event.data["after"])
    now = changing.in_file(paths, before)
    if any(value not in (before[key], after[key]) for key, value in now.items()):
        raise _refuse(event, "somebody changed the setting again later")
    wanted = [(key, None if value is None else json.dumps(value)) for key, value in before.items() if value != now[key]]
    try:
        changing.change(paths, wanted)
    except ConfigError as error:
        raise _refuse(event, one_line(str(error))) from None
    store.record(Event(Kind.CONFIG_CHANGED, actor=actor, data={"before": after, "after": before}))


def _requarantined(store: "Store", event: Event, actor: str) -> None:
    from .merges import lift, restore

    change = lift if event.kind is Kind.QUARANTINED else partial(restore, reason=str(event.data.get("reason", "")))
    change(store, str(event.data["check"]), str(event.data["test"]), actor=actor)


_BACK = {
    Kind.ANSWERED: lambda store, event, actor: store.take_back(int(event.data["escalation"]), actor),
    Kind.PAUSED: _unswitched,
    Kind.RESUMED: _unswitched,
    Kind.LIMITS_CHANGED: _unlimited,
    Kind.QUARANTINED: _requarantined,
    Kind.QUARANTINE_LIFTED: _requarantined,
    Kind.PROPOSED: _unproposed,
    Kind.CHANGED: _unchanged,
    Kind.APPROVED: _draft_again,
    Kind.CHANGE_PROPOSED: _as_proposed_before,
    Kind.CHANGE_DROPPED: _as_proposed_before,
    Kind.CHANGE_APPROVED: _as_proposed_before,
    Kind.STRATEGY_APPROVED: lambda store, event, actor: None,  # its results have events of their own
    Kind.HELD: _unheld,
    Kind.RELEASED: _held_again,
    Kind.DEFERRED: _undeferred,
    Kind.DEPENDENCY_ADDED: lambda store, event, actor: store.remove_dependency(_dependency(event), actor),
    Kind.DEPENDENCY_REMOVED: lambda store, event, actor: store.add_dependency(_dependency(event), actor),
    Kind.CANCELLED: _unclosed,
    Kind.DONE_BY_HAND: _unclosed,
    Kind.REOPENED: _closed_again,
}
"""Undo functions by kind; each raises NotAllowed if others built on the step."""
