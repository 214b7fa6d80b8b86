"""Shapers of features, done: begun, told, dealt with, renewed, given up. Each is one transaction.

1. What was decided on an older board does nothing: each looks again at what it was decided by.
2. A Shaper's text goes through the operations that agents with tools call. If one refuses it, the Shaper gets the
   reason, and nothing changes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...agents.limits import State as Trip
from ...beads.model import CLOSED, Bead, Outcome, Status, bead_owner, session_owner
from ...beads.proposals import is_built
from ...daemon.model import Board
from ...decisions.forms import MAX_OPTIONS, WAYS, as_values, form, made
from ...decisions.model import EscalationType, NewEscalation
from ...errors import NobrakesError, UsageError
from ...events.kinds import Event, Kind, session_actor
from ...ports import Ports
from ...sessions.model import CLEAN, Session, SessionKind
from ...sessions.model import State as At
from ...text.cleaning import clean, count, redacted, shorten
from .. import actions, markers, planning
from .. import model as keys
from ..actions import About, ForgeBoard, Standing
from ..markers import Question, Reading
from ..model import PLANNED, Feature, ItemState, PlanReview, ReviewState, Stage, State, Step
from ..reviewed_plan import beads_under
from ..service.rollback import resolve_questions

if TYPE_CHECKING:
    from ...store import Store


BY = "nobrakes"
MAX_TEXT = 1000
"""Characters of a notification."""


def tell(store: "Store", feature: Feature, text: str, severity: str) -> None:
    """`severity`: info, warning or urgent."""
    data = {"text": text[:MAX_TEXT], "severity": severity, "session": feature.session}
    store.record(Event(Kind.FEATURE_TOLD, feature.id, actor=BY, data=data))


BEGIN = "Begin. What you are given above is all there is so far."
SHAPERS_GO_ON = (
    "Your turn ended without a next step: no question of yours is open, and you did not say that the plan "
    "is complete. Go on: ask what only a person can decide, propose what is missing, or say that the plan is complete."
)
MAX_WORDS, MAX_ANSWER = 3500, 400
"""Characters of a silent turn's words shown with the question, and of an answer that is passed on."""


