"""The Forge's part of each turn of the daemon's loop: look, decide, do. Reviews of plans, checkpoints and rollbacks.

1. Each step is one transaction. What was decided on an older board does nothing: each looks again at what it was
   decided by.
2. A finding becomes a question in the name of the Shaper's session, so that its answer reaches the Shaper, once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ... import US
from ...beads.model import CLOSED, WAITING_FOR_AGENT, Bead, Status, bead_owner, is_handed_back
from ...beads.proposals import ByHand, Merged, reverted_merges
from ...daemon.model import Board
from ...decisions.forms import LABEL, MAX_OPTIONS, as_values, form, parted
from ...decisions.model import STOPS_BEAD, EscalationType, NewEscalation
from ...errors import FileTooLarge, GitFailed, NoAgent, NobrakesError, NoMain, NotAllowed
from ...events.kinds import Event, Kind
from ...git.merge import Hindered, later_work, sorted_out, taken_back
from ...git.port import Git, Message
from ...parking import parked
from ...ports import Ports
from ...records import frozen
from ...requests.worker.landing_branch import base_of
from ...sessions.model import SessionKind
from ...sessions.model import State as Of
from ...text.cleaning import first_of, shorten
from .. import actions, model, planning, reviewed_plan
from ..actions import About, ForgeAction, ForgeBoard
from ..model import Feature, Finding, FindingState, ItemKind, ItemState, Stage, State, Step, Todo
from ..planning import AGAIN, ROLLBACK_HELD, asking, unfinished
from ..prompts import review_text
from ..reviewed_plan import beads_under
from ..service.rollback import resolve_questions
from .shapers import BY, Answers, Shapers, board_of, tell

if TYPE_CHECKING:
    from ...store import Store

MAX_STEPS = 20
"""Of each feature in one turn."""


class Forge:
    """Brings features on; keeps no state that a new one would miss."""

    def __init__(self, ports: Ports, is_granted: Callable[[Feature], bool] = lambda feature: False) -> None:
        self.ports = ports
        shapers = Shapers(ports)
        answers, reviews, checkpoints = Answers(ports), PlanReviews(ports, is_granted), Checkpoints(shapers)
        self.rollbacks = Rollbacks(ports, answers)
        answers.by_about[About.ROLLBACK] = self.rollbacks.answered
        self.methods: dict[type, Callable[[Any], bool]] = {
            **shapers.methods,
            **reviews.methods,
            actions.Ask: answers.ask,
            actions.Answered: answers.answered,
            actions.Checkpoint: checkpoints.checkpoint,
            actions.HoldNamed: checkpoints.hold,
            actions.DropRollback: self.rollbacks.drop,
        }
        self.outside: dict[type, Callable[[Any], bool]] = {
            actions.TakeBack: self.rollbacks.take_back,
            actions.FinishRollback: self.rollbacks.finish,
        }
        self._board: ForgeBoard | None = None
        self._looked: object = None

    def seen(self, board: Board) -> Board:
        """The board without complete epics that wait for a person."""
        return replace(board, epics_done=tuple(epic for epic in board.epics_done if not rests(self.ports, epic)))

    def turn(self, board: Board, features: Sequence[Feature]) -> bool:
        """Do the active features' next steps; returns whether anything changed. Decisions come before sessions."""
        changed = False
        for _ in range(MAX_STEPS):
            self._board = seen = board_of(self.ports, board, features)
            if seen is None:
                return changed
            collected = self._collect(seen)
            done = collected if any(collected) else [self.perform(action) for action in planning.plan_features(seen)]
            if not any(done):
                return changed
            changed, features = True, self.ports.store.features()
        return changed

    def _collect(self, seen: ForgeBoard) -> list[bool]:
        """Suggestions and merges are events: without new events there is nothing to collect."""
        if (position := self.ports.store.position()) == self._looked:
            return []
        found = [collect(self.ports, one.feature) for one in seen.standings]
        self._looked = position
        return found

    def perform(self, action: ForgeAction) -> bool:
        """Do it in one transaction; slow git work makes its own. Without the needed agent the feature stops."""
        with parked(self.ports, bead_owner(action.feature)):
            return self._done(action)
        return False

    def _done(self, action: ForgeAction) -> bool:
        if type(action) in self.outside:
            return self.outside[type(action)](action)
        try:
            with self.ports.store.write():
                return self.methods[type(action)](action)
        except NoAgent as error:
            with self.ports.store.write():
                return self.methods[actions.Fail](actions.Fail(action.feature, str(error)))

    def wake_at(self) -> list[float]:
        if self._board is None:
            return []
        return [at for at in (planning.wake_at(self._board), planning.reviewing_wake_at(self._board)) if at is not None]


