"""Checkpoints, done: items collected from suggestions and merges, features back to their plan, live beads held.

1. What was collected is not collected again: which suggestions and merges were looked at is noted with it.
2. A comment that says what is left to do is an item where a merge brought it into main, in any file it changed. What
   of a merge could not be looked into is told; it is not tried again.
3. A checkpoint goes to the Shaper's session, or begins one; the rounds of reviews count anew from there.
"""

from ...core.beads.bead import Status
from ...core.beads.escalations import STOPS_BEAD, EscalationType
from ...core.beads.events import Event, Kind
from ...core.errors import FileTooLarge, NobrakesError
from ...core.forge import checkpoints, reviewing
from ...core.forge import data_keys as keys
from ...core.forge.actions import Checkpoint, HoldNamed
from ...core.forge.feature import PLANNED, Feature, ItemKind, ItemState, Stage, State, Step
from ...core.forge.todos import MOST_BYTES, Todo, is_affected, is_scanned, new_in, scan
from ...core.sessions.session import State as Of
from ...ports import Store
from ...roles.plan_beads import beads_under
from ..ports import Ports
from .shapers import Shapers
from .telling import BY, tell

MOST_FILES = 500
"""Files of one merge that are scanned."""


def collect(ports: Ports, feature: Feature) -> bool:
    """Collect what is new since the last look; whether anything was. One transaction."""
    store = ports.store
    if feature.stage not in (Stage.IMPLEMENTATION, Stage.REQUEST):
        return False
    beads = beads_under(store, feature.id)
    own = {bead.id for bead in beads}
    scanned: dict[str, str] = dict(feature.data.get(keys.SCANNED, {}))
    merged = [bead for bead in beads if bead.merged_commit and scanned.get(bead.id) != bead.merged_commit]
    after = int(feature.data.get(keys.SUGGESTED, 0))
    asked = [one for one in store.escalations() if one.bead in own]
    filed = [one for one in asked if one.type is EscalationType.DOER_SUGGESTION and one.id > after]
    open_ = [one for one in asked if one.type in STOPS_BEAD]
    known = {one.line: one for one in store.items(feature.id) if one.kind is ItemKind.ESCALATION and one.line}
    stops = [one for one in open_ if one.id not in known]
    waiting = {number for number, one in known.items() if one.state is ItemState.WAITING}
    over = {known[number].id for number in waiting - {one.id for one in open_}}
    if not (merged or filed or stops or over):
        return False
    brought = {bead.id: _brought(ports, str(bead.merged_commit)) for bead in merged}
    with store.together():
        for one in filed:
            kind = checkpoints.kind_of(one.title)
            store.collect(feature.id, kind, one.title, BY, bead=one.bead)
        for one in stops:
            text = checkpoints.asked(one)
            store.collect(feature.id, ItemKind.ESCALATION, text, BY, line=one.id, bead=one.bead, nth=one.id)
        store.settle_items(over, ItemState.RESOLVED, BY)
        for bead in merged:
            scanned[bead.id] = str(bead.merged_commit)
            found, trouble = brought[bead.id]
            for todo in found:
                _collect(store, feature, bead.id, todo)
            if trouble:
                text = f"what is left to do in the merge of {bead.id} was not all seen: {trouble}"
                tell(store, feature, text, "warning")
        upto = max([after, *(one.id for one in filed)])
        store.note_feature(feature.id, {keys.SUGGESTED: upto, keys.SCANNED: scanned}, BY)
    return True


def _collect(store: Store, feature: Feature, bead: str, todo: Todo) -> None:
    named, blocks = {"file": todo.file, "bead": bead}, is_affected(todo.file, feature.files)
    store.collect(feature.id, todo.kind, todo.text, BY, line=todo.line, nth=todo.nth, blocks=blocks, **named)


