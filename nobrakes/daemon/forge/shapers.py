"""Shapers of features, done: begun, told, dealt with, renewed, given up. Each is one transaction.

1. What was decided on an older board does nothing: each looks again at what it was decided by.
2. What a Shaper's words say is filed by the operations that agents with tools call; what is refused there is said to
   the Shaper, and changes nothing.
"""

from collections.abc import Callable
from typing import Any

from ...core.beads.escalations import EscalationType
from ...core.beads.forms import MOST_OPTIONS, as_values, form, made
from ...core.errors import NobrakesError, UsageError
from ...core.forge import data_keys as keys
from ...core.forge import planning
from ...core.forge.actions import (
    AskAboutSilentTurn,
    BeginShaper,
    Expire,
    Fail,
    Recover,
    Renew,
    SwitchShaper,
    TakeTurn,
    TellShaper,
    WarnOfExpiry,
)
from ...core.forge.feature import Feature, State, Step
from ...core.forge.markers import Question, Reading
from ...core.owners import of_bead
from ...core.sessions.session import SessionKind
from ...core.sessions.session import State as At
from ...core.text.cleaning import redacted, shorten
from ...ports.store import NewEscalation
from ..ports import Ports
from .telling import BY, tell

BEGIN = "Begin. What you are given above is all there is so far."
GO_ON = (
    "Your turn ended, and nobody waits for anything: no question of yours is open, and you did not say that the plan "
    "is whole. Go on: ask what only a person can decide, propose what is missing, or say that the plan is whole."
)
MOST_WORDS, MOST_ANSWER = 3500, 400
"""Characters of a silent turn's words that are shown with the question, and of an answer to a person that are told."""