# A feature is done with its epic in one transaction, so that no crash parts the two. Where something that was collected
# still waits, a checkpoint comes first.
def complete(store: "Store", epic: str) -> bool:
    """The epic is complete: completes its feature if that is being built; returns whether."""
    for feature in store.features():
        if feature.id == epic and feature.stage is Stage.IMPLEMENTATION:
            if any(item.state is ItemState.WAITING for item in store.items(epic)):
                return False
            resolve_questions(store, feature, "the feature is done", BY)
            store.move_feature(epic, Step.MERGED, BY, "all beads of the feature's epic are done")
            return True
    return False


class PlanReviews:
    """Does what features.planning decides on plan reviews. `is_granted`: a person approved its plan before."""

    def __init__(self, ports: Ports, is_granted: Callable[[Feature], bool]) -> None:
        self.ports, self.is_granted = ports, is_granted
        self.methods: dict[type, Callable[[Any], bool]] = {
            actions.BeginRound: self.begin_round,
            actions.EndReview: self.end_review,
            actions.AskFindings: self.ask_findings,
            actions.CloseRound: self.close_round,
            actions.AskSignOff: self.ask_sign_off,
        }

    def begin_round(self, action: actions.BeginRound) -> bool:
        """Begin a session for each domain's reviewer."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        goes_on = feature.stage is Stage.REVIEW and feature.state is State.ACTIVE
        if not goes_on or feature.round + 1 != action.round or feature.data.get(model.REVISING):
            return False
        store.change_feature(feature.id, {"round": action.round}, BY)
        plan = store.plan_versions(feature.id)[-1]
        earlier = store.findings(feature.id)
        for domain in action.domains:
            text = review_text(feature, plan, domain, action.round, earlier)
            title = f"Review of {feature.title}: {domain}, round {action.round}"[:100]
            told = {"feature": feature.id, "domain": domain, "round": action.round}
            agent = action.agents[domain]
            model_ = self.ports.config().agents.model_of(agent, "reviewer")
            spec = agent, self.ports.adapter(agent).provider, model_
            session = store.begin_session(SessionKind.REVIEW, bead_owner(feature.id), title, spec, text, BY, told)
            store.begin_review(feature.id, action.round, domain, session.id)
        return True

    def end_review(self, action: actions.EndReview) -> bool:
        """Note how it ended and end its session."""
        store = self.ports.store
        if not store.end_review(action.feature, action.round, action.domain, action.state, action.detail):
            return False
        found = store.plan_reviews(action.feature, action.round)
        session = next(one.session for one in found if one.domain == action.domain)
        if session is not None and store.session(session).state is not Of.ENDED:
            store.end_session(session, BY)
        store.change_feature(action.feature, {"turn_at": store.now()}, BY)  # a turn of it has ended
        return True

    def ask_findings(self, action: actions.AskFindings) -> bool:
        """Ask about each, except what was accepted before or is asked already."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        of_all = store.findings(feature.id)
        by_number = {one.id: one for one in of_all}
        open_ = frozenset(one.id for one in store.escalations())
        wanted = [by_number[n] for n in action.findings if n in planning.to_ask(of_all, open_)]
        asked: list[Finding] = []
        for finding in wanted:
            if (before := reviewed_plan.decided_before(finding, of_all)) is not None:
                store.resolve_finding(finding.id, FindingState.RISK_ACCEPTED, before.answer, BY)
                continue
            twin = next((one for one in asked if reviewed_plan.same(one, finding)), None)
            if twin is not None:
                store.ask_of_finding(finding.id, _question_of(store.findings(feature.id), twin.id))
                continue
            store.ask_of_finding(finding.id, store.escalate(_question(feature, finding), None, None, BY).id)
            asked.append(finding)
        if asked:
            store.note_feature(feature.id, {model.REVISING: True}, BY)
        return bool(wanted)

    def close_round(self, action: actions.CloseRound) -> bool:
        """Note that it is over."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.data.get(model.CLOSED_ROUND, 0) >= action.round:
            return False
        seen = planning.tracker(
            self.ports.config().forge, feature, store.plan_reviews(feature.id), store.findings(feature.id)
        )
        last = next(one for one in seen.iterations if one.number == action.round)
        store.change_feature(feature.id, {"clean": seen.clean}, BY)
        store.note_feature(feature.id, {model.CLOSED_ROUND: action.round}, BY)
        told: dict[str, Any] = {"round": action.round, "version": last.plan, "end": last.end.value}
        told |= {"findings": last.found}
        told |= {"failed": list(last.failed), "done": seen.done, "most": seen.most, "accepted": last.accepted}
        store.record(Event(Kind.PLAN_ROUND_ENDED, feature.id, actor=BY, data=told))
        return True

    def ask_sign_off(self, action: actions.AskSignOff) -> bool:
        """Tell a person that they may sign off."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.data.get(model.SIGN_OFF_ASKED) == action.version:
            return False
        rules = self.ports.config().forge
        seen = planning.tracker(rules, feature, store.plan_reviews(feature.id), store.findings(feature.id))
        store.note_feature(feature.id, {model.SIGN_OFF_ASKED: action.version}, BY)
        if self.is_granted(feature):
            return True  # its project signs it off under the person's approval, so nobody is asked
        told = {"reviews": seen.done, "most": seen.most, "version": action.version}
        store.record(Event(Kind.SIGN_OFF_ASKED, feature.id, actor=BY, data=told))
        return True