def _brought(ports: Ports, commit: str) -> tuple[list[Todo], str]:
    """The comments that a merge brought into main, and what could not be looked into; none of a merge that is gone."""
    git, found, large = ports.git, list[Todo](), list[str]()
    try:
        made = git.made(commit)
        if made is None or not made.parents:
            return [], ""
        base = made.parents[0]
        paths = sorted(one.path for one in git.changes(base, commit) if is_scanned(one.path))
        for path in paths[:MOST_FILES]:
            try:
                after, before = (_text(ports, where, path) for where in (commit, base))
            except FileTooLarge:
                large.append(path)
                continue
            found += new_in(scan(path, after), scan(path, before))
    except NobrakesError as error:
        return found, str(error)
    troubles = [f"{len(paths) - MOST_FILES} of its files are too many"] if len(paths) > MOST_FILES else []
    troubles += [f"too large are {', '.join(large[:10])}"] if large else []
    return found, "; ".join(troubles)


def _text(ports: Ports, commit: str, path: str) -> str:
    content = ports.git.read(commit, path, MOST_BYTES)
    return "" if content is None else content.decode("utf-8", "replace")


class Checkpoints:
    """The hands of core.forge.checkpoints."""

    def __init__(self, shapers: Shapers) -> None:
        self.ports = shapers.ports
        self.shapers = shapers

    def checkpoint(self, action: Checkpoint) -> bool:
        """Bring the feature back to its plan, and tell its Shaper what was collected."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.stage is not Stage.IMPLEMENTATION or feature.state is not State.ACTIVE:
            return False
        items = [one for one in store.items(feature.id) if one.id in action.items and one.state is ItemState.WAITING]
        own = {bead.id for bead in beads_under(store, feature.id)}
        stopping = [one for one in store.escalations() if one.bead in own]
        told = {one.line for one in items if one.kind is ItemKind.ESCALATION}
        open_ = [one for one in stopping if one.type in STOPS_BEAD and one.id not in told]
        store.settle_items({one.id for one in items}, ItemState.REVIEWED, BY)
        store.move_feature(feature.id, Step.CHECKPOINT, BY, action.why)
        store.note_feature(feature.id, {**reviewing.opened_anew(feature), keys.REVISING: True}, BY)
        store.change_feature(feature.id, {"clean": 0, "turn_at": store.now()}, BY)
        text = checkpoints.told(items, open_, action.why)
        session = None if feature.session is None else store.session(feature.session)
        if session is not None and session.state is not Of.ENDED:
            store.say(session.id, text, BY)
            return True
        store.change_feature(feature.id, {"session": None}, BY)
        self.shapers.begin_with(feature.id, text)
        return True

    def hold(self, action: HoldNamed) -> bool:
        """Hold the live beads that the new plan names, and let go those that it names no more."""
        store = self.ports.store
        reason = checkpoints.HOLD_REASON.format(feature=action.feature)
        done = False
        for id_ in action.hold:
            bead = store.bead(id_)
            if bead.held is None and bead.proposed and bead.status is not Status.DRAFT:
                store.record(Event(Kind.HELD, id_, actor=BY, data={"reason": reason}))
                done = True
        feature = store.feature(action.feature)
        for id_ in action.release:
            bead = store.bead(id_)
            if checkpoints.is_over(feature, bead.held, bool(bead.proposed)):
                store.record(Event(Kind.RELEASED, id_, actor=BY))
                done = True
        return done


def holds_back(ports: Ports, epic: str) -> bool:
    """Whether the epic is not complete although its beads are: it is a feature whose plan is open, or goes there."""
    feature = _feature(ports, epic)
    if feature is None:
        return False
    if _is_planned(feature):
        return True
    collect(ports, feature)
    waits = any(one.state is ItemState.WAITING for one in ports.store.items(epic))
    return waits and feature.stage is Stage.IMPLEMENTATION  # where it is paused or in error, its checkpoint comes later


def rests(ports: Ports, epic: str) -> bool:
    """Whether the epic is held back until a person did something, so that no daemon has to wait for it."""
    feature = _feature(ports, epic)
    if feature is None or _is_planned(feature):
        return feature is not None
    waits = any(one.state is ItemState.WAITING for one in ports.store.items(epic))
    return waits and feature.stage is Stage.IMPLEMENTATION and feature.state is not State.ACTIVE


def _feature(ports: Ports, epic: str) -> Feature | None:
    return next((one for one in ports.store.features() if one.id == epic), None)


def _is_planned(feature: Feature) -> bool:
    """Whether its plan is open, or it is rolled back: then something else ends it."""
    return feature.stage in PLANNED or keys.ROLLBACK in feature.data
