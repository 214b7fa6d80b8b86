"""Signing a plan off: a person's yes to the reviews, which commit-strategy asks for before a feature's plan goes live.

1. What a person takes upon themselves is said with it and kept: too few rounds (`take_risk`), findings that nobody
   decided (a reason; they count as accepted risks from then on, and their questions are over).
2. A yes is to one version of the plan as it lies now. A plan that was changed since needs another.
3. Signing off makes nothing live, and no agent can do it.
"""

from dataclasses import asdict
from typing import Any

from ...core.beads.events import Event, Kind
from ...core.errors import NotAllowed
from ...core.forge import data_keys as keys
from ...core.forge import reviewing, rounds
from ...core.forge.feature import Feature, FindingState, Stage, require
from ...core.forge.rounds import SignOff, Tracker
from ...core.forge.rules import Rules
from ...ports.store import Store
from ..signed import is_as_kept


def tracker(store: Store, feature: Feature, rules: Rules) -> Tracker:
    """The rounds of the feature's reviews that count."""
    return reviewing.tracker(rules, feature, store.plan_reviews(feature.id), store.findings(feature.id))


def sign_off(store: Store, rules: Rules, id_: str, actor: str, *, take_risk: bool = False, reason: str = "") -> SignOff:
    """Sign the plan off. NoSuchFeature; NotAllowed: there is nothing to sign, or what has to be said is missing."""
    with store.together():
        feature = store.feature(id_)
        require(feature, Stage.REVIEW, "there is no plan under review to sign off")
        kept = rounds.sign_off(tracker(store, feature, rules), feature.plan, actor, store.now(), take_risk, reason)
        if not is_as_kept(store, feature):
            raise NotAllowed(
                f"the plan of feature {id_} was changed since version {feature.plan}, and is not whole yet",
                "Its Shaper says when it is ready again.",
            )
        for finding in store.findings(id_):
            if finding.state is FindingState.OPEN:
                store.settle_finding(finding.id, FindingState.RISK_ACCEPTED, kept.reason, actor)
        store.close_finding_questions(id_, f"accepted with the plan: {kept.reason}")
        store.note_feature(id_, {keys.REVISING: None, keys.SIGNED: asdict(kept)}, actor)
        told: dict[str, Any] = {"version": kept.version, "reviews": kept.reviews, "most": kept.most, "risk": kept.risk}
        told |= {"reason": kept.reason, "open": kept.open, "degraded": list(kept.degraded)}
        store.record(Event(Kind.SIGNED_OFF, id_, actor=actor, data=told))
    return kept