class Shapers:
    """Does what features.planning decides on the Shaper's session."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.methods: dict[type, Callable[[Any], bool]] = {
            actions.BeginShaper: self.begin,
            actions.SwitchShaper: self.switch,
            actions.Renew: self.renew,
            actions.TellShaper: self.tell,
            actions.TakeTurn: self.take_turn,
            actions.AskAboutSilentTurn: self.ask_about_silent_turn,
            actions.WarnOfExpiry: self.warn,
            actions.Expire: self.expire,
            actions.Fail: self.fail,
            actions.Recover: self.recover,
        }

    def begin(self, action: actions.BeginShaper) -> bool:
        """Begin the session."""
        feature = self.ports.store.feature(action.feature)
        if feature.session is not None or feature.state is not State.ACTIVE:
            return False
        self._begin(feature, action.agent, BEGIN)
        return True

    def begin_with(self, id_: str, text: str) -> None:
        self._begin(self.ports.store.feature(id_), self.ports.config().agents.shaper[0], text)

    def _begin(self, feature: Feature, agent: str, text: str) -> None:
        store, spec = self.ports.store, self._agent_spec(agent)
        told, title = {"feature": feature.id}, feature.title[:100]
        session = store.begin_session(SessionKind.PLANNING, bead_owner(feature.id), title, spec, text, BY, told)
        store.change_feature(feature.id, {"session": session.id, "turn_at": store.now()}, BY)

    def _agent_spec(self, agent: str) -> tuple[str, str, str]:
        model = self.ports.config().agents.model_of(agent, "shaper")
        return agent, self.ports.adapter(agent).provider, model

    def switch(self, action: actions.SwitchShaper) -> bool:
        """Let another agent continue."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.session is None:
            return False
        session = store.session(feature.session)
        if session.state not in (At.READY, At.STUCK) or session.agent == action.agent:
            return False
        store.renew_session(session.id, self._agent_spec(action.agent))
        store.note_feature(feature.id, {keys.TALK: None, keys.CONTEXT: None}, BY)
        tell(
            store,
            feature,
            f"{action.agent} plans the feature from now on, because {session.agent} cannot: {action.why}",
            "warning",
        )
        return True

    def renew(self, action: actions.Renew) -> bool:
        """Begin afresh with the next turn."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.session is None:
            return False
        session = store.session(feature.session)
        if session.state is At.RUNNING or not session.begun:
            return False
        store.renew_session(feature.session)
        store.note_feature(feature.id, {keys.TALK: None, keys.CONTEXT: None}, BY)
        return True

    def tell(self, action: actions.TellShaper) -> bool:
        """Tell it to continue, unless it was told."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.session is None or feature.data.get(keys.TOLD) == action.after:
            return False
        store.say(feature.session, SHAPERS_GO_ON, BY)
        nudged = int(feature.data.get(keys.NUDGED) or 0) + 1
        store.note_feature(feature.id, {keys.TOLD: action.after, keys.NUDGED: nudged}, BY)
        return True

    # --- turns -------------------------------------------------------------------------------------------------------

    def take_turn(self, action: actions.TakeTurn) -> bool:
        """Note it, and do what its words say."""
        if (feature := self._not_seen(action.feature, action.turn)) is None:
            return False
        said = refused = False
        if action.reading is not None and feature.session is not None:
            said, refused = self._do(feature.session, action.reading)
        self._seen(feature.id, action.turn, said, refused)
        self._warn_of_context(feature, action.warn)
        if action.answer:
            answer = " ".join(redacted(action.answer).split())
            tell(self.ports.store, feature, f"the feature's Shaper answered: {shorten(answer, MAX_ANSWER)}", "info")
        return True

    def _warn_of_context(self, feature: Feature, full: float | None) -> None:
        if full is None:
            return
        text = f"the context window of the feature's Shaper is {full:.0%} full"
        if full >= planning.FRESH_SHARE:
            text += "; the next turn starts a new conversation"
        tell(self.ports.store, feature, text, "info")

    def _not_seen(self, id_: str, turn: int) -> Feature | None:
        feature = self.ports.store.feature(id_)
        return None if int(feature.data.get(keys.LAST_TURN) or 0) >= turn else feature

    def _seen(self, id_: str, number: int, said: bool, refused: bool = False) -> None:
        """The turn was handled. A Shaper that asked, was ready or was told something by a person is not stuck.
        `refused`: it is told so, which begins its next turn at once."""
        store = self.ports.store
        feature, turn = store.feature(id_), store.turn(number)
        values: dict[str, Any] = {keys.LAST_TURN: number, keys.CONTEXT: turn.data.get("context")}
        if not turn.resumes and keys.STAGE_KEY in turn.data:
            values[keys.TALK] = {keys.STAGE_KEY: turn.data[keys.STAGE_KEY], keys.ROUND: turn.data.get(keys.ROUND, 0)}
        by_person = any(one.author not in ("", BY) for one in store.turn_messages(number))
        waits = said or bool({"asked", "ready"} & set(turn.data.get("did", ())))
        goes_on = by_person or (waits and not refused)
        values[keys.NUDGED] = (0 if goes_on else int(feature.data.get(keys.NUDGED) or 0)) + refused
        store.note_feature(id_, values, BY)
        store.change_feature(id_, {"turn_at": store.now()}, BY)

    def _do(self, session: int, reading: Reading) -> tuple[bool, bool]:
        """Apply what the words say: (somebody waits for it, something was refused). The Shaper is told the result."""
        store = self.ports.store
        refused: list[str] = []
        if reading.steps:
            refused += self._tried(lambda: self.ports.words().propose_steps(session, reading.steps))
        asked = [one for one in reading.questions if self._ask(session, one)]
        if reading.ready and not asked and not refused:
            refused += self._tried(lambda: self.ports.words().plan_ready(session))
        if refused:
            store.say(session, "What your last message said was refused:\n" + "\n".join(refused), BY)
        return bool(asked or (reading.ready and not refused)), bool(refused)

    def _tried(self, do: Callable[[], object]) -> list[str]:
        try:
            with self.ports.store.write():
                do()
        except NobrakesError as error:
            return [error.whole]
        return []

    def _ask(self, session: int, question: Question) -> bool:
        title = redacted(question.text)
        try:
            options = question.options[:MAX_OPTIONS]
            kind = "radio" if options else "long_text"
            asked = made(
                kind,
                [redacted(one) for one in options],
                question.recommended,
                priority=question.priority,
                context=redacted(question.context),
            )
        except UsageError:  # options that no form can have are told as they are
            text = "\n".join((question.context, *question.options))
            asked = made("long_text", priority=question.priority, context=redacted(text))
        new = NewEscalation(EscalationType.QUESTION, title, session=session, form=as_values(asked))
        self.ports.store.escalate(new, None, None, session_actor(session))
        return True

    def ask_about_silent_turn(self, action: actions.AskAboutSilentTurn) -> bool:
        """Show the words and ask what comes next."""
        if (feature := self._not_seen(action.feature, action.turn)) is None or feature.session is None:
            return False
        words = redacted(action.words).strip() or "(the Shaper wrote nothing)"
        title = f"The Shaper of feature {feature.id} ended turn {self.ports.store.turn(action.turn).number} without a "
        title += "question and without a plan. What should the Shaper do next?"
        asked = as_values(form({"kind": "long_text", "required": False, "context": words[:MAX_WORDS]}))
        new = NewEscalation(EscalationType.QUESTION, title, words, session=feature.session, form=asked)
        self.ports.store.escalate(new, None, None, BY)
        self._seen(feature.id, action.turn, True)
        self._warn_of_context(feature, action.warn)
        return True

    # --- the session as a whole --------------------------------------------------------------------------------------

    def warn(self, action: actions.WarnOfExpiry) -> bool:
        """Tell a person, once for each silence."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.data.get(keys.WARNED) == feature.turn_at:
            return False
        store.note_feature(feature.id, {keys.WARNED: feature.turn_at}, BY)
        hours = max(0.0, action.at - store.now()) / 3600
        tell(
            store,
            feature,
            f"the Shaper's session expires in {hours:.1f} hours unless you answer a question or send a message",
            "warning",
        )
        return True

    def expire(self, action: actions.Expire) -> bool:
        """End the agent's conversation; its questions stay."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.state is not State.ACTIVE or feature.session is None:
            return False
        if store.session(feature.session).state in (At.RUNNING, At.READY):
            return False
        store.move_feature(feature.id, Step.EXPIRED, BY, "no message for too long")
        store.renew_session(feature.session)
        waiting = store.session(feature.session).waiting
        store.note_feature(feature.id, {keys.TALK: None, keys.CONTEXT: None, keys.LEFT: waiting}, BY)
        tell(store, feature, "the Shaper's session has expired; the questions, drafts and answers are saved", "warning")
        return True

    def fail(self, action: actions.Fail) -> bool:
        """A person looks."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.state is not State.ACTIVE:
            return False
        store.move_feature(feature.id, Step.FAILED, BY, action.why)
        session = None if feature.session is None else store.session(feature.session)
        if session is not None and session.state is At.ENDED:
            store.change_feature(feature.id, {"session": None}, BY)  # whoever resumes it begins a new one
        waiting = 0 if session is None else session.waiting
        store.note_feature(feature.id, {keys.LEFT: waiting}, BY)  # only what is said from now on goes on
        failures = 0 if session is None else session.failures
        why = f"the feature's Shaper failed {count(failures, 'time')}" if failures > 1 else action.why
        said = f"{session.detail}\n" if session is not None and session.detail else ""
        show = f", and `nobrakes session show {session.id}` shows the Shaper's messages" if session is not None else ""
        return Answers(self.ports).ask(actions.question(feature, About.FAILING, why=why[:300], said=said, show=show))

    def recover(self, action: actions.Recover) -> bool:
        """It goes on."""
        feature = self.ports.store.feature(action.feature)
        if feature.state is not State.ERROR:
            return False
        self.ports.store.move_feature(feature.id, Step.RESUMED, BY, "the Shaper's session got a message")
        resolve_questions(self.ports.store, feature, "the Shaper's session got a message", BY, (About.FAILING,))
        return True


NO_LOGIN = frozenset({Outcome.AUTH, Outcome.BILLING})
"""A provider's refusals until a person acts: another agent continues meanwhile."""


