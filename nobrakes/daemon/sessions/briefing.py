"""What a session's turn is told, and how long it may take: by whom it serves.

1. A session that plans a feature has the persona of its stage and the feature's context, one that reviews a plan or
   reads work the reviewer's, any other the Shaper's.
2. What the turn notes of itself (`notes`) says where its feature was when it began: a conversation is renewed by it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.beads.approval import is_approval
from ...core.beads.bead import Role
from ...core.forge.data_keys import ROUND, STAGE
from ...core.forge.feature import Feature
from ...core.review import reading
from ...core.sessions.relay import PLAN_OF, is_relay, only_plans
from ...core.sessions.session import Message, SessionKind, Talk
from ...core.text.cleaning import only_seen
from ...roles import code_review, shaper_briefing, sprint_briefing, talking
from ...roles.prompts import role_text
from ...roles.talking import turn_prompt
from ..ports import Ports

CUT_OFF = "cut_off"
"""In a session's data: how a turn ended that its agent had begun and could not finish."""


@dataclass(frozen=True, slots=True)
class TurnBrief:
    """`system` on top of the agent's own instructions, then `prompt`; `minutes` None: as long as any agent may take;
    `most_usd` None: it costs what an attempt may cost.
    """

    system: str
    prompt: str
    minutes: float | None = None
    most_usd: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    def usd(self, cap: float | None) -> float | None:
        """What the turn may cost where an attempt may cost `cap`."""
        return min((one for one in (self.most_usd, cap) if one is not None), default=None)


def brief(ports: Ports, talk: Talk) -> TurnBrief:
    """The briefing of an open turn; ConfigError for a bad file of a persona, or of a person's own instructions."""
    if talk.session.kind is SessionKind.REVIEW:
        return _reviewer(ports, talk)
    if talk.session.kind is SessionKind.CODE_REVIEW:
        return _code_reviewer(ports, talk)
    found = ports.store.feature_of_session(talk.session.id)
    if found is not None and not found[1]:
        return _shaper(ports, talk, found[0])
    store, turn = ports.store, talk.turn
    told = store.told(turn.id)
    given = {one.id for one in told}
    earlier = [one for one in store.messages(talk.session.id) if one.id not in given and one.turn is not None]
    own = is_relay(talk.session)
    protocol = talking.PLANNING if only_plans(talk.session) else talking.WORKING if own else talking.PROTOCOL
    is_new = not turn.resumes or any(_approves(ports, one) for one in told)
    prompt = turn_prompt(
        told, earlier, _cut_off(talk), _nonce(talk), resumes=turn.resumes, protocol=protocol if is_new else ""
    )
    role = "relay" if own else Role.SHAPER.value
    if sprint_briefing.SPRINT in talk.session.data:
        role = sprint_briefing.PLANNER
    return TurnBrief(only_seen(role_text(role, ports.paths.folder)), prompt)


def _approves(ports: Ports, message: Message) -> bool:
    """Whether the message is a person's yes to the session's plan: from now on it works."""
    asked = ports.store.escalation(message.answers) if message.answers else None
    return asked is not None and PLAN_OF in asked.evidence and is_approval(asked.resolution)


def _nonce(talk: Talk) -> str:
    return hashlib.sha256(talk.turn.token.encode()).hexdigest()[:12]


def _cut_off(talk: Talk) -> str:
    return str(talk.session.data.get(CUT_OFF, ""))


def _reviewer(ports: Ports, talk: Talk) -> TurnBrief:
    told = ports.store.told(talk.turn.id)
    prompt = shaper_briefing.reviewer_prompt(told, _cut_off(talk), resumes=talk.turn.resumes)
    text = role_text(shaper_briefing.PLAN_REVIEWER, ports.paths.folder)
    return TurnBrief(only_seen(text), prompt, ports.config().forge.review_minutes)


def _code_reviewer(ports: Ports, talk: Talk) -> TurnBrief:
    session, rules = talk.session, ports.config().review.reading_rules()
    prompt = code_review.prompt(ports.store.told(talk.turn.id), _cut_off(talk), resumes=talk.turn.resumes)
    text = role_text(code_review.ROLE, ports.paths.folder)
    known = reading.of_sessions(ports.store.code_reviews(str(session.data[reading.BEAD])))
    since = session.data.get(reading.SINCE)
    spent = reading.cost([one for one in known if one.session.data.get(reading.SINCE) == since])
    return TurnBrief(only_seen(text), prompt, rules.minutes, max(0.01, rules.usd - spent))


def _shaper(ports: Ports, talk: Talk, feature: Feature) -> TurnBrief:
    settings, told = ports.config().forge, ports.store.told(talk.turn.id)
    given = shaper_briefing.Given(told, _cut_off(talk), _nonce(talk), talk.turn.resumes)
    prompt = shaper_briefing.shaper_turn(ports.store, ports.git, settings, feature, given)
    notes = {STAGE: feature.stage.value, ROUND: feature.round}
    persona = shaper_briefing.persona_of(feature, ports.paths.folder)
    return TurnBrief(persona, prompt, settings.turn_minutes, notes=notes)