def _question_of(findings: list[Finding], number: int) -> int:
    found = next(one.escalation for one in findings if one.id == number)
    assert found is not None, "the finding's question was just asked"
    return found


def _question(feature: Feature, finding: Finding) -> NewEscalation:
    own = _options(finding.options) or [{"label": "have the plan changed", "means": "the Shaper changes the plan"}]
    risk = {"label": model.ACCEPT_RISK, "means": "the plan does not change; nobrakes stores your reason", "why": True}
    where = f" (bead {finding.bead})" if finding.bead else ""
    context = (
        f"Impact: {finding.impact}\n{finding.category}, found by the {finding.domain} reviewer in round {finding.round}"
    )
    values = {"kind": "radio", "options": [*own, risk], "recommended": [own[0]["label"]]}
    asked = form(values | {"priority": finding.priority, "context": context})
    evidence = {"feature": feature.id, "finding": finding.id, "round": finding.round, "domain": finding.domain}
    return NewEscalation(
        EscalationType.QUESTION,
        f"{finding.issue}{where}",
        f"A plan reviewer found this problem in the plan of feature {feature.id} ({feature.title}).",
        {**evidence, "category": finding.category},
        session=feature.session,
        form=as_values(asked),
    )


def _options(given: Iterable[str]) -> list[dict[str, str]]:
    """A reviewer's options for a form: short labels, no duplicates, without the risk."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        one = parted(" ".join(text.split()))
        label = one["label"] or "as described"
        if len(label) > LABEL:
            one = {**one, "label": label[: LABEL - 2].rstrip() + " …", "means": text}
        if label.casefold() != model.ACCEPT_RISK:
            found.setdefault(one["label"].casefold() or label, {**one, "label": one["label"] or label})
    return list(found.values())[: MAX_OPTIONS - 1]


# What was collected for a checkpoint is not collected again: which suggestions and merges were looked at is noted with
# it. What of a merge could not be looked into is told, and not tried again. The rounds of reviews start again from
# there.
MAX_FILES = 500
"""Files of one merge that are scanned."""


def collect(ports: Ports, feature: Feature) -> bool:
    """Collect new items since the last look, in one transaction; returns whether there were any."""
    store = ports.store
    if feature.stage is not Stage.IMPLEMENTATION:
        return False
    beads = beads_under(store, feature.id)
    own = {bead.id for bead in beads}
    scanned: dict[str, str] = dict(feature.data.get(model.SCANNED, {}))
    merged = [bead for bead in beads if bead.merged_commit and scanned.get(bead.id) != bead.merged_commit]
    after = int(feature.data.get(model.SUGGESTED, 0))
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
    with store.write():
        for one in filed:
            store.collect(feature.id, planning.kind_of(one.title), one.title, BY, bead=one.bead)
        for one in stops:
            text = planning.asked(one)
            store.collect(feature.id, ItemKind.ESCALATION, text, BY, line=one.id, bead=one.bead, nth=one.id)
        store.resolve_items(over, ItemState.RESOLVED, BY)
        for bead in merged:
            scanned[bead.id] = str(bead.merged_commit)
            found, trouble = brought[bead.id]
            for todo in found:
                _collect(store, feature, bead.id, todo)
            if trouble:
                text = f"nobrakes could not search the whole merge of {bead.id} for open points: {trouble}"
                tell(store, feature, text, "warning")
        upto = max([after, *(one.id for one in filed)])
        store.note_feature(feature.id, {model.SUGGESTED: upto, model.SCANNED: scanned}, BY)
    return True


def _collect(store: "Store", feature: Feature, bead: str, todo: Todo) -> None:
    named, blocks = {"file": todo.file, "bead": bead}, model.is_affected(todo.file, feature.files)
    store.collect(feature.id, todo.kind, todo.text, BY, line=todo.line, nth=todo.nth, blocks=blocks, **named)


def _brought(ports: Ports, commit: str) -> tuple[list[Todo], str]:
    """The comments that a merge brought into main, and what could not be read; none if the merge is gone."""
    git, found, large = ports.git, list[Todo](), list[str]()
    try:
        if (made := git.made(commit)) is None or not made.parents:
            return [], ""
        base = made.parents[0]
        paths = sorted(one.path for one in git.changes(base, commit) if model.is_scanned(one.path))
        for path in paths[:MAX_FILES]:
            try:
                after, before = (_text(ports, where, path) for where in (commit, base))
            except FileTooLarge:
                large.append(path)
                continue
            found += model.new_in(model.scan(path, after), model.scan(path, before))
    except NobrakesError as error:
        return found, str(error)
    troubles = [f"the merge has {len(paths) - MAX_FILES} files too many"] if len(paths) > MAX_FILES else []
    troubles += [f"these files are too large: {', '.join(large[:10])}"] if large else []
    return found, "; ".join(troubles)


def _text(ports: Ports, commit: str, path: str) -> str:
    content = ports.git.read(commit, path, model.MAX_BYTES)
    return "" if content is None else content.decode("utf-8", "replace")


class Checkpoints:
    """Does what features.planning decides on checkpoints."""

    def __init__(self, shapers: Shapers) -> None:
        self.ports = shapers.ports
        self.shapers = shapers

    def checkpoint(self, action: actions.Checkpoint) -> bool:
        """Return the feature to planning, and tell its Shaper what was collected."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.stage is not Stage.IMPLEMENTATION or feature.state is not State.ACTIVE:
            return False
        items = [one for one in store.items(feature.id) if one.id in action.items and one.state is ItemState.WAITING]
        own = {bead.id for bead in beads_under(store, feature.id)}
        stopping = [one for one in store.escalations() if one.bead in own]
        told = {one.line for one in items if one.kind is ItemKind.ESCALATION}
        open_ = [one for one in stopping if one.type in STOPS_BEAD and one.id not in told]
        store.resolve_items({one.id for one in items}, ItemState.REVIEWED, BY)
        store.move_feature(feature.id, Step.CHECKPOINT, BY, action.why)
        store.note_feature(feature.id, {**planning.reopened(feature), model.REVISING: True}, BY)
        store.change_feature(feature.id, {"clean": 0, "turn_at": store.now()}, BY)
        text = planning.told(items, open_, action.why)
        session = None if feature.session is None else store.session(feature.session)
        if session is not None and session.state is not Of.ENDED:
            store.say(session.id, text, BY)
            return True
        store.change_feature(feature.id, {"session": None}, BY)
        self.shapers.begin_with(feature.id, text)
        return True

    def hold(self, action: actions.HoldNamed) -> bool:
        """Hold the live beads that the new plan names, and release those that it names no more."""
        store = self.ports.store
        reason = planning.HOLD_REASON.format(feature=action.feature)
        done = False
        for id_ in action.hold:
            bead = store.bead(id_)
            if bead.held is None and bead.proposed and bead.status is not Status.DRAFT:
                store.record(Event(Kind.HELD, id_, actor=BY, data={"reason": reason}))
                done = True
        feature = store.feature(action.feature)
        for id_ in action.release:
            bead = store.bead(id_)
            if planning.is_over(feature, bead.held, bool(bead.proposed)):
                store.record(Event(Kind.RELEASED, id_, actor=BY))
                done = True
        return done