def board_of(ports: Ports, board: Board, features: Sequence[Feature]) -> ForgeBoard | None:
    """None: no feature is active."""
    store = ports.store
    if not features:
        return None
    open_ = store.escalations()
    asked, by_session = frozenset(one.id for one in open_), Counter(one.session for one in open_)
    standings = tuple(_condition(ports, board, one, asked, by_session) for one in features)
    return ForgeBoard(board.now, ports.config().forge, standings, board.paused or board.stopping)


def _condition(
    ports: Ports, board: Board, feature: Feature, open_: frozenset[int], by_session: Mapping[int | None, int]
) -> Standing:
    """Only what its stage needs: this runs in every turn of the daemon."""
    store, is_planned, in_review = ports.store, feature.stage in PLANNED, feature.stage is Stage.REVIEW
    session = None if feature.session is None else store.session(feature.session)
    reviews = tuple(store.plan_reviews(feature.id))
    inside = [] if is_planned and not feature.replannings else beads_under(store, feature.id)
    beads = {bead.id: bead.status for bead in inside}
    named, free = _named(feature, inside)
    running = _running(store, reviews)
    begins = in_review and not running and planning.goes_on(feature)
    # the reviewers that wait for nothing since a person stopped them: what they did not find says nothing
    idle = [number for number, session in running.items() if session.state is At.IDLE]
    return Standing(
        feature,
        session,
        None if session is None else _last_turn(ports, feature, session),
        0 if session is None else by_session.get(session.id, 0),
        specs(ports, board, ports.config().agents.shaper, session) if is_planned else (),
        _asked(ports, feature),
        reviews,
        running,
        frozenset(number for number in idle if store.turns(number)[-1].outcome not in CLEAN),
        tuple(store.findings(feature.id)) if in_review else (),
        open_,
        tuple(store.plan_versions(feature.id)) if begins else (),
        beads,
        named,
        free,
        () if is_planned else tuple(one for one in store.items(feature.id) if one.state is ItemState.WAITING),
        0.0 if session is None else session.cost_usd,
        sum(store.session(one.session).cost_usd for one in reviews if one.session is not None) if begins else 0.0,
        _rolling(store, feature),
    )


