"""The reviews of a feature's plan as people see them: n of ten, findings of each round, what they cost and may cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...core.forge import data_keys as keys
from ...core.forge import reviewing, rounds
from ...core.forge.feature import Finding, PlanReview, ReviewState
from ...core.forge.rounds import Estimate, Iteration
from ...core.forge.rules import Rules
from ...ports.store import Store


@dataclass(frozen=True, slots=True)
class ReviewsView:
    """`done` of `most` rounds somebody looked in; `clean` in a row found nothing. `next`: who looks in the next round.

    `warning`: what a person takes upon themselves by signing off now; empty: nothing. `signed`: the yes that was given
    to the version of the plan, as it is kept; None: none.
    """

    feature: str
    version: int
    done: int
    most: int
    clean: int
    open: int
    iterations: tuple[Iteration, ...]
    running: tuple[PlanReview, ...]
    findings: tuple[Finding, ...]
    next: tuple[str, ...]
    estimate: Estimate
    warning: str
    signed: Mapping[str, object] | None


def reviews(store: Store, rules: Rules, id_: str) -> ReviewsView:
    """What is known of the feature's reviews. NoSuchFeature."""
    feature = store.feature(id_)
    looked, findings, plans = store.plan_reviews(id_), store.findings(id_), store.plan_versions(id_)
    seen = reviewing.tracker(rules, feature, looked, findings)
    costs = {one.session: store.session(one.session).cost_usd for one in looked if one.session is not None}
    through = [costs[one.session] for one in looked if one.state is ReviewState.DONE and one.session in costs]
    counted = [one for one in looked if one.round > reviewing.since(feature)]
    domains = rounds.looks(rules, plans, counted, feature.files) if plans else ()
    cap = reviewing.cap(rules, feature)
    cost = rounds.estimate(rules, len(domains), len(seen.iterations), through, sum(costs.values()), cap)
    return ReviewsView(
        id_,
        feature.plan,
        seen.done,
        seen.most,
        seen.clean,
        seen.open,
        seen.iterations,
        tuple(one for one in looked if one.state is ReviewState.RUNNING),
        tuple(findings),
        domains,
        cost,
        rounds.warning(seen),
        feature.data.get(keys.SIGNED),
    )