def holds_back(ports: Ports, epic: str) -> bool:
    """Whether the epic is not complete although its beads are: its feature's plan is open or will be."""
    if (feature := _feature(ports, epic)) is None:
        return False
    if _is_planned(feature):
        return True
    collect(ports, feature)
    waits = any(one.state is ItemState.WAITING for one in ports.store.items(epic))
    return waits and feature.stage is Stage.IMPLEMENTATION  # where it is paused or in error, its checkpoint comes later


def rests(ports: Ports, epic: str) -> bool:
    """Whether only a person can complete the epic, so that no daemon waits for it."""
    if (feature := _feature(ports, epic)) is None or _is_planned(feature):
        return feature is not None
    waits = any(one.state is ItemState.WAITING for one in ports.store.items(epic))
    return waits and feature.stage is Stage.IMPLEMENTATION and feature.state is not State.ACTIVE


def _feature(ports: Ports, epic: str) -> Feature | None:
    return next((one for one in ports.store.features() if one.id == epic), None)


def _is_planned(feature: Feature) -> bool:
    return feature.stage in model.PLANNED or model.ROLLBACK in feature.data


# A rollback's commit is built outside a transaction, and handed in in one: a crash between the two builds it again, and
# whoever took the bead in hand meanwhile keeps it. Where nothing differs, nothing is handed in, and the rollback is
# over.
NAMED = 5
_NOT_YET = (*WAITING_FOR_AGENT, Status.ESCALATED)
"""Statuses of its bead before its hand-in."""


