"""Reviews of plans, done: rounds begun, reviewers ended, findings asked, rounds closed. Each is one transaction.

1. What was decided on an older board does nothing: each looks again at what it was decided by.
2. A finding becomes a question in the name of the Shaper's session, so that its answer reaches the Shaper, once.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ...core.beads.escalations import EscalationType
from ...core.beads.events import Event, Kind
from ...core.beads.forms import LABEL, MOST_OPTIONS, as_values, form, parted
from ...core.forge import data_keys as keys
from ...core.forge import reviewing, rounds
from ...core.forge.actions import AskFindings, AskSignOff, BeginRound, CloseRound, EndReview
from ...core.forge.feature import Feature, Finding, FindingState, Stage, State
from ...core.owners import of_bead
from ...core.sessions.session import SessionKind
from ...core.sessions.session import State as Of
from ...ports.store import NewEscalation
from ...roles.plan_review import review_text
from ..ports import Ports
from .telling import BY


class PlanReviews:
    """The hands of core.forge.reviewing."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.methods: dict[type, Callable[[Any], bool]] = {
            BeginRound: self.begin_round,
            EndReview: self.end_review,
            AskFindings: self.ask_findings,
            CloseRound: self.close_round,
            AskSignOff: self.ask_sign_off,
        }

    def begin_round(self, action: BeginRound) -> bool:
        """Begin a session for each domain's reviewer."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        goes_on = feature.stage is Stage.REVIEW and feature.state is State.ACTIVE
        if not goes_on or feature.round + 1 != action.round or feature.data.get(keys.REVISING):
            return False
        store.change_feature(feature.id, {"round": action.round}, BY)
        plan = store.plan_versions(feature.id)[-1]
        earlier = store.findings(feature.id)
        for domain in action.domains:
            text = review_text(feature, plan, domain, action.round, earlier)
            title = f"Review of {feature.title}: {domain}, round {action.round}"[:100]
            told = {"feature": feature.id, "domain": domain, "round": action.round}
            seat = self._seat(action.agents[domain])
            session = store.begin_session(SessionKind.REVIEW, of_bead(feature.id), title, seat, text, BY, told)
            store.begin_review(feature.id, action.round, domain, session.id)
        return True

    def _seat(self, agent: str) -> tuple[str, str, str]:
        model = self.ports.config().agents.model_of(agent, "reviewer")
        return agent, self.ports.adapter(agent).provider, model

    def end_review(self, action: EndReview) -> bool:
        """Note how it ended; its session is over."""
        store = self.ports.store
        if not store.end_review(action.feature, action.round, action.domain, action.state, action.detail):
            return False
        found = store.plan_reviews(action.feature, action.round)
        session = next(one.session for one in found if one.domain == action.domain)
        if session is not None and store.session(session).state is not Of.ENDED:
            store.end_session(session, BY)
        store.change_feature(action.feature, {"turn_at": store.now()}, BY)  # a turn of it has ended
        return True

    def ask_findings(self, action: AskFindings) -> bool:
        """Ask them all; what was accepted before, or is asked already, is asked no second time."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        of_all = store.findings(feature.id)
        by_number = {one.id: one for one in of_all}
        open_ = frozenset(one.id for one in store.escalations())
        wanted = [by_number[n] for n in action.findings if n in reviewing.to_ask(of_all, open_)]
        asked: list[Finding] = []
        for finding in wanted:
            before = rounds.decided_before(finding, of_all)
            if before is not None:
                store.settle_finding(finding.id, FindingState.RISK_ACCEPTED, before.answer, BY)
                continue
            twin = next((one for one in asked if rounds.same(one, finding)), None)
            if twin is not None:
                store.ask_of_finding(finding.id, _question_of(store.findings(feature.id), twin.id))
                continue
            filed = store.escalate(_question(feature, finding), None, None, BY)
            store.ask_of_finding(finding.id, filed.id)
            asked.append(finding)
        if asked:
            store.note_feature(feature.id, {keys.REVISING: True}, BY)
        return bool(wanted)

    def close_round(self, action: CloseRound) -> bool:
        """Note that it is over."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.data.get(keys.CLOSED_ROUND, 0) >= action.round:
            return False
        seen = reviewing.tracker(
            self.ports.config().forge.rules(),
            feature,
            store.plan_reviews(feature.id),
            store.findings(feature.id),
        )
        last = next(one for one in seen.iterations if one.number == action.round)
        store.change_feature(feature.id, {"clean": seen.clean}, BY)
        store.note_feature(feature.id, {keys.CLOSED_ROUND: action.round}, BY)
        told: dict[str, Any] = {"round": action.round, "version": last.plan, "end": last.end.value}
        told |= {"findings": last.found}
        told |= {"failed": list(last.failed), "done": seen.done, "most": seen.most, "accepted": last.accepted}
        store.record(Event(Kind.PLAN_ROUND_ENDED, feature.id, actor=BY, data=told))
        return True

    def ask_sign_off(self, action: AskSignOff) -> bool:
        """Tell a person that they may sign off."""
        store, feature = self.ports.store, self.ports.store.feature(action.feature)
        if feature.data.get(keys.SIGN_OFF_ASKED) == action.version:
            return False
        rules = self.ports.config().forge.rules()
        seen = reviewing.tracker(rules, feature, store.plan_reviews(feature.id), store.findings(feature.id))
        store.note_feature(feature.id, {keys.SIGN_OFF_ASKED: action.version}, BY)
        told = {"reviews": seen.done, "most": seen.most, "version": action.version}
        store.record(Event(Kind.SIGN_OFF_ASKED, feature.id, actor=BY, data=told))
        return True


def _question_of(findings: list[Finding], number: int) -> int:
    found = next(one.escalation for one in findings if one.id == number)
    assert found is not None, "it was asked just now"
    return found


def _question(feature: Feature, finding: Finding) -> NewEscalation:
    """The finding as a question: its options, and last that the risk is accepted with a reason."""
    own = _options(finding.options) or [{"label": "have the plan changed", "means": "the Shaper finds how"}]
    risk = {"label": rounds.ACCEPT_RISK, "means": "the plan stays as it is; the reason is kept", "why": True}
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
        f"A review of the plan of feature {feature.id} ({feature.title}) found this.",
        {**evidence, "category": finding.category},
        session=feature.session,
        form=as_values(asked),
    )


def _options(given: Iterable[str]) -> list[dict[str, str]]:
    """A reviewer's options as a form takes them: labels short, none twice, the risk not among them."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        one = parted(" ".join(text.split()))
        label = one["label"] or "as described"
        if len(label) > LABEL:
            one = {**one, "label": label[: LABEL - 2].rstrip() + " …", "means": text}
        if label.casefold() != rounds.ACCEPT_RISK:
            found.setdefault(one["label"].casefold() or label, {**one, "label": one["label"] or label})
    return list(found.values())[: MOST_OPTIONS - 1]
