"""What nobrakes asks a person about a feature, and what is done by each answer. Each is one transaction.

What was decided without an answer counts as the last option: it starts nothing and costs nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ...core.beads.escalations import EscalationType
from ...core.errors import NobrakesError
from ...core.forge import data_keys as keys
from ...core.forge import reviewing
from ...core.forge.actions import About, Answered, Ask
from ...core.forge.asking import CONTINUE, GO_ON, IS_WHOLE
from ...core.forge.feature import Feature, State, Step
from ...ports.store import NewEscalation
from ..ports import Ports
from .telling import BY, tell


class Answers:
    """The hands of core.forge.asking."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.by_about: dict[About, Callable[[Feature, str], None]] = {
            About.EXPIRED: self._expired,
            About.BUDGET: self._budget,
            About.IDLE: self._idle,
            About.DEGRADED: self._degraded,
            About.REVIEW_BUDGET: self._review_budget,
        }

    def ask(self, action: Ask) -> bool:
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

    def answered(self, action: Answered) -> bool:
        """Forget the question, and do what was chosen."""
        feature = self.ports.store.feature(action.feature)
        asked: dict[str, int] = dict(feature.data.get(keys.ASKED, {}))
        number = asked.pop(action.about.value, None)
        if number is None:
            return False
        self._is_acted_by(number)
        held = feature.data.get(keys.HELD)
        still = None if held == action.about.value else held
        self.ports.store.note_feature(feature.id, {keys.ASKED: asked or None, keys.HELD: still}, BY)
        try:
            with self.ports.store.together():
                self.by_about[action.about](self.ports.store.feature(feature.id), action.chosen)
        except NobrakesError as error:
            tell(self.ports.store, feature, f"what was chosen cannot be done now: {error} {error.hint}", "warning")
        return True

    def _is_acted_by(self, number: int) -> None:
        """Nobody takes the answer back any more: it would be asked again, and nobody would hear what is said then."""
        answer = self.ports.store.escalation(number).answer
        if answer is not None:
            self.ports.store.act_by({number: answer}, BY, None)

    def _expired(self, feature: Feature, chosen: str) -> None:
        count = self.ports.words.go_on(feature.id, chosen, BY)
        if count:
            tell(self.ports.store, feature, f"{count} drafts were cancelled, and planning begins from the base", "info")

    def _budget(self, feature: Feature, chosen: str) -> None:
        if chosen != CONTINUE:
            self._pause(feature, "its budget is spent")
            return
        spent = self.ports.store.session(feature.session).cost_usd if feature.session is not None else 0.0
        more = self.ports.config().forge.shaper_usd
        self.ports.store.note_feature(feature.id, {keys.ALLOWED: spent + more}, BY)

    def _idle(self, feature: Feature, chosen: str) -> None:
        self.ports.store.note_feature(feature.id, {keys.NUDGED: 0}, BY)
        if chosen == IS_WHOLE and feature.session is not None:
            self.ports.words.plan_ready(feature.session)
        elif chosen != GO_ON:
            self._pause(feature, "its Shaper neither asked nor was ready")

    def _degraded(self, feature: Feature, chosen: str) -> None:
        go_on = chosen == reviewing.CONTINUE
        values: dict[str, Any] = {keys.FORGIVEN: feature.round} if go_on else {keys.ENOUGH: True}
        self.ports.store.note_feature(feature.id, values, BY)

    def _review_budget(self, feature: Feature, chosen: str) -> None:
        if chosen != reviewing.CONTINUE:
            self.ports.store.note_feature(feature.id, {keys.ENOUGH: True}, BY)
            return
        store = self.ports.store
        sessions = [one.session for one in store.plan_reviews(feature.id) if one.session is not None]
        spent = sum(store.session(one).cost_usd for one in sessions)
        self.ports.store.note_feature(feature.id, {keys.REVIEWS_USD: spent + self.ports.config().forge.review_usd}, BY)

    def _pause(self, feature: Feature, why: str) -> None:
        if feature.state is State.ACTIVE:
            self.ports.store.move_feature(feature.id, Step.PAUSED, BY, why)