@frozen
class _Rolling:
    """A feature being rolled back, who asked, and its bead, as seen."""

    feature: Feature
    by: str
    bead: Bead


class Rollbacks:
    """Does what features.planning decides on rollbacks."""

    def __init__(self, ports: Ports, answers: Answers) -> None:
        self.ports = ports
        self.answers = answers

    def take_back(self, action: actions.TakeBack) -> bool:
        return self._tried(action.feature, self._take_back, asking)

    def finish(self, action: actions.FinishRollback) -> bool:
        return self._tried(action.feature, self._finish, unfinished)

    def _tried(
        self, id_: str, do: Callable[[_Rolling], bool], ask: Callable[[str, str, str, str], actions.Ask]
    ) -> bool:
        """If git refuses, a person is asked, and other features continue."""
        if (rolling := _rolling(self.ports.store, id_)) is None:
            return False
        try:
            return do(rolling)
        except (GitFailed, NoMain, NotAllowed) as error:
            title = shorten(f"Feature {id_} is not rolled back: {error}", 480)
            with self.ports.store.write():
                return self.answers.ask(ask(id_, rolling.bead.id, title, error.whole))

    def _take_back(self, one: _Rolling) -> bool:
        if one.bead.status not in _NOT_YET:
            return False
        with self.ports.store.write():
            given_up, landing = self.ports.words().give_up(one.feature.id, one.by)
        if landing:  # the end of their reviews wakes the loop
            return bool(given_up)
        merges, gone = sorted_out(self._git(one), self.ports.words().landed(one.feature.id), one.feature.base)
        return self._build(one, merges, _left_alone(gone))

    def _git(self, one: _Rolling) -> Git:
        return base_of(self.ports, one.bead)

    def _build(self, one: _Rolling, merges: Sequence[Merged], gone: str) -> bool:
        git, store = self._git(one), self.ports.store
        main = git.main()
        message = Message(f"Roll back: {one.feature.title}", f"As {one.by} asked.", US, store.now())
        made = taken_back(git, merges, main, message) if merges else None
        if isinstance(made, Hindered):
            return self._hindered(one, made, merges)
        if made is None or made.tree == git.tree(main):
            return self._end(one, merges, f"main no longer has any of the feature's work{gone}", main)
        with store.write():
            if not _is_as_seen(self.ports.store, one):
                return False
            self._hand_in(one, made.commit, main, merges)
            tell(store, one.feature, f"bead {one.bead.id} hands in the rollback for review{gone}", "info")
        return True

    def _hand_in(self, one: _Rolling, commit: str, main: str, merges: Sequence[Merged]) -> None:
        store, name, fence = self.ports.store, one.bead.id, one.bead.fence + 1
        kept = f"incoming/{name}/{fence}"
        self.ports.git.pin(kept, commit)
        try:
            store.change(name, {"description": _told(one.feature, one.by, merges)}, BY)
            store.hand_in(ByHand(name, one.by, fence, commit, main, takes_back=tuple(merges), built=True))
        except NobrakesError:
            self.ports.git.pin(kept, None)
            raise

    def _hindered(self, one: _Rolling, found: Hindered, merges: Sequence[Merged]) -> bool:
        git = self._git(one)
        later = later_work(git, found, git.main(), {merge.bead for merge in merges})
        files = ", ".join(found.files[:NAMED]) or "its history"
        whose = [made.trailer("Bead") or f"commit {made.commit[:12]}" for made in later]
        with_ = ", ".join(tuple(dict.fromkeys(whose))[:NAMED]) or "later work"
        title = f"Feature {one.feature.id} is not rolled back: "
        title += f"reverting {found.merge.bead} conflicts with {with_} in {files}"
        detail = f"{found.merge.bead} was merged as {found.merge.commit[:12]}. Since then {with_} changed {files}."
        with self.ports.store.write():
            return _is_as_seen(self.ports.store, one) and self.answers.ask(
                asking(one.feature.id, one.bead.id, shorten(title, 480), detail)
            )

    def _finish(self, one: _Rolling) -> bool:
        """End the rollback: what was handed in is off main, or a person did it otherwise."""
        if one.bead.status is not Status.DONE:
            return False
        merged = one.bead.merged_commit or ""
        taken = reverted_merges(self.ports.store.attempts(one.bead.id)) if merged else ()
        if not taken:
            taken = sorted_out(self._git(one), self.ports.words().landed(one.feature.id), one.feature.base)[0]
        why = f"reverted on main by {merged[:12]}" if merged else f"a person marked bead {one.bead.id} as done"
        return self._end(one, taken, why, merged or self._git(one).main())

    def _end(self, one: _Rolling, taken: Sequence[Merged], why: str, commit: str) -> bool:
        with self.ports.store.write():
            if not _is_as_seen(self.ports.store, one):
                return False
            self._close(one.bead, "main had nothing of the feature left to revert")
            self.ports.words().end_rollback(one.feature.id, one.by, taken, why, commit)
        for merge in taken:
            _pin(self.ports.git, merge)
        return True

    def drop(self, action: actions.DropRollback) -> bool:
        return self._off(action.feature, action.why)

    def answered(self, feature: Feature, chosen: str) -> None:
        """Try again or leave it, unless it is over."""
        if (one := _rolling(self.ports.store, feature.id)) is None or one.bead.status in CLOSED:
            return
        if chosen != AGAIN:
            self._close(one.bead, "merged work stays on main")
            self._off(feature.id, "merged work stays on main")
        elif is_handed_back(one.bead.held):
            reason = ROLLBACK_HELD.format(feature=feature.id)
            self.ports.store.record(Event(Kind.HELD, one.bead.id, actor=BY, data={"reason": reason}))

    def _close(self, bead: Bead, why: str) -> None:
        if self.ports.store.bead(bead.id).status not in CLOSED:
            self.ports.store.record(Event(Kind.CANCELLED, bead.id, actor=BY, data={"reason": why}))

    def _off(self, id_: str, why: str) -> bool:
        store = self.ports.store
        if not self.ports.words().drop_rollback(id_, BY, why):
            return False
        tell(store, store.feature(id_), f"the rollback stopped: {why}; you can reopen cancelled beads", "warning")
        return True