def _rolling(store: "Store", feature: Feature) -> actions.Rolling | None:
    if (asked := feature.data.get(keys.ROLLBACK)) is None:
        return None
    bead = store.bead(str(asked["bead"]))
    apart = any(one.type is EscalationType.CONFLICT for one in store.escalations(bead=bead.id))
    return actions.Rolling(bead.id, bead.status, bead.held, apart and is_built(store.attempts(bead.id)))


def _named(feature: Feature, beads: Sequence[Bead]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(live beads to hold, since a new plan names them; held ones to release)."""
    changing = planning.is_changing(feature)
    live = [bead for bead in beads if bead.status not in (Status.DRAFT, *CLOSED)]
    hold = tuple(one.id for one in live if changing and one.proposed and one.held is None)
    return hold, tuple(one.id for one in live if planning.is_over(feature, one.held, bool(one.proposed)))


def _running(store: "Store", reviews: Sequence[PlanReview]) -> dict[int, Session]:
    running = [one.session for one in reviews if one.state is ReviewState.RUNNING]
    return {number: store.session(number) for number in running if number is not None}


def specs(ports: Ports, board: Board, names: Sequence[str], session: Session | None) -> tuple[actions.AgentSpec, ...]:
    """These agents, and what keeps each from the session's next turn."""
    breakers = {} if session is None else ports.store.breakers(session_owner(session.id))
    found = []
    for name in names:
        try:
            provider = ports.adapter(name).provider
        except NobrakesError as error:
            found.append(actions.AgentSpec(name, "", str(error)))
            continue
        gate, breaker = board.gates.get(provider), breakers.get(provider)
        trouble = ""
        if gate is not None and gate.is_closed(board.now) and gate.reason in NO_LOGIN:
            trouble = f"{provider} refuses work: {gate.reason.value}"
        elif breaker is not None and breaker.state is Trip.OPEN:
            trouble = f"turns at {provider} failed too often"
        found.append(actions.AgentSpec(name, provider, trouble))
    return tuple(found)


def _last_turn(ports: Ports, feature: Feature, session: Session) -> actions.LastTurn | None:
    seen = int(feature.data.get(keys.LAST_TURN) or 0)
    turn = next((one for one in ports.store.turns(session.id) if one.id > seen and one.outcome is not None), None)
    if turn is None or turn.outcome is None:
        return None
    messages = [one for one in ports.store.messages(session.id) if one.turn == turn.id]
    said = [one.text for one in messages if not one.author]
    words, did = clean("\n".join(said)), frozenset(str(one) for one in turn.data.get("did", ()))
    context = turn.data.get("context")
    return actions.LastTurn(
        turn.id,
        turn.number,
        turn.outcome,
        did,
        words,
        None if did or turn.outcome not in CLEAN else markers.read(words),
        None if context is None else float(context),
        any(one.author not in ("", BY) and one.answers is None for one in messages),
    )


def _asked(ports: Ports, feature: Feature) -> dict[About, actions.Asked]:
    """nobrakes' questions about the feature; without an answer, the decision is the answer."""
    found = {}
    for about, number in feature.data.get(keys.ASKED, {}).items():
        one = ports.store.escalation(int(number))
        answer = one.answer if one.answer is not None else one.resolution
        found[About(about)] = actions.Asked(one.id, None if one.resolved_at is None else answer)
    return found


# What nobrakes asks a person about a feature. What was decided without an answer counts as the last option: it starts
# nothing and costs nothing.
class Answers:
    """Does what features.actions asks."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.by_about: dict[About, Callable[[Feature, str], None]] = {
            About.EXPIRED: self._expired,
            About.BUDGET: self._budget,
            About.FAILING: lambda feature, chosen: None,  # without a choice it stays as it is
            About.IDLE: self._idle,
            About.DEGRADED: self._degraded,
            About.REVIEW_BUDGET: self._review_budget,
        }

    def ask(self, action: actions.Ask) -> bool:
        """Ask it, unless it is asked."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        asked: Mapping[str, int] = feature.data.get(keys.ASKED, {})
        if action.about.value in asked:
            return False
        evidence = {"feature": feature.id, "about": action.about.value}
        new = NewEscalation(EscalationType.QUESTION, action.title, action.detail, evidence, form=action.form)
        number = store.escalate(new, None, None, BY).id
        values: dict[str, Any] = {keys.ASKED: {**asked, action.about.value: number}}
        if action.holds:
            values[keys.HELD] = action.about.value
        self.ports.store.note_feature(feature.id, values, BY)
        return True

    def answered(self, action: actions.Answered) -> bool:
        """Forget the question and act on the choice."""
        feature = self.ports.store.feature(action.feature)
        asked: dict[str, int] = dict(feature.data.get(keys.ASKED, {}))
        if (number := asked.pop(action.about.value, None)) is None:
            return False
        # nobody takes the answer back any more: it would be asked again, and nobody would hear what is said then
        if (answer := self.ports.store.escalation(number).answer) is not None:
            self.ports.store.act_by({number: answer}, BY, None)
        held = feature.data.get(keys.HELD)
        still = None if held == action.about.value else held
        self.ports.store.note_feature(feature.id, {keys.ASKED: asked or None, keys.HELD: still}, BY)
        if action.chosen.partition(":")[0] in WAYS:  # done with the answer (decisions.service.desk)
            return True
        try:
            with self.ports.store.write():
                self.by_about[action.about](self.ports.store.feature(feature.id), action.chosen)
        except NobrakesError as error:
            tell(self.ports.store, feature, f"nobrakes cannot act on your answer now: {error.whole}", "warning")
        return True

    def _expired(self, feature: Feature, chosen: str) -> None:
        if dropped := self.ports.words().go_on(feature.id, chosen, BY):
            text = f"{count(dropped, 'draft was', 'drafts were')} cancelled, and planning starts again"
            tell(self.ports.store, feature, text, "info")

    def _budget(self, feature: Feature, chosen: str) -> None:
        if chosen != actions.CONTINUE:
            self._pause(feature, "the feature's planning budget is spent")
            return
        spent = self.ports.store.session(feature.session).cost_usd if feature.session is not None else 0.0
        self.ports.store.note_feature(feature.id, {keys.ALLOWED: spent + self.ports.config().forge.shaper_usd}, BY)

    def _idle(self, feature: Feature, chosen: str) -> None:
        self.ports.store.note_feature(feature.id, {keys.NUDGED: 0}, BY)
        if chosen == actions.IS_COMPLETE and feature.session is not None:
            self.ports.words().plan_ready(feature.session)
        elif chosen != actions.GO_ON:
            self._pause(feature, "the feature's Shaper neither asked a question nor completed the plan")

    def _degraded(self, feature: Feature, chosen: str) -> None:
        go_on = chosen == planning.CONTINUE
        values: dict[str, Any] = {keys.FORGIVEN: feature.round} if go_on else {keys.ENOUGH: True}
        self.ports.store.note_feature(feature.id, values, BY)

    def _review_budget(self, feature: Feature, chosen: str) -> None:
        if chosen != planning.CONTINUE:
            self.ports.store.note_feature(feature.id, {keys.ENOUGH: True}, BY)
            return
        store = self.ports.store
        sessions = [one.session for one in store.plan_reviews(feature.id) if one.session is not None]
        spent = sum(store.session(one).cost_usd for one in sessions)
        self.ports.store.note_feature(feature.id, {keys.REVIEWS_USD: spent + self.ports.config().forge.review_usd}, BY)

    def _pause(self, feature: Feature, why: str) -> None:
        if feature.state is State.ACTIVE:
            self.ports.store.move_feature(feature.id, Step.PAUSED, BY, why)