class Shapers:
    """The hands of core.forge.planning, as far as the Shaper's session goes."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.methods: dict[type, Callable[[Any], bool]] = {
            BeginShaper: self.begin,
            SwitchShaper: self.switch,
            Renew: self.renew,
            TellShaper: self.tell,
            TakeTurn: self.take_turn,
            AskAboutSilentTurn: self.ask_about_silent_turn,
            WarnOfExpiry: self.warn,
            Expire: self.expire,
            Fail: self.fail,
            Recover: self.recover,
        }

    def begin(self, action: BeginShaper) -> bool:
        """Begin the session."""
        feature = self.ports.store.feature(action.feature)
        if feature.session is not None or feature.state is not State.ACTIVE:
            return False
        self._begin(feature, action.agent, BEGIN)
        return True

    def begin_with(self, id_: str, text: str) -> None:
        """Begin the session with these words, with the first of the agents that may be Shaper."""
        self._begin(self.ports.store.feature(id_), self.ports.config().agents.shaper[0], text)

    def _begin(self, feature: Feature, agent: str, text: str) -> None:
        store, seat = self.ports.store, self._seat(agent)
        told, title = {"feature": feature.id}, feature.title[:100]
        session = store.begin_session(SessionKind.PLANNING, of_bead(feature.id), title, seat, text, BY, told)
        store.change_feature(feature.id, {"session": session.id, "turn_at": store.now()}, BY)

    def _seat(self, agent: str) -> tuple[str, str, str]:
        model = self.ports.config().agents.model_of(agent, "shaper")
        return agent, self.ports.adapter(agent).provider, model

    def switch(self, action: SwitchShaper) -> bool:
        """Let another agent go on."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.session is None:
            return False
        session = store.session(feature.session)
        if session.state not in (At.READY, At.STUCK) or session.agent == action.agent:
            return False
        store.renew_session(session.id, self._seat(action.agent))
        store.note_feature(feature.id, {keys.TALK: None, keys.CONTEXT: None}, BY)
        tell(
            store,
            feature,
            f"{action.agent} plans it from now on, since {session.agent} cannot: {action.why}",
            "warning",
        )
        return True

    def renew(self, action: Renew) -> bool:
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

    def tell(self, action: TellShaper) -> bool:
        """Tell it to go on, unless it was told."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.session is None or feature.data.get(keys.TOLD) == action.after:
            return False
        store.say(feature.session, GO_ON, BY)
        nudged = int(feature.data.get(keys.NUDGED) or 0) + 1
        store.note_feature(feature.id, {keys.TOLD: action.after, keys.NUDGED: nudged}, BY)
        return True

    # --- turns -------------------------------------------------------------------------------------------------------

    def take_turn(self, action: TakeTurn) -> bool:
        """Note it, and do what its words say."""
        feature = self._not_seen(action.feature, action.turn)
        if feature is None:
            return False
        said = refused = False
        if action.reading is not None and feature.session is not None:
            said, refused = self._do(feature.session, action.reading)
        self._seen(feature.id, action.turn, said, refused)
        self._warn_of_context(feature, action.warn)
        if action.answer:
            answer = " ".join(redacted(action.answer).split())
            tell(self.ports.store, feature, f"its Shaper answered: {shorten(answer, MOST_ANSWER)}", "info")
        return True

    def _warn_of_context(self, feature: Feature, full: float | None) -> None:
        if full is None:
            return
        text = f"the conversation with its agent is {full:.0%} full"
        if full >= planning.FRESH_SHARE:
            text += "; its next turn begins afresh"
        tell(self.ports.store, feature, text, "info")

    def _not_seen(self, id_: str, turn: int) -> Feature | None:
        feature = self.ports.store.feature(id_)
        return None if int(feature.data.get(keys.SEEN) or 0) >= turn else feature

    def _seen(self, id_: str, number: int, said: bool, refused: bool = False) -> None:
        """The turn was dealt with. Who asked, was ready or was told something by a person does not go in circles.

        `refused`: it is told so, which begins its next turn at once, whatever it asked beside that.
        """
        store = self.ports.store
        feature, turn = store.feature(id_), store.turn(number)
        values: dict[str, Any] = {keys.SEEN: number, keys.CONTEXT: turn.data.get("context")}
        if not turn.resumes and keys.STAGE in turn.data:
            values[keys.TALK] = {keys.STAGE: turn.data[keys.STAGE], keys.ROUND: turn.data.get(keys.ROUND, 0)}
        by_person = any(one.author not in ("", BY) for one in store.told(number))
        waits = said or bool({"asked", "ready"} & set(turn.data.get("did", ())))
        goes_on = by_person or (waits and not refused)
        values[keys.NUDGED] = (0 if goes_on else int(feature.data.get(keys.NUDGED) or 0)) + refused
        store.note_feature(id_, values, BY)
        store.change_feature(id_, {"turn_at": store.now()}, BY)

    def _do(self, session: int, reading: Reading) -> tuple[bool, bool]:
        """File what the words say; (somebody waits for it, something was refused). The Shaper is told what was."""
        store = self.ports.store
        refused: list[str] = []
        if reading.steps:
            refused += self._tried(lambda: self.ports.words.propose_steps(session, reading.steps))
        asked = [one for one in reading.questions if self._ask(session, one)]
        if reading.ready and not asked and not refused:
            refused += self._tried(lambda: self.ports.words.plan_ready(session))
        if refused:
            store.say(session, "What your last message said was refused:\n" + "\n".join(refused), BY)
        return bool(asked or (reading.ready and not refused)), bool(refused)

    def _tried(self, do: Callable[[], object]) -> list[str]:
        try:
            with self.ports.store.together():
                do()
        except NobrakesError as error:
            return [f"{error} {error.hint}".strip()]
        return []

    def _ask(self, session: int, question: Question) -> bool:
        title = redacted(question.text)
        try:
            options = question.options[:MOST_OPTIONS]
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
        self.ports.store.escalate(new, None, None, f"Session {session}")
        return True

    def ask_about_silent_turn(self, action: AskAboutSilentTurn) -> bool:
        """Show the words, and ask what comes next."""
        feature = self._not_seen(action.feature, action.turn)
        if feature is None or feature.session is None:
            return False
        words = redacted(action.words).strip() or "(it said nothing)"
        title = f"The Shaper of feature {feature.id} ended turn {self.ports.store.turn(action.turn).number} without a "
        title += "question and without a plan: what should it do next?"
        values = {"kind": "long_text", "required": False, "context": words[:MOST_WORDS]}
        asked = as_values(form(values))
        new = NewEscalation(EscalationType.QUESTION, title, words, session=feature.session, form=asked)
        self.ports.store.escalate(new, None, None, BY)
        self._seen(feature.id, action.turn, True)
        self._warn_of_context(feature, action.warn)
        return True

    # --- the session as a whole --------------------------------------------------------------------------------------

    def warn(self, action: WarnOfExpiry) -> bool:
        """Tell a person, once for each silence."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.data.get(keys.WARNED) == feature.turn_at:
            return False
        store.note_feature(feature.id, {keys.WARNED: feature.turn_at}, BY)
        hours = max(0.0, action.at - store.now()) / 3600
        tell(
            store,
            feature,
            f"its session expires in {hours:.1f} hours unless somebody answers or says something",
            "warning",
        )
        return True

    def expire(self, action: Expire) -> bool:
        """Give the agent's conversation up; what was asked stays."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.state is not State.ACTIVE or feature.session is None:
            return False
        if store.session(feature.session).state in (At.RUNNING, At.READY):
            return False
        store.move_feature(feature.id, Step.EXPIRED, BY, "nobody said a word for too long")
        store.renew_session(feature.session)
        waiting = store.session(feature.session).waiting
        store.note_feature(feature.id, {keys.TALK: None, keys.CONTEXT: None, keys.LEFT: waiting}, BY)
        tell(store, feature, "its session has expired; its questions, drafts and answers are kept", "warning")
        return True

    def fail(self, action: Fail) -> bool:
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
        tell(store, feature, f"it does not go on: {action.why[:300]}", "urgent")
        return True

    def recover(self, action: Recover) -> bool:
        """It goes on."""
        feature = self.ports.store.feature(action.feature)
        if feature.state is not State.ERROR:
            return False
        self.ports.store.move_feature(feature.id, Step.RESUMED, BY, "somebody said something to its session")
        return True