def _rolling(store: "Store", id_: str) -> _Rolling | None:
    feature = store.feature(id_)
    asked = feature.data.get(model.ROLLBACK)
    return None if asked is None else _Rolling(feature, str(asked["by"]), store.bead(str(asked["bead"])))


def _is_as_seen(store: "Store", one: _Rolling) -> bool:
    now = _rolling(store, one.feature.id)
    return now is not None and _place(now.bead) == _place(one.bead)


def _place(bead: Bead) -> tuple[Status, str | None, int]:
    """What changes when somebody takes the bead."""
    return bead.status, bead.held, bead.fence


def _pin(git: Git, one: Merged) -> None:
    """Keep what was taken back, as `undo` does, even if main is rewritten later."""
    try:
        git.pin(f"archive/{one.bead}/reverted-{one.commit[:12]}", one.commit)
    except (GitFailed, NoMain):
        return  # it is gone from git; main's own history says what it was


def _left_alone(gone: Sequence[Merged]) -> str:
    """The end of a sentence about merges no longer on main."""
    named = first_of([f"{one.bead} ({one.commit[:12]})" for one in gone], NAMED)
    return f"; nobrakes skips merges that the rewritten main no longer has: {named}" if gone else ""


def _told(feature: Feature, by: str, merges: Sequence[Merged]) -> str:
    lines = [f"- {one.bead}: {one.commit}" for one in merges]
    head = f"Reverts feature {feature.id} on main, as {by} asked, the newest merge first:"
    return "\n".join([head, "", *lines])
